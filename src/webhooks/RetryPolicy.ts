// When a failed delivery is attempted again. Provide another Schedule to change it:
// `Layer.succeed(RetryPolicy, Schedule.recurs(0))`. Documents, OpenAPI and dashboard read their figures from it.
import { Context, Schedule } from "effect"
import type { RetrySchedule } from "../platform/workers/RetrySchedule.ts"

/** By default three attempts (docs/contract.md 6.3): at once, after 1 minute, then after 4 minutes. */
export const RetryPolicy = Context.Reference<RetrySchedule>("quittance/webhooks/RetryPolicy", {
  defaultValue: () => Schedule.upTo(Schedule.exponential("1 minute", 4), { times: 2 })
})
