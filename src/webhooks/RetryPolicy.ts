// When a failed delivery is attempted again. Provide another Schedule to change it:
// `Layer.succeed(RetryPolicy, Schedule.recurs(0))`. Documents, OpenAPI and dashboard read their figures from it.
import { Context } from "effect"
import { afterDelays, type RetrySchedule } from "../platform/workers/RetrySchedule.ts"

/** The default is that of docs/contract.md 6.3: an attempt at once, and one after each delay. */
export const RetryPolicy = Context.Reference<RetrySchedule>("quittance/webhooks/RetryPolicy", {
  defaultValue: () => afterDelays("1 minute", "4 minutes")
})
