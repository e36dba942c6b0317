// The rules of every answer of the dashboard's API.
import { errorCodes } from "../../src/domain/ErrorCode.ts"

/** The rule that an answer breaks, or undefined. */
export const dashboardBreak = (answer: {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}): string | undefined => {
  const { status, headers, body } = answer
  if (headers.get("cache-control") !== "no-store") return "cache-control is not no-store"
  if (!headers.get("x-request-id")) return "no x-request-id"
  if (headers.get("access-control-allow-origin") !== null) return "open to other origins"
  if (status >= 500) return `status ${status}`
  if (status < 400) return undefined
  const code: unknown = JSON.parse(JSON.stringify(body))?.error?.code
  const known = Object.entries(errorCodes).find(([name]) => name === code)?.[1]
  return known?.status === status ? undefined : `code ${String(code)} with status ${status}`
}
