import { ChangedMeanwhile } from "../../domain/Errors.ts"

const said = (value: unknown): string => {
  if (value === null || value === undefined) return "empty"
  if (typeof value === "boolean") return value ? "on" : "off"
  return Array.isArray(value) ? value.join(", ") : String(value)
}

/** Names each field of a form that is no longer what it `was` when the person began. */
export const changedMeanwhile = (was: object, now: object): ChangedMeanwhile => {
  const present = new Map<string, unknown>(Object.entries(now))
  return new ChangedMeanwhile({
    message:
      "Somebody else changed this after you opened it, and nothing was saved. Check the current values; save again to replace them.",
    details: Object.entries(was).flatMap(([name, before]) => {
      const [expected, actual] = [said(before), said(present.get(name))]
      const message = `Somebody else has changed it since you opened it. It is now: ${actual}. Save again to replace that.`
      return expected === actual ? [] : [{ path: `body.${name}`, message, expected, actual }]
    })
  })
}
