// Turns defects into errors of the API: 503 during an outage of the database, otherwise 500.
import { type Cause, Effect } from "effect"
import { type CodedError, InternalError, ServiceUnavailable } from "../../../domain/Errors.ts"
import { isDatabaseOutage } from "../../database/isDatabaseOutage.ts"

/** Seconds after which a lost database may be back. */
const retryAfter = 2

/** Logs the failure once with the request id; the response does not describe it. A database outage is not a bug. */
export const unexpectedFailure = (
  cause: Cause.Cause<unknown>,
  requestId: string,
  annotations: Readonly<Record<string, string>> = {}
): Effect.Effect<CodedError> =>
  Effect.suspend(
    (): Effect.Effect<CodedError> =>
      isDatabaseOutage(cause)
        ? Effect.as(
            Effect.logWarning("Request failed: the database is unavailable", cause),
            new ServiceUnavailable({ retryAfter })
          )
        : Effect.as(
            Effect.logError("Request failed unexpectedly; responded with 500", cause),
            new InternalError()
          )
  ).pipe(Effect.annotateLogs({ requestId, ...annotations }))
