import type { SqlError } from "effect/sql"

/** SQLSTATE 23505: another row has the key. */
export const isUniqueViolation = (error: SqlError.SqlError): boolean =>
  error.reason._tag === "UniqueViolation"
