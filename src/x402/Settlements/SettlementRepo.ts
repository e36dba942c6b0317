// Stored settlements of signed authorizations: one row per (chain, asset, payer, nonce), so that a repeated,
// concurrent or interrupted call settles only once.
import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { hexToBytes, toBytes } from "../../chain/ChainBytes.ts"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { MerchantId } from "../../domain/Merchant.ts"
import { type PayerType, PaymentId } from "../../domain/Payment.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { SettleReason } from "../../domain/SettleReason.ts"
import { isUniqueViolation } from "../../platform/database/isUniqueViolation.ts"
import type { SignedAuthorization } from "../Authorization.ts"
import { hasOwnTransfer } from "./hasOwnTransferSql.ts"
import {
  decodeSettlements,
  repeatedMillis,
  settlementColumns,
  type X402Settlement
} from "./X402Settlement.ts"

/** Another authorization is settling this payment, or has settled it. */
export class PaymentTaken extends Data.TaggedError("PaymentTaken") {}

/** The payment is settled or has failed: nothing is sent for it. */
export class PaymentClosed extends Data.TaggedError("PaymentClosed") {}

export interface NewSettlement {
  readonly id: string
  readonly merchantId: MerchantId
  readonly env: Env
  readonly paymentId: PaymentId
  /** True if the payment exists only for this settlement and is opened with it. */
  readonly opensPayment: boolean
  readonly payerType: PayerType
  readonly chainId: number
  readonly asset: Address
  readonly authorization: SignedAuthorization
  readonly resource: string
  /** The transaction that used the authorization before it was submitted here. */
  readonly movedBy: TransactionHash | null
  readonly at: Date
  readonly nextCheckAt: Date
}

const decodeNamed = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ payment_id: PaymentId })))

export class SettlementRepo extends Context.Service<
  SettlementRepo,
  {
    /**
     * Creates the authorization's settlement, or returns the existing one. For an existing payment it is
     * created under the payment's row lock, only while the payment is pending. It then blocks all other
     * payers until `release`, and its own payer until it ends if a transaction was sent.
     */
    readonly register: (
      input: NewSettlement
    ) => Effect.Effect<
      { readonly settlement: X402Settlement; readonly created: boolean },
      PaymentTaken | PaymentClosed
    >
    readonly find: (
      chainId: number,
      asset: Address,
      payer: Address,
      nonce: Hex
    ) => Effect.Effect<Option.Option<X402Settlement>>
    readonly findById: (id: string) => Effect.Effect<Option.Option<X402Settlement>>
    /** Stores the nonce of the authorization that a buyer is requested to sign for the payment. */
    readonly storeNonce: (paymentId: PaymentId, nonce: Hex, at: Date) => Effect.Effect<void>
    /** The payment for which this nonce was stored. */
    readonly paymentOfNonce: (nonce: Hex) => Effect.Effect<Option.Option<PaymentId>>
    /**
     * Reopens a failed settlement with the current signature, under the lock that `register` takes. Does
     * nothing if the settlement is not failed or its payment is closed. `movedBy`: the transaction
     * that has used the authorization since.
     */
    readonly revive: (
      settlement: X402Settlement,
      authorization: SignedAuthorization,
      movedBy: TransactionHash | null,
      nextCheckAt: Date
    ) => Effect.Effect<void, PaymentTaken>
    /** Atomically claims a settlement's success for a caller; false if another caller has it. */
    readonly deliver: (id: string, idempotencyKey: string | undefined, at: Date) => Effect.Effect<boolean>
    /**
     * Stores the reason for callers and frees the payment for other payers. The service has no transaction in
     * flight for this settlement, but anyone who holds the signature can still submit it.
     */
    readonly release: (id: string, reason: SettleReason) => Effect.Effect<void>
    /** Stores the transaction to check, and stops the checks of the previous one's report. */
    readonly storeTransaction: (id: string, transactionId: TransactionHash) => Effect.Effect<void>
    /** Ends a pending settlement; never overwrites an outcome. True if this call ended it. */
    readonly finish: (
      id: string,
      outcome:
        | { readonly status: "settled"; readonly transactionId: TransactionHash }
        | { readonly status: "failed"; readonly errorReason: SettleReason },
      at: Date
    ) => Effect.Effect<boolean>
    /** Leases pending settlements that are due, until `leaseUntil`. */
    readonly takeDue: (
      env: Env,
      at: Date,
      leaseUntil: Date,
      limit: number
    ) => Effect.Effect<ReadonlyArray<X402Settlement>>
    readonly checkAgain: (id: string, at: Date) => Effect.Effect<void>
  }
