// What people decide: the one link that asks for the rest of a transfer, and the note of an acknowledged alert.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // An incoming transfer's id.
  yield* sql`ALTER TABLE payment_links ADD COLUMN rest_of uuid`
  yield* sql`
    CREATE UNIQUE INDEX payment_links_rest ON payment_links (rest_of) WHERE rest_of IS NOT NULL AND closed_at IS NULL`
  yield* sql`ALTER TABLE alerts ADD COLUMN note text CHECK (length(note) <= 500)`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payment_links DROP COLUMN rest_of`
  yield* sql`ALTER TABLE alerts DROP COLUMN note`
})
