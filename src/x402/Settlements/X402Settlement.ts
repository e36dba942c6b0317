// The settlement of a signed authorization, and its row.
import { Effect, Option, Schema } from "effect"
import { AddressBytes, HashBytes } from "../../chain/ChainBytes.ts"
import { Env, type TransactionHash } from "../../domain/Chain.ts"
import { MerchantId } from "../../domain/Merchant.ts"
import { AtomicUsdc } from "../../domain/Money.ts"
import { PayerType, PaymentId } from "../../domain/Payment.ts"
import { type SettleReason, StoredSettleReason } from "../../domain/SettleReason.ts"
import type { SignedAuthorization } from "../Authorization.ts"

export interface X402Settlement {
  readonly id: string
  readonly merchantId: MerchantId
  readonly env: Env
  readonly paymentId: PaymentId
  readonly opensPayment: boolean
  readonly payerType: PayerType
  readonly authorization: SignedAuthorization
  readonly resource: string
  readonly status: "pending" | "settled" | "failed"
  readonly errorReason: SettleReason | null
  /** The reason returned for a pending settlement, while the chain may still decide otherwise. */
  readonly reportedReason: SettleReason | null
  readonly transactionId: TransactionHash | null
  readonly createdAt: Date
  /** The time at which a caller received the success, and that caller's idempotency key. */
  readonly answered: { readonly at: Date; readonly to: string | null } | null
}

const Row = Schema.Struct({
  id: Schema.String,
  merchant_id: MerchantId,
  env: Env,
  payment_id: PaymentId,
  opens_payment: Schema.Boolean,
  payer_type: PayerType,
  payer: AddressBytes,
  nonce: HashBytes,
  receiver: AddressBytes,
  amount: Schema.BigIntFromString,
  valid_after: Schema.BigIntFromString,
  valid_before: Schema.BigIntFromString,
  signature: Schema.Uint8Array,
  resource: Schema.String,
  status: Schema.Literals(["pending", "settled", "failed"]),
  error_reason: Schema.NullOr(StoredSettleReason),
  told_reason: Schema.NullOr(StoredSettleReason),
  transaction_id: Schema.NullOr(HashBytes),
  created_at: Schema.Date,
  answered_at: Schema.NullOr(Schema.Date),
  answered_to: Schema.NullOr(Schema.String)
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

/** The columns of `Row`: as text, numeric(78,0) and numeric(20,0) look the same with every driver. */
export const settlementColumns = `id, merchant_id, env, payment_id, opens_payment, payer_type, payer, nonce, receiver,
  amount::text AS amount, valid_after::text AS valid_after, valid_before::text AS valid_before,
  signature, resource, status, error_reason, told_reason, transaction_id, created_at, answered_at, answered_to`

const toSettlement = (row: typeof Row.Type): X402Settlement => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  paymentId: row.payment_id,
  opensPayment: row.opens_payment,
  payerType: row.payer_type,
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
  reportedReason: row.told_reason,
  transactionId: row.transaction_id,
  createdAt: row.created_at,
  answered: row.answered_at === null ? null : { at: row.answered_at, to: row.answered_to }
})

export const decodeSettlements = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeRows(rows), (all) => all.map(toSettlement))

/** The time for which a success is repeated to the same caller. */
export const repeatedMillis = 10 * 60_000

/** True if the caller may receive the success: it is delivered once, and repeated under the same key. */
export const isDeliverable = (
  { answered }: X402Settlement,
  idempotencyKey: string | undefined,
  at: Date
): boolean =>
  answered === null ||
  (idempotencyKey !== undefined &&
    answered.to === idempotencyKey &&
    at.getTime() - answered.at.getTime() < repeatedMillis)

/** An authorization's amount as a payment's amount; none if it is out of range. */
export const amountOf = ({ value }: SignedAuthorization): Option.Option<AtomicUsdc> =>
  Option.map(
    Option.liftPredicate((atomic: bigint) => atomic >= 1n && atomic <= 99_999_999_999_999_999_999n)(value),
    (atomic) => AtomicUsdc.make(atomic)
  )
