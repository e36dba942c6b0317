// A settlement reserves its payment until the service has nothing on its way for it any more.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE x402_settlements ADD COLUMN reserves boolean NOT NULL DEFAULT true`
  yield* sql`
    CREATE UNIQUE INDEX x402_settlements_reserves ON x402_settlements (payment_id)
    WHERE status <> 'failed' AND reserves`
  yield* sql`
    CREATE INDEX x402_settlements_of_payment ON x402_settlements (payment_id)`
  yield* sql`DROP INDEX x402_settlements_payment`
})
