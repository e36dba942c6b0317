// A payment's database row.
import { Brand, Schema } from "effect"
import { addressFromBytes, hashFromBytes } from "../chain/ChainBytes.ts"
import { Env } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"
import type { AtomicUsdc } from "../domain/Money.ts"
import {
  FailureReason,
  PayerType,
  type Payment,
  PaymentId,
  PaymentStatus,
  type PaymentSummary
} from "../domain/Payment.ts"
import { TokenChange } from "../domain/TokenChange.ts"

/**
 * Like `Schema.NullOr` of a class. A union that tries its members costs four times as much, which is noticeable in
 * lists.
 */
const nullable = <T>(type: abstract new (...args: never) => T) =>
  Schema.declare((value): value is T | null => value === null || value instanceof type)

/**
 * The returned fields of a payment as the driver delivers them: `numeric` as digits, `bytea` as bytes. Nothing is
 * transformed here, which would take five times as long; `toSummary` creates the domain's values.
 */
export const SummaryRow = Schema.Struct({
  id: PaymentId,
  status: PaymentStatus,
  amount: Schema.String,
  ref_code: Schema.String,
  intent_url: Schema.String,
  payer_type: PayerType,
  created_at: Schema.Date,
  reported_at: nullable(Date),
  transaction_id: nullable(Uint8Array),
  payer_address: nullable(Uint8Array),
  settled_at: nullable(Date),
  failure_reason: Schema.NullOr(FailureReason)
})

/** The whole row. */
export const PaymentRow = Schema.Struct({
  ...SummaryRow.fields,
  merchant_id: MerchantId,
  env: Env,
  receiver: Schema.Uint8Array,
  opened_block: Schema.NullOr(Schema.BigInt),
  token_changes: Schema.NullOr(Schema.Array(TokenChange))
})

/** The columns of a row, listed by name: a prepared statement with `*` fails after a later release adds a column. */
const columnsOf =
  (row: { readonly fields: Readonly<Record<string, unknown>> }) =>
  (prefix = ""): string =>
    Object.keys(row.fields)
      .map((column) => prefix + column)
      .join(", ")
export const paymentColumns = columnsOf(PaymentRow)
export const summaryColumns = columnsOf(SummaryRow)

/** `numeric(20,0)` arrives as a string of digits; the column's CHECK keeps it in range. */
const toAmount = (digits: string): AtomicUsdc => inRange(BigInt(digits))
const inRange = Brand.nominal<AtomicUsdc>()

export const toSummary = (row: typeof SummaryRow.Type, env: Env): PaymentSummary => ({
  id: row.id,
  env,
  status: row.status,
  amount: toAmount(row.amount),
  refCode: row.ref_code,
  intentUrl: row.intent_url,
  payerType: row.payer_type,
  createdAt: row.created_at,
  reported:
    row.reported_at === null || row.transaction_id === null || row.payer_address === null
      ? null
      : {
          at: row.reported_at,
          evidence: {
            transactionId: hashFromBytes(row.transaction_id),
            payer: addressFromBytes(row.payer_address)
          }
        },
  settledAt: row.settled_at,
  failureReason: row.failure_reason
})

export const toPayment = (row: typeof PaymentRow.Type): Payment => {
  const { reported, ...summary } = toSummary(row, row.env)
  return {
    ...summary,
    merchantId: row.merchant_id,
    receiver: addressFromBytes(row.receiver),
    openedBlock: row.opened_block,
    reported:
      reported === null || row.token_changes === null
        ? null
        : { at: reported.at, evidence: { ...reported.evidence, tokenChanges: row.token_changes } }
  }
}

/**
 * Rows come from this service's own tables, whose CHECK constraints already enforce the schemas' filters. Types are
 * parsed; filters are not run again.
 */
export const ownRows = { disableChecks: true } as const
