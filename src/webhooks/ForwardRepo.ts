// The SQL of `cli listen`: a merchant's test deliveries, and the secret to sign them with.

import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type MerchantId, Uuid } from "../domain/Merchant.ts"
import { PaymentId } from "../domain/Payment.ts"
import { EventType } from "../domain/Webhook.ts"
import type { Sealed } from "../keys/SecretBox.ts"

interface EndpointSecret {
  readonly endpointId: string
  readonly sealed: Sealed
}

const ForwardRow = Schema.Struct({
  id: Uuid,
  type: EventType,
  body: Schema.Uint8Array,
  created_at: Schema.Date,
  /** What it is about; null of a test. */
  payment_id: Schema.NullOr(PaymentId),
  intent_url: Schema.NullOr(Schema.String)
})
export type ForwardRow = typeof ForwardRow.Type

const decodeForwards = Schema.decodeUnknownEffect(Schema.Array(ForwardRow))
const decodeSecrets = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: Uuid, secret_kid: Schema.String, secret_ciphertext: Schema.Uint8Array }))
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    deliveries: Effect.fn("ForwardRepo.deliveries")(function* (
      merchantId: MerchantId,
      from: Date,
      without: ReadonlyArray<string>,
      limit: number
    ) {
      return yield* decodeForwards(
        yield* sql`
          SELECT d.id, d.type, d.body, d.created_at, d.payment_id, p.intent_url
          FROM webhook_deliveries d LEFT JOIN payments p ON p.id = d.payment_id
          WHERE d.merchant_id = ${merchantId} AND d.env = 'test' AND d.created_at >= ${from}
            AND d.id <> ALL(${without}::uuid[])
          ORDER BY d.created_at, d.id LIMIT ${limit}`
      )
    }, Effect.orDie),

    secret: Effect.fn("ForwardRepo.secret")(function* (merchantId: MerchantId) {
      const [row] = yield* decodeSecrets(
        yield* sql`
          SELECT id, secret_kid, secret_ciphertext FROM webhook_endpoints
          WHERE merchant_id = ${merchantId} AND env = 'test' AND deleted_at IS NULL`
      )
      return Option.map(Option.fromUndefinedOr(row), (found) => ({
        endpointId: found.id,
        sealed: { kid: found.secret_kid, ciphertext: found.secret_ciphertext }
      }))
    }, Effect.orDie)
  }
})

export class ForwardRepo extends Context.Service<
  ForwardRepo,
  {
    /** Created at `from` or later, oldest first, without those named. */
    readonly deliveries: (
      merchantId: MerchantId,
      from: Date,
      without: ReadonlyArray<string>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ForwardRow>>
    /** The test endpoint's id and sealed secret as they stand now. */
    readonly secret: (merchantId: MerchantId) => Effect.Effect<Option.Option<EndpointSecret>>
  }
>()("quittance/webhooks/ForwardRepo") {
  static readonly layer: Layer.Layer<ForwardRepo, never, SqlClient.SqlClient> = Layer.effect(
    ForwardRepo,
    make
  )
}
