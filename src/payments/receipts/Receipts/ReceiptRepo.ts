// Storage of receipts and of the keys that sign them.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PaymentId } from "../../../domain/Payment.ts"
import type { Sealed } from "../../../platform/SecretBox.ts"

export interface ReceiptKey {
  readonly kid: string
  /** JSON. */
  readonly publicJwk: string
  readonly sealed: Sealed
}

export interface StoredReceipt {
  readonly id: string
  readonly jws: string
}

const decodeKeys = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      kid: Schema.String,
      public_jwk: Schema.String,
      private_kid: Schema.String,
      private_sealed: Schema.Uint8Array
    })
  )
)
const decodeReceipts = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: Schema.String, jws: Schema.String }))
)

export class ReceiptRepo extends Context.Service<
  ReceiptRepo,
  {
    /** Newest first. */
    readonly keys: Effect.Effect<ReadonlyArray<ReceiptKey>>
    readonly addKey: (key: ReceiptKey, at: Date) => Effect.Effect<void>
    readonly ofPayment: (paymentId: PaymentId) => Effect.Effect<Option.Option<StoredReceipt>>
    /** Stores a payment's receipt and returns it. An existing receipt stays and is returned instead. */
    readonly store: (paymentId: PaymentId, receipt: StoredReceipt, at: Date) => Effect.Effect<StoredReceipt>
    readonly find: (id: string) => Effect.Effect<Option.Option<StoredReceipt>>
  }
>()("quittance/payments/ReceiptRepo") {
  static readonly layer: Layer.Layer<ReceiptRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReceiptRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const first = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
        Effect.map(Effect.flatMap(statement, decodeReceipts), ([row]) => Option.fromUndefinedOr(row))
      const ofPayment = Effect.fn("ReceiptRepo.ofPayment")(function* (paymentId: PaymentId) {
        return yield* first(sql`SELECT id, jws FROM receipts WHERE payment_id = ${paymentId}`)
      }, Effect.orDie)

      return ReceiptRepo.of({
        keys: Effect.orDie(
          Effect.map(
            Effect.flatMap(
              sql`SELECT kid, public_jwk, private_kid, private_sealed FROM receipt_keys
                ORDER BY created_at DESC, kid`,
              decodeKeys
            ),
            (rows) =>
              rows.map((row) => ({
                kid: row.kid,
                publicJwk: row.public_jwk,
                sealed: { kid: row.private_kid, ciphertext: row.private_sealed }
              }))
          )
        ),
        addKey: Effect.fn("ReceiptRepo.addKey")(function* ({ kid, publicJwk, sealed }, at) {
          yield* sql`
            INSERT INTO receipt_keys (kid, public_jwk, private_kid, private_sealed, created_at)
            VALUES (${kid}, ${publicJwk}, ${sealed.kid}, ${sealed.ciphertext}, ${at})
            ON CONFLICT DO NOTHING`
        }, Effect.orDie),
        ofPayment,
        store: Effect.fn("ReceiptRepo.store")(function* (paymentId, receipt, at) {
          yield* sql`
            INSERT INTO receipts (id, payment_id, jws, created_at)
            VALUES (${receipt.id}, ${paymentId}, ${receipt.jws}, ${at}) ON CONFLICT DO NOTHING`
          return Option.getOrElse(yield* ofPayment(paymentId), () => receipt)
        }, Effect.orDie),
        find: Effect.fn("ReceiptRepo.find")(function* (id) {
          return yield* first(sql`SELECT id, jws FROM receipts WHERE id = ${id}`)
        }, Effect.orDie)
      })
    })
  )

  /** Stores nothing. */
  static readonly layerNone: Layer.Layer<ReceiptRepo> = Layer.succeed(ReceiptRepo, {
    keys: Effect.succeed([]),
    addKey: () => Effect.void,
    ofPayment: () => Effect.succeedNone,
    store: (_, receipt) => Effect.succeed(receipt),
    find: () => Effect.succeedNone
  })
}
