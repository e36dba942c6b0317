// Whose a receiving address is: one merchant's in each environment, also after another
// address took its place, because payments still point there.
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

/** Both run inside the transaction of what they belong to. */
export const makeReceiverRepo = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** None where the address is the merchant's, already or from this moment; otherwise whose it is. */
    claim: Effect.fnUntraced(function* ({ merchantId, env, address }: ReceiverPlace) {
      const at = yield* DateTime.nowAsDate
      const bytes = toBytes(address)
      yield* sql`
        INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
        VALUES (${env}, ${bytes}, ${merchantId}, ${at}, ${at}) ON CONFLICT DO NOTHING`
      // A statement of its own: it sees what the one before waited for. Under the lock of whoever takes the address:
      // that comes before, and is seen, or finds it in use.
      const [holder] = yield* decodeHolders(
        yield* sql`
          SELECT merchant_id AS "merchantId", since FROM merchant_receivers
          WHERE env = ${env} AND address = ${bytes} FOR SHARE`
      )
      return holder.merchantId === merchantId ? Option.none() : Option.some<ReceiverHolder>(holder)
    }),

    /** True if the address was still the holder's, and is the merchant's from this moment. */
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
