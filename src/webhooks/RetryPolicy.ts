// When a failed delivery is attempted again. Provide another Schedule to change it:
// `Layer.succeed(RetryPolicy, Schedule.recurs(0))`. Documents, OpenAPI and dashboard read their figures from it.
import { Context, Schedule } from "effect"
import type { RetrySchedule } from "../platform/workers/RetrySchedule.ts"

/** By default three attempts (docs/contract.md 6.3): at once, 1 minute after the first has failed, 4 after the second. */
export const RetryPolicy = Context.Reference<RetrySchedule>("quittance/webhooks/RetryPolicy", {
  defaultValue: () => Schedule.upTo(Schedule.exponential("1 minute", 4), { times: 2 })
})
