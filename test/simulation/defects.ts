// Defects that the simulation must find, each by one small change: guards whose absence turns a race, a reorganisation
// or a crash into a loss of money.

export interface Defect {
  readonly name: string
  /** A seed that finds it, if one is recorded. A change of the world or of the product may move it. */
  readonly seed?: number
  readonly file: string
  readonly from: string
  readonly to: string
}

export const defects: ReadonlyArray<Defect> = [
  {
    name: "a settlement needs one block too few",
    seed: 2,
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "head - blockNumber >= BigInt(confirmations)",
    to: "head - blockNumber >= BigInt(confirmations - 1)"
  },
  {
    name: "the first node decides, not the majority",
    seed: 4,
    file: "src/chain/RpcPool.ts",
    from: "const winner = [...groups.values()].find((members) => members.length >= majority)",
    to: "const winner = [...groups.values()].find((members) => members.length >= 1)"
  },
  {
    name: "the second retry comes after a minute, like the first",
    seed: 2,
    file: "src/webhooks/RetryPolicy.ts",
    from: 'afterDelays("1 minute", "4 minutes")',
    to: 'afterDelays("1 minute", "1 minute")'
  },
  {
    name: "any 3xx counts as accepted",
    seed: 2,
    file: "src/webhooks/WebhookSender/SendOutcome.ts",
    from: "status < 300",
    to: "status < 400"
  },
  {
    name: "an accepted delivery is recorded as refused",
    seed: 2,
    file: "src/webhooks/DeliveryWorker/Attempts.ts",
    from: "if (answered?.ok === true)",
    to: "if (answered?.ok === false)"
  },
  {
    name: "anybody signs for a wallet",
    seed: 7,
    file: "src/x402/Facilitator/judgements.ts",
    from: 'if (!signed) return "invalid_exact_evm_signature"',
    to: "void signed"
  },
  {
    name: "a late payment is never settled",
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: "AND p.status IN ('pending', 'failed') FOR NO KEY UPDATE",
    to: "AND p.status = 'pending' FOR NO KEY UPDATE"
  },
  {
    name: "a settlement queues no webhook",
    seed: 2,
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: "ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL\n      ), deleted_reports",
    to: "ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL WHERE false\n      ), deleted_reports"
  },
  {
    name: "transfers of replaced blocks are not dropped",
    file: "src/payments/TransferRepo/chainReadingSql.ts",
    from: "match_at = NULL\n          FROM advanced_cursor WHERE",
    to: "match_at = NULL\n          FROM advanced_cursor WHERE false AND"
  },
  {
    name: "a reported payment fails by its age",
    seed: 7,
    file: "src/payments/PaymentRepo/reconcilerSql.ts",
    from: `WHERE r.payment_id = p.id\n            AND (p.env <> ALL (\${executing}::text[]) OR`,
    to: `WHERE r.payment_id = p.id\n            AND false AND (p.env <> ALL (\${executing}::text[]) OR`
  },
  {
    name: "a leased delivery whose sender dies is never sent again",
    seed: 2,
    file: "src/webhooks/WebhookRepo/leasesSql.ts",
    from: `SET due_at = \${lease.leaseUntil}, claimed_by`,
    to: "SET due_at = NULL, claimed_by"
  },
  {
    name: "a wallet is told to pay while its transfer is still to be matched",
    file: "src/payments/AttemptRepo.ts",
    from: `WHERE \${isUnclaimed(of)} AND t.match_at IS NOT NULL`,
    to: "WHERE false AND t.match_at IS NOT NULL"
  },
  {
    name: "a transfer that was sent for a refund is not looked for",
    file: "src/payments/refunds/RefundRepo.ts",
    from: "ORDER BY t.block_number, t.ordinal LIMIT 10",
    to: "ORDER BY t.block_number, t.ordinal LIMIT 0"
  },
  {
    name: "the block of a settled payment is not looked at again",
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: `\${toBytes(transfer.blockHash)}::bytea, \${times.watchAt}::timestamptz`,
    to: `\${toBytes(transfer.blockHash)}::bytea, NULL::timestamptz`
  },
  {
    name: "a payment that the chain has lost may be given back",
    file: "src/payments/refunds/RefundRepo/refundCreationSql.ts",
    from: "WHEN p.status <> 'settled' OR c.dropped_at IS NOT NULL THEN '0'",
    to: "WHEN p.status <> 'settled' THEN '0'"
  },
  {
    name: "two browsers may both pay",
    file: "src/payments/AttemptRepo.ts",
    from: `WHERE id = \${attempt.id} AND payment_id = \${of.paymentId} AND payer_address = \${payer}
          AND closed_at IS NULL`,
    to: `WHERE payment_id = \${of.paymentId} AND payer_address = \${payer}
          AND closed_at IS NULL`
  }
]
