import type { SqlClient, Statement } from "effect/sql"
import { minNoticeableAmount } from "../domain/minNoticeableAmount.ts"

/** True if an incoming transfer deserves a person's attention. Dust appears only in the books. */
export const isNoticeable = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`amount >= ${minNoticeableAmount.toString()}::numeric`
