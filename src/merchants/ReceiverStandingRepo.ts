// The SQL of the addresses whose standing is read.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes } from "../chain/ChainBytes.ts"
import { Env } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"

const Receiver = Schema.Struct({ env: Env, address: AddressBytes, merchant_id: MerchantId })
export type Receiver = typeof Receiver.Type
const decodeReceivers = Schema.decodeUnknownEffect(Schema.Array(Receiver))

export class ReceiverStandingRepo extends Context.Service<
  ReceiverStandingRepo,
  {
    /** Every receiving address, present and past, of these environments. */
    readonly receivers: (envs: ReadonlyArray<Env>) => Effect.Effect<ReadonlyArray<Receiver>>
  }
>()("quittance/merchants/ReceiverStandingRepo") {
  static readonly layer: Layer.Layer<ReceiverStandingRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReceiverStandingRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      receivers: Effect.fn("ReceiverStandingRepo.receivers")(function* (envs: ReadonlyArray<Env>) {
        return yield* decodeReceivers(
          yield* sql`SELECT env, address, merchant_id FROM merchant_receivers WHERE env = ANY (${envs}::text[])`
        )
      }, Effect.orDie)
    }))
  )
}
