// Finds variables that almost match a setting: the service ignores unknown names.
import { nearestOf } from "../nearestOf.ts"
import { secretVariables } from "./withSecretFiles.ts"

/** Shorter names resemble many that mean something else. */
const minLength = 6

/** Secret settings may be in a file, and so may Postgres's password. */
const inFiles: ReadonlyArray<string> = [...secretVariables, "POSTGRES_PASSWORD"]

const ending = "_FILE"

/** One sentence for each misspelt variable. */
export const misspeltVariables = (
  env: Readonly<Record<string, string | undefined>>,
  settingNames: ReadonlySet<string>
): ReadonlyArray<string> => {
  const names = [...settingNames, ...inFiles.map((name) => `${name}${ending}`)]
  return Object.keys(env).flatMap((name) => {
    if (names.includes(name) || name.length < minLength) return []
    const setting = name.endsWith(ending) ? name.slice(0, -ending.length) : ""
    if (settingNames.has(setting)) return [`Unknown variable ${name}. Did you mean ${setting}?`]
    const nearest = nearestOf(
      name,
      names.filter(({ length }) => length >= minLength)
    )
    return nearest === undefined ? [] : [`Unknown variable ${name}. Did you mean ${nearest}?`]
  })
}
