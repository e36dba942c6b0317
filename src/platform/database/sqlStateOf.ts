import { Predicate } from "effect"
import type { SqlError } from "effect/sql"

/** The SQLSTATE that the server returned; empty if it returned none. */
export const sqlStateOf = (error: SqlError.SqlError): string => {
  const { cause } = error.reason
  return Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""
}
