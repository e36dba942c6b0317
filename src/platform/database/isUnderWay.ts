// Decides whether a closed network must still be read, because something on it has not ended.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ found: Schema.Boolean })))

/**
 * True if a network was read since it was last closed, and a payment, refund or settlement on it has not ended.
 * Payments opened on a closed network do not count.
 */
export const isUnderWay = Effect.fn("isUnderWay")(function* (env: Env) {
  const sql = yield* SqlClient.SqlClient
  const { chainId } = networks[env]
  const rows = yield* decode(
    yield* sql`
      SELECT EXISTS (SELECT 1 FROM chain_cursors WHERE chain_id = ${chainId} AND closed_at IS NULL) AND (
        EXISTS (SELECT 1 FROM payments WHERE env = ${env} AND status = 'pending')
        OR EXISTS (SELECT 1 FROM claimed_transfers WHERE watch_at IS NOT NULL AND chain_id = ${chainId})
        OR EXISTS (SELECT 1 FROM refunds WHERE env = ${env} AND next_look_at IS NOT NULL)
        OR EXISTS (SELECT 1 FROM x402_settlements WHERE env = ${env} AND next_look_at IS NOT NULL)
      ) AS found`
  )
  return rows[0]?.found === true
}, Effect.orDie)
