// Variables that are no setting but nearly one: a name that is misspelt is read by nobody.
import { distance } from "fastest-levenshtein"
import { secretVariables } from "./withSecretFiles.ts"

/** Shorter names are near many that mean something else. */
const leastLength = 6
const mostMistakes = 2

/** Settings may be in a file where they are secrets; the database's password, where it is Postgres'. */
const inFiles: ReadonlyArray<string> = [...secretVariables, "POSTGRES_PASSWORD"]

const ending = "_FILE"

/** A sentence for each of them. */
export const misspeltVariables = (
  env: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>
): ReadonlyArray<string> => {
  const names = [...known, ...inFiles.map((name) => `${name}${ending}`)]
  return Object.keys(env).flatMap((name) => {
    if (names.includes(name) || name.length < leastLength) return []
    const setting = name.endsWith(ending) ? name.slice(0, -ending.length) : ""
    if (known.has(setting)) return [`${name} is no setting, and nothing reads it. Is ${setting} meant?`]
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
