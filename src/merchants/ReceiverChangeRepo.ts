// The SQL of pending changes of receiving addresses.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, toBytes } from "../chain/ChainBytes.ts"
import { type Address, Env } from "../domain/Chain.ts"
import { MerchantId, Uuid } from "../domain/Merchant.ts"

const WaitingRow = Schema.Struct({
  id: Uuid,
  merchantId: MerchantId,
  env: Env,
  address: AddressBytes,
  requestedBy: Schema.String,
  requestedAt: Schema.Date,
  dueAt: Schema.Date
})
export type WaitingChange = typeof WaitingRow.Type
const decodeWaiting = Schema.decodeUnknownEffect(Schema.Array(WaitingRow))
const { address, env, merchantId } = WaitingRow.fields
const decodeWithdrawn = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ merchantId, env, address })))
const decodePresent = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ before: AddressBytes })))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql`c.id, c.merchant_id AS "merchantId", c.env, c.address, u.email AS "requestedBy",
    c.requested_at AS "requestedAt", c.due_at AS "dueAt"`

  return ReceiverChangeRepo.of({
    find: Effect.fn("ReceiverChangeRepo.find")(function* (merchantId, env) {
      const [row] = yield* decodeWaiting(
        yield* sql`
          SELECT ${columns} FROM receiver_changes c JOIN users u ON u.id = c.requested_by
          WHERE c.merchant_id = ${merchantId} AND c.env = ${env} AND c.ended_at IS NULL`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie),

    withdraw: Effect.fn("ReceiverChangeRepo.withdraw")(function* (id, at) {
      const rows = yield* sql`
        UPDATE receiver_changes SET ended_at = ${at}, outcome = 'withdrawn'
        WHERE id = ${id} AND ended_at IS NULL RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    withdrawOf: Effect.fn("ReceiverChangeRepo.withdrawOf")(function* (userId, at) {
      yield* sql`
        SELECT id FROM merchants
        WHERE id IN (SELECT merchant_id FROM merchant_members WHERE user_id = ${userId})
        ORDER BY id FOR NO KEY UPDATE`
      return yield* decodeWithdrawn(
        yield* sql`
          UPDATE receiver_changes SET ended_at = ${at}, outcome = 'withdrawn'
          WHERE requested_by = ${userId} AND ended_at IS NULL
          RETURNING merchant_id AS "merchantId", env, address`
      )
    }, Effect.orDie),

    due: Effect.fn("ReceiverChangeRepo.due")(function* (at, limit) {
      return yield* decodeWaiting(
        yield* sql`
          SELECT ${columns} FROM receiver_changes c JOIN users u ON u.id = c.requested_by
          WHERE c.ended_at IS NULL AND c.due_at <= ${at} ORDER BY c.due_at LIMIT ${limit}`
      )
    }, Effect.orDie),

    apply: ({ address, env, id, merchantId }, at) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            const column = sql.literal(`receiver_${env}`)
            // Like every change, runs under the merchant's lock, then under that of a merchant claiming the
            // address.
            const [present] = yield* decodePresent(
              yield* sql`SELECT ${column} AS before FROM merchants WHERE id = ${merchantId} FOR UPDATE`
            )
            const owned = yield* sql`
              SELECT 1 FROM merchant_receivers
              WHERE env = ${env} AND address = ${toBytes(address)} AND merchant_id = ${merchantId} FOR SHARE`
            const isOwned = owned.length > 0
            const ended = yield* sql`
              UPDATE receiver_changes SET ended_at = ${at}, outcome = ${isOwned ? "applied" : "lost"}
              WHERE id = ${id} AND ended_at IS NULL RETURNING id`
            if (ended.length === 0 || present === undefined) return { _tag: "Gone" } as const
            if (!isOwned) return { _tag: "Lost" } as const
            yield* sql`
              UPDATE merchants SET ${column} = ${toBytes(address)},
                moved_receivers = array_remove(moved_receivers, ${env}::text)
              WHERE id = ${merchantId}`
            return { _tag: "Applied", before: present.before } as const
          })
        )
        .pipe(Effect.orDie, Effect.withSpan("ReceiverChangeRepo.apply"))
  })
})

export class ReceiverChangeRepo extends Context.Service<
  ReceiverChangeRepo,
  {
    readonly find: (merchantId: MerchantId, env: Env) => Effect.Effect<Option.Option<WaitingChange>>
    /** False if it has already ended. */
    readonly withdraw: (id: string, at: Date) => Effect.Effect<boolean>
    /**
     * Ends the user's pending changes; runs inside a transaction. Locks the merchants' rows first, as all
     * code does, so that a change requested at the same moment is seen.
     */
    readonly withdrawOf: (
      userId: string,
      at: Date
    ) => Effect.Effect<ReadonlyArray<Pick<WaitingChange, "merchantId" | "env" | "address">>>
    readonly due: (at: Date, limit: number) => Effect.Effect<ReadonlyArray<WaitingChange>>
    /**
     * The outcome of a due change. Gone: withdrawn, replaced or already applied. Lost: the address now belongs to
     * another merchant.
     */
    readonly apply: (
      change: WaitingChange,
      at: Date
    ) => Effect.Effect<
      | { readonly _tag: "Gone" }
      | { readonly _tag: "Lost" }
      | { readonly _tag: "Applied"; readonly before: Address }
    >
  }
>()("quittance/merchants/ReceiverChangeRepo") {
  static readonly layer: Layer.Layer<ReceiverChangeRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReceiverChangeRepo,
    make
  )
}
