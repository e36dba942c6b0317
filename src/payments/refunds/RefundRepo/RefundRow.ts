// A refund's row.
import { Effect, Schema } from "effect"
import { AddressBytes, HashBytes } from "../../../chain/ChainBytes.ts"
import { Env } from "../../../domain/Chain.ts"
import { MerchantId, Uuid } from "../../../domain/Merchant.ts"
import { AtomicUsdc } from "../../../domain/Money.ts"
import { PaymentId } from "../../../domain/Payment.ts"
import { RefundFailure, RefundStatus } from "../../../domain/Refund.ts"
import type { Refund } from "./RefundStore.ts"

const RefundRow = Schema.Struct({
  id: Uuid,
  merchant_id: MerchantId,
  env: Env,
  payment_id: Schema.NullOr(PaymentId),
  transfer_id: Schema.NullOr(Uuid),
  amount: Schema.BigIntFromString.pipe(Schema.decodeTo(AtomicUsdc)),
  recipient: AddressBytes,
  since_block: Schema.BigInt,
  beyond_paid: Schema.Boolean,
  reason: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.Date,
  created_block: Schema.NullOr(Schema.BigInt),
  status: RefundStatus,
  transaction_id: Schema.NullOr(HashBytes),
  named_at: Schema.NullOr(Schema.Date),
  sender: Schema.NullOr(AddressBytes),
  ordinal: Schema.NullOr(Schema.Int),
  block_number: Schema.NullOr(Schema.BigInt),
  block_hash: Schema.NullOr(HashBytes),
  proven_at: Schema.NullOr(Schema.Date),
  ended_at: Schema.NullOr(Schema.Date),
  failure_reason: Schema.NullOr(RefundFailure),
  dropped_at: Schema.NullOr(Schema.Date)
})

/** The columns of a refund's row, for `SELECT` and `RETURNING`. */
export const refundColumns = (prefix = "") =>
  Object.keys(RefundRow.fields)
    .map((column) => prefix + column)
    .join(", ")
const decodeRefunds = Schema.decodeUnknownEffect(Schema.Array(RefundRow))

const toRefund = (row: typeof RefundRow.Type): Refund => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  paymentId: row.payment_id,
  transferId: row.transfer_id,
  amount: row.amount,
  recipient: row.recipient,
  sinceBlock: row.since_block,
  beyondPaid: row.beyond_paid,
  reason: row.reason,
  createdBy: row.created_by,
  createdAt: row.created_at,
  createdBlock: row.created_block,
  status: row.status,
  transactionId: row.transaction_id,
  reportedAt: row.named_at,
  sender: row.sender,
  ordinal: row.ordinal,
  blockNumber: row.block_number,
  blockHash: row.block_hash,
  provenAt: row.proven_at,
  endedAt: row.ended_at,
  failureReason: row.failure_reason,
  droppedAt: row.dropped_at
})

/** Reads the rows of a statement. */
export const decodeRefundRows = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
  Effect.flatMap(statement, decodeRefunds).pipe(Effect.map((rows) => rows.map(toRefund)))
