// A settlement reserves its payment until the service has nothing on its way for it any more.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE x402_settlements ADD COLUMN reserves boolean NOT NULL DEFAULT true`
  yield* sql`
    CREATE UNIQUE INDEX x402_settlements_reserves ON x402_settlements (payment_id)
    WHERE status <> 'failed' AND reserves`
  yield* sql`DROP INDEX x402_settlements_payment`
})

export const indexes = {
  x402_settlements_of_payment: "x402_settlements (payment_id)"
}

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE UNIQUE INDEX x402_settlements_payment ON x402_settlements (payment_id) WHERE status <> 'failed'`
  yield* sql`DROP INDEX x402_settlements_of_payment`
  yield* sql`ALTER TABLE x402_settlements DROP COLUMN reserves`
})
