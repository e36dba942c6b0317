import { Cause } from "effect"
import { SqlError } from "effect/sql"
import { sqlStateOf } from "./sqlStateOf.ts"

/**
 * SQLSTATEs of a server that cannot serve at present: no such database, its resources, operator's intervention,
 * a standby; a table or a column that a rollback, or a hand, has taken away.
 */
const outage = /^(3D000|53|57P0|58|25006|42P01|42703)/

const isOutage = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  switch (error.reason._tag) {
    case "ConnectionError":
    // A migration of a later release, or another request, had the locks.
    case "DeadlockError":
    case "LockTimeoutError":
    case "SerializationError":
    case "StatementTimeoutError":
      return true
    default:
      return outage.test(sqlStateOf(error))
  }
}

/** True if it failed because the database did not serve, and not because of what was asked of it. */
export const isDatabaseOutage = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      (Cause.isFailReason(reason) && isOutage(reason.error)) ||
      (Cause.isDieReason(reason) && isOutage(reason.defect))
  )
