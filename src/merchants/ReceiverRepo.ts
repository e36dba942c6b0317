// The ownership of receiving addresses. In each environment an address belongs to one merchant, even after
// another address replaced it, because payments still point there.
import { DateTime, Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { toBytes } from "../chain/ChainBytes.ts"
import type { Address, Env } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"

/** The merchant that an address belongs to, and since when. */
export interface ReceiverHolder {
  readonly merchantId: MerchantId
  readonly since: Date
}

export interface ReceiverPlace {
  readonly merchantId: MerchantId
  readonly env: Env
  readonly address: Address
}

const decodeHolders = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ merchantId: MerchantId, since: Schema.Date })])
)

/** Both functions run inside the caller's transaction. */
export const makeReceiverRepo = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** Claims the address. Returns its current holder if another merchant has it. */
    claim: Effect.fnUntraced(function* ({ merchantId, env, address }: ReceiverPlace) {
      const at = yield* DateTime.nowAsDate
      const bytes = toBytes(address)
      yield* sql`
        INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
        VALUES (${env}, ${bytes}, ${merchantId}, ${at}, ${at}) ON CONFLICT DO NOTHING`
      // A separate statement sees what the insert waited for. It runs under the claiming merchant's lock, so
      // a concurrent claim either commits first and is seen here, or finds the address taken.
      const [holder] = yield* decodeHolders(
        yield* sql`
          SELECT merchant_id AS "merchantId", since FROM merchant_receivers
          WHERE env = ${env} AND address = ${bytes} FOR SHARE`
      )
      return holder.merchantId === merchantId ? Option.none() : Option.some<ReceiverHolder>(holder)
    }),

    /** Moves the address to the merchant. True if `holder` still held it. */
    take: Effect.fnUntraced(function* ({ merchantId, env, address }: ReceiverPlace, holder: ReceiverHolder) {
      const at = yield* DateTime.nowAsDate
      const rows = yield* sql`
        UPDATE merchant_receivers SET merchant_id = ${merchantId}, since = ${at}
        WHERE env = ${env} AND address = ${toBytes(address)}
          AND merchant_id = ${holder.merchantId} AND since = ${holder.since}
        RETURNING address`
      return rows.length > 0
    })
  }
})
