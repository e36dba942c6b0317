// The times at which a failed delivery is attempted again. To change it, provide another Schedule:
// `Layer.succeed(RetryPolicy, Schedule.recurs(0))`. Documents, OpenAPI and the dashboard use its figures.
import { Context } from "effect"
import { afterDelays, type RetrySchedule } from "../platform/workers/RetrySchedule.ts"

/** The default of docs/contract.md 6.3: one attempt at once, and one after each delay. */
export const RetryPolicy = Context.Reference<RetrySchedule>("quittance/webhooks/RetryPolicy", {
  defaultValue: () => afterDelays("1 minute", "4 minutes")
})