>()("quittance/x402/SettlementRepo") {
  static readonly layer: Layer.Layer<SettlementRepo, never, SqlClient.SqlClient> = Layer.effect(
    SettlementRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const first = (rows: ReadonlyArray<unknown>) =>
        Effect.map(decodeSettlements(rows), ([settlement]) => Option.fromNullishOr(settlement))
      const columns = sql.literal(settlementColumns)

      // In flight, or sent before so that others may have seen it: its payer must not pay in another way.
      const isInFlight = sql`s.status = 'pending' AND (s.reserves OR EXISTS (
        SELECT 1 FROM wallet_transactions w WHERE w.reference = s.id AND w.purpose = 'settle'))`

      const find = Effect.fn("SettlementRepo.find")(function* (
        chainId: number,
        asset: Address,
        payer: Address,
        nonce: Hex
      ) {
        const rows = yield* sql`
          SELECT ${columns} FROM x402_settlements
          WHERE chain_id = ${chainId} AND asset = ${toBytes(asset)} AND payer = ${toBytes(payer)}
            AND nonce = ${hexToBytes(nonce)}`
        return yield* first(rows)
      }, Effect.orDie)

      return SettlementRepo.of({
        find,

        register: Effect.fn("SettlementRepo.register")(
          function* (input) {
            const { authorization } = input
            const from = toBytes(authorization.from)
            const movedBy = input.movedBy === null ? null : toBytes(input.movedBy)
            const reserved = input.opensPayment
              ? sql`SELECT 1`
              : sql`
                  SELECT 1 FROM payments p WHERE p.id = ${input.paymentId} AND p.status = 'pending'
                    AND NOT ${hasOwnTransfer(sql, from, movedBy)}
                    AND NOT EXISTS (
                      SELECT 1 FROM x402_settlements s
                      WHERE s.payment_id = p.id AND s.payer = ${from} AND ${isInFlight})`
            // Locks the row of an existing payment first, in its own statement: the next statement then sees
            // every announcement made before.
            if (!input.opensPayment) {
              yield* sql`
                SELECT 1 FROM payments
                WHERE id = ${input.paymentId} AND merchant_id = ${input.merchantId} AND env = ${input.env}
                FOR NO KEY UPDATE`
            }
            const rows = yield* sql`
              WITH reserved AS (${reserved})
              INSERT INTO x402_settlements
                (id, merchant_id, env, payment_id, opens_payment, payer_type, chain_id, asset, payer, nonce, receiver, amount,
                 valid_after, valid_before, signature, resource, transaction_id, status, created_at, next_look_at)
              SELECT ${input.id}::uuid, ${input.merchantId}::uuid, ${input.env}::text, ${input.paymentId}::uuid,
                ${input.opensPayment}::boolean, ${input.payerType}::text, ${input.chainId}::integer, ${toBytes(input.asset)}::bytea,
                ${toBytes(authorization.from)}::bytea, ${hexToBytes(authorization.nonce)}::bytea,
                ${toBytes(authorization.to)}::bytea, ${authorization.value.toString()}::numeric,
                ${authorization.validAfter.toString()}::numeric, ${authorization.validBefore.toString()}::numeric,
                ${hexToBytes(authorization.signature)}::bytea, ${input.resource}::text, ${movedBy}::bytea, 'pending',
                ${input.at}::timestamptz, ${input.nextCheckAt}::timestamptz
              FROM reserved
              ON CONFLICT (chain_id, asset, payer, nonce) DO NOTHING
              RETURNING ${columns}`.pipe(
              Effect.catchIf(isUniqueViolation, () => Effect.fail(new PaymentTaken()))
            )
            const [created] = yield* decodeSettlements(rows)
            if (created !== undefined) return { settlement: created, created: true }
            const stored = yield* find(input.chainId, input.asset, authorization.from, authorization.nonce)
            if (Option.isSome(stored)) return { settlement: stored.value, created: false }
            const [pending] =
              yield* sql`SELECT 1 FROM payments WHERE id = ${input.paymentId} AND status = 'pending'`
            return yield* pending === undefined ? new PaymentClosed() : new PaymentTaken()
          },
          (effect) => sql.withTransaction(effect),
          Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die })
        ),

        storeNonce: Effect.fn("SettlementRepo.storeNonce")(function* (paymentId, nonce, at) {
          yield* sql`
            INSERT INTO authorization_nonces (nonce, payment_id, asked_at)
            VALUES (${hexToBytes(nonce)}, ${paymentId}, ${at}) ON CONFLICT DO NOTHING`
        }, Effect.orDie),

        paymentOfNonce: Effect.fn("SettlementRepo.paymentOfNonce")(function* (nonce) {
          const [row] = yield* decodeNamed(
            yield* sql`SELECT payment_id FROM authorization_nonces WHERE nonce = ${hexToBytes(nonce)}`
          )
          return Option.map(Option.fromUndefinedOr(row), ({ payment_id }) => payment_id)
        }, Effect.orDie),

        findById: Effect.fn("SettlementRepo.findById")(function* (id) {
          return yield* first(yield* sql`SELECT ${columns} FROM x402_settlements WHERE id = ${id}`)
        }, Effect.orDie),

        revive: Effect.fn("SettlementRepo.revive")(
          function* ({ id, opensPayment, paymentId }, authorization, movedBy, nextCheckAt) {
            const reserved = opensPayment
              ? sql`SELECT 1`
              : sql`SELECT 1 FROM payments WHERE id = ${paymentId} AND status = 'pending'`
            const from = toBytes(authorization.from)
            const mover = movedBy === null ? null : toBytes(movedBy)
            if (!opensPayment) yield* sql`SELECT 1 FROM payments WHERE id = ${paymentId} FOR NO KEY UPDATE`
            const [other] = yield* sql`
              SELECT 1 FROM x402_settlements s
              WHERE s.payment_id = ${paymentId} AND s.id <> ${id} AND s.payer = ${from} AND ${isInFlight}
              UNION ALL
              SELECT 1 FROM payments p WHERE p.id = ${paymentId} AND ${hasOwnTransfer(sql, from, mover)}
              LIMIT 1`
            if (other !== undefined) return yield* new PaymentTaken()
            yield* sql`
              WITH reserved AS (${reserved})
              UPDATE x402_settlements
              SET status = 'pending', reserves = true, error_reason = NULL, told_reason = NULL, finished_at = NULL,
                transaction_id = ${mover}::bytea, next_look_at = ${nextCheckAt},
                valid_after = ${authorization.validAfter.toString()}::numeric,
                valid_before = ${authorization.validBefore.toString()}::numeric,
                signature = ${hexToBytes(authorization.signature)}::bytea
              FROM reserved WHERE id = ${id} AND status = 'failed'`.pipe(
              Effect.catchIf(isUniqueViolation, () => Effect.fail(new PaymentTaken()))
            )
          },
          (effect) => sql.withTransaction(effect),
          Effect.catchTags({ SqlError: Effect.die })
        ),

        deliver: Effect.fn("SettlementRepo.deliver")(function* (id, idempotencyKey, at) {
          const rows = yield* sql`
            UPDATE x402_settlements
            SET answered_to = CASE WHEN answered_at IS NULL THEN ${idempotencyKey ?? null}::text ELSE answered_to END,
              answered_at = coalesce(answered_at, ${at})
            WHERE id = ${id} AND status = 'settled' AND (answered_at IS NULL
              OR (answered_to = ${idempotencyKey ?? null}::text
                AND answered_at > ${plusMillis(at, -repeatedMillis)}))
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        release: Effect.fn("SettlementRepo.release")(
          function* (id, reason) {
            // Locks first, so that the next statement sees a transaction stored under the lock.
            yield* sql`SELECT 1 FROM x402_settlements WHERE id = ${id} FOR UPDATE`
            yield* sql`
            UPDATE x402_settlements SET told_reason = ${reason}, reserves = false
            WHERE id = ${id} AND status = 'pending' AND NOT EXISTS (
              SELECT 1 FROM wallet_transactions
              WHERE reference = ${id} AND purpose = 'settle' AND ended_at IS NULL)`
          },
          (effect) => sql.withTransaction(effect),
          Effect.orDie
        ),

        storeTransaction: Effect.fn("SettlementRepo.storeTransaction")(function* (id, transactionId) {
          const newId = toBytes(transactionId)
          yield* sql`
            WITH previous AS (
              SELECT id, payment_id, payer, transaction_id FROM x402_settlements
              WHERE id = ${id} AND status = 'pending' FOR UPDATE
            ), updated AS (
              UPDATE x402_settlements s SET transaction_id = ${newId} FROM previous b WHERE s.id = b.id
            )
            -- The previous transaction was not the payer's own transfer, so its report is no longer checked. If the
            -- transaction returns, the use of the authorization shows it.
            UPDATE payment_reports r SET next_check_at = NULL FROM previous b
            WHERE r.payment_id = b.payment_id AND r.payer_address = b.payer AND r.next_check_at IS NOT NULL
              AND r.transaction_id = b.transaction_id AND r.transaction_id <> ${newId}`
        }, Effect.orDie),

        finish: Effect.fn("SettlementRepo.finish")(function* (id, outcome, at) {
          const rows = yield* outcome.status === "settled"
            ? sql`
                UPDATE x402_settlements
                SET status = 'settled', transaction_id = ${toBytes(outcome.transactionId)}, error_reason = NULL,
                  told_reason = NULL, finished_at = ${at}, next_look_at = NULL
                WHERE id = ${id} AND status = 'pending' RETURNING id`
            : sql`
                UPDATE x402_settlements
                SET status = 'failed', error_reason = ${outcome.errorReason}, told_reason = NULL,
                  finished_at = ${at}, next_look_at = NULL
                WHERE id = ${id} AND status = 'pending' RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        takeDue: Effect.fn("SettlementRepo.takeDue")(function* (env, at, leaseUntil, limit) {
          const rows = yield* sql`
            UPDATE x402_settlements SET next_look_at = ${leaseUntil}
            WHERE id IN (
              SELECT id FROM x402_settlements WHERE env = ${env} AND next_look_at <= ${at}
              ORDER BY next_look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
            RETURNING ${columns}`
          return yield* decodeSettlements(rows)
        }, Effect.orDie),

        checkAgain: Effect.fn("SettlementRepo.checkAgain")(function* (id, at) {
          yield* sql`UPDATE x402_settlements SET next_look_at = ${at} WHERE id = ${id} AND status = 'pending'`
        }, Effect.orDie)
      })
    })
  )
}
