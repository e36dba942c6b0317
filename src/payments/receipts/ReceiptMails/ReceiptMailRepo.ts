// The SQL of receipts requested by email.
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    ask: <R>(
      receiptId: string,
      addressHash: Uint8Array,
      most: number,
      at: Date,
      queue: Effect.Effect<void, never, R>
    ): Effect.Effect<void, never, R> =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT id FROM receipts WHERE id = ${receiptId} FOR UPDATE`
            const rows = yield* sql`
              INSERT INTO receipt_mails (receipt_id, address_hash, asked_at)
              SELECT id, ${addressHash}::bytea, ${at}::timestamptz FROM receipts
              WHERE id = ${receiptId} AND (SELECT count(*) FROM receipt_mails WHERE receipt_id = ${receiptId}) < ${most}
              ON CONFLICT DO NOTHING RETURNING receipt_id`
            if (rows.length > 0) yield* queue
          })
        )
        .pipe(Effect.orDie)
  }
})

export class ReceiptMailRepo extends Context.Service<
  ReceiptMailRepo,
  {
    /** Runs `queue` in the same transaction: once per address, and for at most `most` addresses. */
    readonly ask: <R>(
      receiptId: string,
      addressHash: Uint8Array,
      most: number,
      at: Date,
      queue: Effect.Effect<void, never, R>
    ) => Effect.Effect<void, never, R>
  }
>()("quittance/payments/ReceiptMailRepo") {
  static readonly layer: Layer.Layer<ReceiptMailRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReceiptMailRepo,
    make
  )
}
