// Variables that are no setting but nearly one: a name that is misspelt is read by nobody.
import { distance } from "fastest-levenshtein"

/** Shorter names are near many that mean something else. */
const leastLength = 6
const mostMistakes = 2

/** A sentence for each of them. */
export const misspeltVariables = (
  env: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>
): ReadonlyArray<string> => {
  const names = [...known].flatMap((name) => [name, `${name}_FILE`])
  return Object.keys(env).flatMap((name) => {
    if (names.includes(name) || name.length < leastLength) return []
    const [nearest] = names
      .filter((one) => one.length >= leastLength && Math.abs(one.length - name.length) <= mostMistakes)
      .map((one) => ({ one, mistakes: distance(name, one) }))
      .filter(({ mistakes }) => mistakes <= mostMistakes)
      .toSorted((left, right) => left.mistakes - right.mistakes)
    return nearest === undefined
      ? []
      : [`${name} is no setting, and nothing reads it. Is ${nearest.one} meant?`]
  })
}
