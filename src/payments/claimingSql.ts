// SQL shared by settling a payment and moving its claim to another transfer: lock the transfer, check that it is free,
// and record its explanation. Each is part of a statement whose `locked_payment` is the payment.
import type { SqlClient, Statement } from "effect/sql"
import { toBytes } from "../chain/ChainBytes.ts"
import type { Address } from "../domain/Chain.ts"
import type { PaymentId } from "../domain/Payment.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import { attachLeaseMillis } from "./attachLeaseMillis.ts"
import { isShort } from "./isShortSql.ts"
import type { ClaimedTransfer } from "./PaymentRepo/PaymentStore.ts"

interface Claiming {
  readonly paymentId: PaymentId
  readonly payer: Address
  readonly transfer: ClaimedTransfer
  readonly at: Date
}

/** The transfer as it was read, locked: a person has resolved it before, or can no longer do so. */
export const lockedTransfer = (sql: SqlClient.SqlClient, { paymentId, payer, transfer }: Claiming) => sql`
  SELECT t.payment_id, t.handled_at, t.attached_to, ${isShort(sql, paymentId, sql`locked_url`)} AS is_short
  FROM locked_payment JOIN incoming_transfers t ON t.receiver = locked_receiver AND t.amount = locked_amount
  WHERE t.chain_id = ${transfer.chainId} AND t.transaction_id = ${toBytes(transfer.transactionId)}
    AND t.payer = ${toBytes(payer)} AND t.ordinal = ${transfer.ordinal}
  FOR NO KEY UPDATE OF t`

/** True if no claim names another block for the transaction, and nobody has explained `locked_transfer` otherwise. */
export const isClaimable = (sql: SqlClient.SqlClient, { at, paymentId, transfer }: Claiming) => sql`
  NOT EXISTS (
    SELECT 1 FROM claimed_transfers o
    WHERE o.chain_id = ${transfer.chainId} AND o.transaction_id = ${toBytes(transfer.transactionId)}
      AND o.block_hash <> ${toBytes(transfer.blockHash)})
  AND NOT EXISTS (
    SELECT 1 FROM locked_transfer t
    WHERE t.payment_id IS NULL AND (t.is_short OR (t.handled_at IS NOT NULL AND (t.attached_to IS NULL
      OR (t.attached_to <> ${paymentId}::uuid
        AND t.handled_at > ${plusMillis(at, -attachLeaseMillis)}::timestamptz)))))`

/** Explains a transfer by the claim `c` of `claims`. */
export const explainTransfer = (
  sql: SqlClient.SqlClient,
  claims: Statement.Fragment,
  merchantId: Statement.Fragment
) => sql`
  UPDATE incoming_transfers t SET payment_id = c.payment_id, merchant_id = ${merchantId}, match_at = NULL,
    -- An attachment to another payment that a person began and did not complete does not count.
    handled_at = CASE WHEN t.attached_to = c.payment_id THEN t.handled_at END,
    handled_by = CASE WHEN t.attached_to = c.payment_id THEN t.handled_by END,
    note = CASE WHEN t.attached_to = c.payment_id THEN t.note END,
    attached_to = CASE WHEN t.attached_to = c.payment_id THEN t.attached_to END
  FROM ${claims}
  WHERE t.chain_id = c.chain_id AND t.transaction_id = c.transaction_id AND t.payer = c.payer
    AND t.receiver = c.receiver AND t.amount = c.amount AND t.ordinal = c.ordinal
  RETURNING t.id`
