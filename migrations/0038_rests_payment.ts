// The payment that a transfer fell short of: nobody is asked for its rest by link once it is paid.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE payment_links ADD COLUMN rest_for uuid`
)

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX IF EXISTS payment_links_rests`
  yield* sql`ALTER TABLE payment_links DROP COLUMN rest_for`
})

/** Closed ones as well: whoever has opened one goes on. */
export const indexes = {
  payment_links_rests: "payment_links (rest_of) WHERE rest_of IS NOT NULL"
}
