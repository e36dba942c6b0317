// The SQL that selects the receiving addresses to check against USDC's blacklist.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes } from "../chain/ChainBytes.ts"
import { Env } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"

const Receiver = Schema.Struct({ env: Env, address: AddressBytes, merchant_id: MerchantId })
export type Receiver = typeof Receiver.Type
const decodeReceivers = Schema.decodeUnknownEffect(Schema.Array(Receiver))

export class ReceiverBlacklistRepo extends Context.Service<
  ReceiverBlacklistRepo,
  {
    /** Every current and earlier receiving address of these environments. */
    readonly receivers: (envs: ReadonlyArray<Env>) => Effect.Effect<ReadonlyArray<Receiver>>
    /** Addresses set since that time, and addresses of merchants whom a buyer may be about to pay. */
    readonly awaited: (envs: ReadonlyArray<Env>, since: Date) => Effect.Effect<ReadonlyArray<Receiver>>
  }
>()("quittance/merchants/ReceiverBlacklistRepo") {
  static readonly layer: Layer.Layer<ReceiverBlacklistRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReceiverBlacklistRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      receivers: Effect.fn("ReceiverBlacklistRepo.receivers")(function* (envs: ReadonlyArray<Env>) {
        return yield* decodeReceivers(
          yield* sql`SELECT env, address, merchant_id FROM merchant_receivers WHERE env = ANY (${envs}::text[])`
        )
      }, Effect.orDie),
      awaited: Effect.fn("ReceiverBlacklistRepo.awaited")(function* (envs, since) {
        return yield* decodeReceivers(
          yield* sql`
            SELECT env, address, merchant_id FROM merchant_receivers
            WHERE env = ANY (${envs}::text[]) AND (since > ${since} OR (merchant_id, env) IN (
              SELECT merchant_id, env FROM payments WHERE status = 'pending'))`
        )
      }, Effect.orDie)
    }))
  )
}
