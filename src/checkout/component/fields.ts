// Fields of a response whose form is not known yet.
import { isRecord } from "../../platform/pages/browser/isRecord.ts"

export const at = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined)
export const textAt = (value: unknown, key: string): string | undefined => {
  const field = at(value, key)
  return typeof field === "string" ? field : undefined
}
