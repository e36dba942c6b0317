// Settlements of signed authorizations at rest: one row for each (chain, asset, payer, nonce),
// so that a repeated, concurrent or interrupted settle is one settlement.
import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Hex } from "viem"
import { AddressBytes, HashBytes, toBytes } from "../chain/ChainBytes.ts"
import { type Address, Env, type TransactionHash } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"
import { AtomicUsdc } from "../domain/Money.ts"
import { PaymentId } from "../domain/Payment.ts"
import type { SignedAuthorization } from "./Authorization.ts"

/** Another authorization is settling this payment, or has settled it. */
export class PaymentTaken extends Data.TaggedError("PaymentTaken") {}

export interface NewSettlement {
  readonly id: string
  readonly merchantId: MerchantId
  readonly env: Env
  readonly paymentId: PaymentId
  /** Whether the payment exists only for this settlement: it is opened with it. */
  readonly opensPayment: boolean
  readonly chainId: number
  readonly asset: Address
  readonly authorization: SignedAuthorization
  readonly resource: string
  readonly at: Date
  readonly nextLookAt: Date
}

export interface Settlement {
  readonly id: string
  readonly merchantId: MerchantId
  readonly env: Env
  readonly paymentId: PaymentId
  readonly opensPayment: boolean
  readonly authorization: SignedAuthorization
  readonly resource: string
  readonly status: "pending" | "settled" | "failed"
  readonly errorReason: string | null
  readonly transactionId: TransactionHash | null
  readonly createdAt: Date
}

const Row = Schema.Struct({
  id: Schema.String,
  merchant_id: MerchantId,
  env: Env,
  payment_id: PaymentId,
  opens_payment: Schema.Boolean,
  payer: AddressBytes,
  nonce: HashBytes,
  receiver: AddressBytes,
  amount: Schema.BigIntFromString,
  valid_after: Schema.BigIntFromString,
  valid_before: Schema.BigIntFromString,
  signature: Schema.Uint8Array,
  resource: Schema.String,
  status: Schema.Literals(["pending", "settled", "failed"]),
  error_reason: Schema.NullOr(Schema.String),
  transaction_id: Schema.NullOr(HashBytes),
  created_at: Schema.Date
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const toSettlement = (row: typeof Row.Type): Settlement => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  paymentId: row.payment_id,
  opensPayment: row.opens_payment,
  authorization: {
    from: row.payer,
    to: row.receiver,
    value: row.amount,
    validAfter: row.valid_after,
    validBefore: row.valid_before,
    nonce: row.nonce,
    signature: `0x${Buffer.from(row.signature).toString("hex")}`
  },
  resource: row.resource,
  status: row.status,
  errorReason: row.error_reason,
  transactionId: row.transaction_id,
  createdAt: row.created_at
})

const bytesOf = (hex: Hex): Uint8Array => Buffer.from(hex.slice(2), "hex")
const isUniqueViolation = (error: SqlError.SqlError) => error.reason._tag === "UniqueViolation"

export class SettlementRepo extends Context.Service<
  SettlementRepo,
  {
    /** The authorization's settlement: a new one, or the one that is known. */
    readonly register: (
      input: NewSettlement
    ) => Effect.Effect<{ readonly settlement: Settlement; readonly created: boolean }, PaymentTaken>
    readonly find: (
      chainId: number,
      asset: Address,
      payer: Address,
      nonce: Hex
    ) => Effect.Effect<Option.Option<Settlement>>
    readonly findById: (id: string) => Effect.Effect<Option.Option<Settlement>>
    /** The settlement that is paying, or has paid, a payment. */
    readonly findByPayment: (paymentId: PaymentId) => Effect.Effect<Option.Option<Settlement>>
    /** Opens a failed settlement anew; false where it is not failed (any more). */
    readonly revive: (id: string, nextLookAt: Date) => Effect.Effect<boolean, PaymentTaken>
    /** Notes under which transaction it is looked for. */
    readonly noteTransaction: (id: string, transactionId: TransactionHash) => Effect.Effect<void>
    /** Ends a pending settlement; a later outcome never overwrites an earlier one. */
    readonly finish: (
      id: string,
      outcome:
        | { readonly status: "settled"; readonly transactionId: TransactionHash }
        | { readonly status: "failed"; readonly errorReason: string },
      at: Date
    ) => Effect.Effect<void>
    /** Takes pending settlements that are due; each is out of other instances' sight until `leaseUntil`. */
    readonly takeDue: (at: Date, leaseUntil: Date, limit: number) => Effect.Effect<ReadonlyArray<Settlement>>
    readonly lookAgain: (id: string, at: Date) => Effect.Effect<void>
  }
