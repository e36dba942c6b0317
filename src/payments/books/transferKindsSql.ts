// SQL that classifies a transfer `t` in the books.

export const incomingKind = `CASE WHEN t.payment_id IS NOT NULL THEN 'payment' WHEN t.handled_at IS NOT NULL
  AND t.attached_to IS NULL THEN 'handled' ELSE 'unexplained' END`

/** Joins an outgoing transfer's refund as `c.refund_id`. */
export const joinRefundClaim = `
  LEFT JOIN claimed_transfers c ON c.chain_id = t.chain_id AND c.transaction_id = t.transaction_id
    AND c.payer = t.payer AND c.receiver = t.receiver AND c.amount = t.amount AND c.ordinal = t.ordinal
    AND c.refund_id IS NOT NULL`
