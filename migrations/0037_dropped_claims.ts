// The few settled payments whose transfer the chain no longer shows are found among all that sums leave them out of.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.void

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX IF EXISTS claimed_transfers_dropped`
})

export const indexes = {
  claimed_transfers_dropped: "claimed_transfers (payment_id) WHERE dropped_at IS NOT NULL"
}
