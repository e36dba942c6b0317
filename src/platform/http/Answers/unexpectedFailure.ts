import { type Cause, Effect } from "effect"
import { type CodedError, InternalError, ServiceUnavailable } from "../../../domain/Errors.ts"
import { isDatabaseOutage } from "../../database/isDatabaseOutage.ts"

/** Seconds after which a database that was lost may be back. */
const retryAfter = 2

/** Logs it once with the request id; the answer tells nothing of it. An outage of the database is no bug. */
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
        : Effect.as(Effect.logError("Unexpected failure", cause), new InternalError())
  ).pipe(Effect.annotateLogs({ requestId, ...annotations }))
