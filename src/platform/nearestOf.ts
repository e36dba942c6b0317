// Suggests the name that a misspelt setting or command most likely means.
import { distance } from "fastest-levenshtein"

/** A word with more mistakes than this is assumed to mean something else. */
const maxMistakes = 2

/** The name that a misspelt word most likely means. */
export const nearestOf = (word: string, names: ReadonlyArray<string>): string | undefined => {
  const [nearest] = names
    .filter((name) => Math.abs(name.length - word.length) <= maxMistakes)
    .map((name) => ({ name, mistakes: distance(word, name) }))
    .filter(({ mistakes }) => mistakes <= maxMistakes)
    .toSorted((left, right) => left.mistakes - right.mistakes)
  return nearest?.name
}
