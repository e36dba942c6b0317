// A payment as the database holds it.
import { Schema } from "effect"
import { addressOf, hashOf } from "../chain/ChainBytes.ts"
import { Env } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"
import { AtomicUsdc } from "../domain/Money.ts"
import { FailureReason, PayerType, type Payment, PaymentId, PaymentStatus } from "../domain/Payment.ts"
import { TokenChange } from "../domain/TokenChange.ts"

/**
 * The row as the driver gives it: `numeric` as digits, `bytea` as bytes. Nothing is transformed
 * here: a check of 16 plain fields costs a fifth of one with transformations, which shows in
 * lists; `toPayment` makes the domain's values.
 */
export const PaymentRow = Schema.Struct({
  id: PaymentId,
  merchant_id: MerchantId,
  env: Env,
  status: PaymentStatus,
  amount: Schema.String,
  ref_code: Schema.String,
  intent_url: Schema.String,
  receiver: Schema.Uint8Array,
  payer_type: PayerType,
  created_at: Schema.Date,
  reported_at: Schema.NullOr(Schema.Date),
  transaction_id: Schema.NullOr(Schema.Uint8Array),
  payer_address: Schema.NullOr(Schema.Uint8Array),
  token_changes: Schema.NullOr(Schema.Array(TokenChange)),
  settled_at: Schema.NullOr(Schema.Date),
  failure_reason: Schema.NullOr(FailureReason)
})

/**
 * What `PaymentRow` is read from, named: a statement that Postgres has planned with `*` fails once a later
 * release adds a column.
 */
export const paymentColumns = (prefix = ""): string =>
  Object.keys(PaymentRow.fields)
    .map((column) => prefix + column)
    .join(", ")

/** `numeric(20,0)` arrives as a string of digits; the column's CHECK keeps it in range. */
export const toAmount = (digits: string): AtomicUsdc => AtomicUsdc.make(BigInt(digits), trusted)

export const toPayment = (row: typeof PaymentRow.Type): Payment => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  status: row.status,
  amount: toAmount(row.amount),
  refCode: row.ref_code,
  intentUrl: row.intent_url,
  receiver: addressOf(row.receiver),
  payerType: row.payer_type,
  createdAt: row.created_at,
  reported:
    row.reported_at === null ||
    row.transaction_id === null ||
    row.payer_address === null ||
    row.token_changes === null
      ? null
      : {
          at: row.reported_at,
          evidence: {
            transactionId: hashOf(row.transaction_id),
            payer: addressOf(row.payer_address),
            tokenChanges: row.token_changes
          }
        },
  settledAt: row.settled_at,
  failureReason: row.failure_reason
})

/**
 * Rows come from this service's own tables, whose CHECK constraints hold what the schemas'
 * filters would ask again: types are parsed, filters are not run a second time.
 */
export const ownRows = { disableChecks: true } as const

const trusted = { disableChecks: true } as const