>()("quittance/x402/SettlementRepo") {
  static readonly layer: Layer.Layer<SettlementRepo, never, SqlClient.SqlClient> = Layer.effect(
    SettlementRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const decode = (rows: ReadonlyArray<unknown>) =>
        Effect.map(decodeRows(rows), (all) => all.map(toSettlement))
      const first = (rows: ReadonlyArray<unknown>) =>
        Effect.map(decode(rows), ([one]) => Option.fromNullishOr(one))
      // numeric(78,0) and numeric(20,0) come as text from every driver this way.
      const columns = sql`id, merchant_id, env, payment_id, opens_payment, payer, nonce, receiver,
        amount::text AS amount, valid_after::text AS valid_after, valid_before::text AS valid_before,
        signature, resource, status, error_reason, transaction_id, created_at`

      const find = Effect.fn("SettlementRepo.find")(function* (
        chainId: number,
        asset: Address,
        payer: Address,
        nonce: Hex
      ) {
        const rows = yield* sql`
          SELECT ${columns} FROM x402_settlements
          WHERE chain_id = ${chainId} AND asset = ${toBytes(asset)} AND payer = ${toBytes(payer)}
            AND nonce = ${bytesOf(nonce)}`
        return yield* first(rows)
      }, Effect.orDie)

      return SettlementRepo.of({
        find,

        register: Effect.fn("SettlementRepo.register")(
          function* (input) {
            const { authorization } = input
            const rows = yield* sql`
            INSERT INTO x402_settlements
              (id, merchant_id, env, payment_id, opens_payment, chain_id, asset, payer, nonce, receiver, amount,
               valid_after, valid_before, signature, resource, status, created_at, next_look_at)
            VALUES (${input.id}, ${input.merchantId}, ${input.env}, ${input.paymentId}, ${input.opensPayment},
              ${input.chainId}, ${toBytes(input.asset)}, ${toBytes(authorization.from)},
              ${bytesOf(authorization.nonce)}, ${toBytes(authorization.to)},
              ${authorization.value.toString()}::numeric, ${authorization.validAfter.toString()}::numeric,
              ${authorization.validBefore.toString()}::numeric, ${bytesOf(authorization.signature)},
              ${input.resource}, 'pending', ${input.at}, ${input.nextLookAt})
            ON CONFLICT (chain_id, asset, payer, nonce) DO NOTHING
            RETURNING ${columns}`.pipe(
              Effect.catchIf(isUniqueViolation, () => Effect.fail(new PaymentTaken()))
            )
            const [created] = yield* decode(rows)
            if (created !== undefined) return { settlement: created, created: true }
            const known = yield* find(input.chainId, input.asset, authorization.from, authorization.nonce)
            if (Option.isNone(known)) return yield* Effect.die(new Error("A settlement row has vanished"))
            return { settlement: known.value, created: false }
          },
          Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die })
        ),

        findById: Effect.fn("SettlementRepo.findById")(function* (id) {
          return yield* first(yield* sql`SELECT ${columns} FROM x402_settlements WHERE id = ${id}`)
        }, Effect.orDie),

        findByPayment: Effect.fn("SettlementRepo.findByPayment")(function* (paymentId) {
          return yield* first(
            yield* sql`
              SELECT ${columns} FROM x402_settlements WHERE payment_id = ${paymentId} AND status <> 'failed'`
          )
        }, Effect.orDie),

        revive: Effect.fn("SettlementRepo.revive")(
          function* (id, nextLookAt) {
            const rows = yield* sql`
            UPDATE x402_settlements
            SET status = 'pending', error_reason = NULL, finished_at = NULL, next_look_at = ${nextLookAt}
            WHERE id = ${id} AND status = 'failed'
            RETURNING id`.pipe(Effect.catchIf(isUniqueViolation, () => Effect.fail(new PaymentTaken())))
            return rows.length > 0
          },
          Effect.catchTags({ SqlError: Effect.die })
        ),

        noteTransaction: Effect.fn("SettlementRepo.noteTransaction")(function* (id, transactionId) {
          yield* sql`
            UPDATE x402_settlements SET transaction_id = ${toBytes(transactionId)}
            WHERE id = ${id} AND status = 'pending'`
        }, Effect.orDie),

        finish: Effect.fn("SettlementRepo.finish")(function* (id, outcome, at) {
          yield* outcome.status === "settled"
            ? sql`
                UPDATE x402_settlements
                SET status = 'settled', transaction_id = ${toBytes(outcome.transactionId)}, error_reason = NULL,
                  finished_at = ${at}, next_look_at = NULL
                WHERE id = ${id} AND status <> 'settled'`
            : sql`
                UPDATE x402_settlements
                SET status = 'failed', error_reason = ${outcome.errorReason}, finished_at = ${at}, next_look_at = NULL
                WHERE id = ${id} AND status = 'pending'`
        }, Effect.orDie),

        takeDue: Effect.fn("SettlementRepo.takeDue")(function* (at, leaseUntil, limit) {
          const rows = yield* sql`
            UPDATE x402_settlements SET next_look_at = ${leaseUntil}
            WHERE id IN (
              SELECT id FROM x402_settlements WHERE next_look_at <= ${at}
              ORDER BY next_look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
            RETURNING ${columns}`
          return yield* decode(rows)
        }, Effect.orDie),

        lookAgain: Effect.fn("SettlementRepo.lookAgain")(function* (id, at) {
          yield* sql`UPDATE x402_settlements SET next_look_at = ${at} WHERE id = ${id} AND status = 'pending'`
        }, Effect.orDie)
      })
    })
  )
}

/** The amount of an authorization as a payment's. */
export const amountOf = ({ value }: SignedAuthorization): Option.Option<AtomicUsdc> =>
  Option.map(
    Option.liftPredicate((atomic: bigint) => atomic >= 1n && atomic <= 99_999_999_999_999_999_999n)(value),
    (atomic) => AtomicUsdc.make(atomic)
  )
