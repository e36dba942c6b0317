// Tells a database outage from a bug.
import { Cause } from "effect"
import { SqlError } from "effect/sql"
import { sqlStateOf } from "./sqlStateOf.ts"

/**
 * SQLSTATEs of a server that cannot serve now: no such database, exhausted resources, operator's intervention, a
 * standby; or a table or column that a rollback or a person removed.
 */
const outageStates = /^(3D000|53|57P0|58|25006|42P01|42703)/

const isOutage = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  switch (error.reason._tag) {
    case "ConnectionError":
    // A migration of a later release, or another request, held the locks.
    case "DeadlockError":
    case "LockTimeoutError":
    case "SerializationError":
    case "StatementTimeoutError":
      return true
    default:
      return outageStates.test(sqlStateOf(error))
  }
}

/** True if it failed because the database did not serve, and not because of the request. */
export const isDatabaseOutage = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      (Cause.isFailReason(reason) && isOutage(reason.error)) ||
      (Cause.isDieReason(reason) && isOutage(reason.defect))
  )
