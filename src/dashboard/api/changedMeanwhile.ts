// Builds the error for a form that would overwrite another member's change.
import { ChangedMeanwhile } from "../../domain/Errors.ts"

const wordsOf = (value: unknown): string => {
  if (value === null || value === undefined) return "empty"
  if (typeof value === "boolean") return value ? "on" : "off"
  return Array.isArray(value) ? value.join(", ") : String(value)
}

/** Lists each field of a form whose value differs from what it `was` when the user began. */
export const changedMeanwhile = (was: object, now: object): ChangedMeanwhile => {
  const current = new Map<string, unknown>(Object.entries(now))
  return new ChangedMeanwhile({
    details: Object.entries(was).flatMap(([name, before]) => {
      const [expected, actual] = [wordsOf(before), wordsOf(current.get(name))]
      const message = `Somebody else has changed it since you opened it. It is now: ${actual}. Save again to replace that.`
      return expected === actual ? [] : [{ path: `body.${name}`, message, expected, actual }]
    })
  })
}
