import type { SqlClient, Statement } from "effect/sql"
import { dustBelow } from "../domain/dustBelow.ts"

/** True if an incoming transfer is worth a person's look. Dust counts in the books alone. */
export const isNoticeable = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`amount >= ${dustBelow.toString()}::numeric`
