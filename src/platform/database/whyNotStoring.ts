// Checks for `doctor` that the database can store rows.
import { Effect } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { causeOf } from "./migrate.ts"
import { sqlStateOf } from "./sqlStateOf.ts"

/**
 * The reason why the database stores nothing although it answers, in its own words: its disk is full (SQLSTATE 53100).
 * Undefined if it stores rows. Writes a temporary table, whose rows need new pages in a file, and rolls back.
 */
export const whyNotStoring = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const error = yield* sql
    .withTransaction(
      Effect.andThen(
        sql`CREATE TEMPORARY TABLE quittance_doctor AS SELECT generate_series(1, 10000) AS number`,
        Effect.fail("rolled back")
      )
    )
    .pipe(Effect.flip)
  // Other refusals, such as for a role without TEMPORARY, show nothing about the disk.
  return SqlError.isSqlError(error) && sqlStateOf(error) === "53100" ? causeOf(error) : undefined
})
