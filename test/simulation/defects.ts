// Defects that the simulation must find, each by one small change: guards without which a race, a reorganisation or a
// crash costs money.

export interface Defect {
  readonly name: string
  /** A seed that finds it, if one is recorded. A change of the world or of the product may move it. */
  readonly seed?: number
  readonly file: string
  readonly from: string
  readonly to: string
  /** Further changes: mostly a second line of defence. */
  readonly also?: ReadonlyArray<Pick<Defect, "file" | "from" | "to">>
}

export const defects: ReadonlyArray<Defect> = [
  {
    name: "a buyer's token is good for every payment",
    file: "src/payments/Payments/provenPayer.ts",
    from: "return boundOnly || merchant.boundTokensOnly || isOthers",
    to: "return merchant.boundTokensOnly && isOthers"
  },
  {
    name: "a settlement needs one block too few",
    seed: 2,
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "  if (confirmations < required) return",
    to: "  if (confirmations < required - 1) return"
  },
  {
    name: "a transfer from before a payment pays it",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "if (age !== undefined) return mismatch(age)",
    to: ""
  },
  {
    name: "the first node decides, not the majority",
    seed: 4,
    file: "src/chain/RpcPool.ts",
    from: "const winner = [...groups.values()].find((members) => members.length >= majority)",
    to: "const winner = [...groups.values()].find((members) => members.length >= 1)"
  },
  {
    name: "the reader of the chain does not notice a reorganisation",
    file: "src/payments/TransferWatch.ts",
    from: "if (reading.parentHash !== from.blockHash) {",
    to: "if (reading.parentHash === from.parentHash) {"
  },
  {
    name: "the second retry comes after a minute, like the first",
    seed: 2,
    file: "src/webhooks/RetryPolicy.ts",
    from: 'Schedule.exponential("1 minute", 4)',
    to: 'Schedule.exponential("1 minute", 1)'
  },
  {
    name: "any 3xx counts as accepted",
    seed: 2,
    file: "src/webhooks/WebhookSender/SendOutcome.ts",
    from: "status < 300",
    to: "status < 400"
  },
  {
    name: "two equal transfers of one transaction have one webhook id",
    file: "src/payments/PaymentRepo/deliveryIdOf.ts",
    from: "const { chainId, transactionId, payer, receiver, value, ordinal } = transfer",
    to: "const { chainId, transactionId, payer, receiver, value } = transfer; const ordinal = 0"
  },
  {
    name: "an authorization is sent although its payment is closed",
    file: "src/x402/Relayer/RelayerRepo.ts",
    from: 'if (purpose === "settle" && !(yield* mayMove(reference, at))) return { _tag: "Closed" }',
    to: ""
  },
  {
    name: "an authorization is taken beside its payer's own transfer",
    file: "src/x402/Settlements/SettlementRepo.ts",
    from: "ownTransferStands(sql, from, movedBy)",
    to: "sql.literal('false')"
  },
  {
    name: "a wallet is told to pay beside its own signature",
    file: "src/payments/AttemptRepo.ts",
    from: "s.status = 'pending' AND (s.reserves OR",
    to: "false AND (s.reserves OR"
  },
  {
    name: "one x402 payment is served any number of times",
    file: "src/x402/Facilitator/settling.ts",
    from: "(yield* repo.deliver(settlement.id, identity, yield* DateTime.nowAsDate))",
    to: "(yield* Effect.as(repo.deliver(settlement.id, identity, yield* DateTime.nowAsDate), true))"
  },
  {
    name: "a known authorization pays for any request",
    file: "src/x402/Facilitator/judgements.ts",
    from: "if (wrong !== undefined) return { reason: wrong }\n    if (!isSame(known, account, exact, requirements)) return used",
    to: "if (wrong === undefined && !isSame(known, account, exact, requirements)) return used"
  },
  {
    name: "an authorization fails, and is forgotten, while it can still move",
    seed: 12,
    file: "src/x402/Settlements.ts",
    from: "yield* repo.release(settlement.id, reason)",
    to: 'yield* repo.finish(settlement.id, { status: "failed", errorReason: reason }, yield* DateTime.nowAsDate)'
  },
  {
    name: "a stored transaction is never broadcast again",
    file: "src/chain/wallets/Outbox.ts",
    from: "if (age < millis(timing.sendAgainAfter)) return",
    to: "if (age >= 0) return"
  },
  {
    name: "a day's cap counts used signatures only",
    file: "src/x402/agents/AgentRepo/spentSql.ts",
    from: "FILTER (WHERE p.status = 'reserved'\n    OR (",
    to: "FILTER (WHERE (false\n    OR "
  },
  {
    name: "a merchant's gas has no budget",
    file: "src/x402/Relayer/RelayerRepo.ts",
    from: 'if (usage.merchant + gas > budgets.gasPerMerchant) return "merchant"',
    to: ""
  },
  {
    name: "the fee of a stuck transaction grows without end",
    file: "src/chain/wallets/Outbox/fees.ts",
    from: 'if (!blocksCome || state.price <= old.maxFeePerGas) return "keep"',
    to: "",
    also: [
      {
        file: "src/chain/wallets/Outbox/fees.ts",
        from: "within(fees.maxFeePerGas * highest, {",
        to: "within(old.maxFeePerGas * highest, {"
      }
    ]
  },
  {
    name: "a signature that others have used counts as a transfer beside itself",
    file: "src/x402/Settlements/ownTransferStandsSql.ts",
    from: "t.transaction_id IS DISTINCT FROM",
    to: "t.payer IS DISTINCT FROM",
    also: [
      {
        file: "src/payments/TransferWatch/matchTransfer.ts",
        from: "const asked = nonces.length === 0 ? [] : yield* transferRepo.askedBy(transfer, nonces)",
        to: "const asked = yield* transferRepo.askedBy(transfer, [])"
      }
    ]
  },
  {
    name: "a transfer is offered to a less likely payment while a node fails",
    file: "src/payments/TransferWatch/matchTransfer.ts",
    from: 'return "waiting"\n    }\n    return "unmatched"\n  })\n\n  /**',
    to: 'continue\n    }\n    return "unmatched"\n  })\n\n  /**'
  },
  {
    name: "a report is answered as settled although nothing was stored",
    file: "src/payments/Payments/evidenceCheck.ts",
    from: 'if (Option.isSome(settled.success)) return { _tag: "Settled", payment: settled.success.value }',
    to: 'return { _tag: "Settled", payment: Option.getOrElse(settled.success, () => ({ ...payment, status: "settled" as const })) }'
  },
  {
    name: "a settled payment is reported again with other evidence, and answered as settled",
    file: "src/domain/Payment.ts",
    from: '? "replay" : "conflict"',
    to: '? "replay" : "replay"'
  },
  {
    name: "what a report declares is not compared with the chain",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "if (!sameTokenChanges(expectation.tokenChanges, [shown])) {",
    to: "if (expectation.amount === 0n) {"
  },
  {
    name: "anybody's transfer to the shop pays a payment",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "      sameAddress(transfer.from, expectation.payer) &&\n",
    to: ""
  },
  {
    name: "a settled transfer is gone when a node lags behind it",
    file: "src/chain/ChainVerifier/Agreement.ts",
    from: "return agreement.head >= settled.blockNumber",
    to: "return agreement.head >= 0n"
  },
  {
    name: "mined transactions of the relaying wallet stay open",
    file: "src/chain/wallets/Outbox.ts",
    from: "    if (transaction.nonce < next) {\n",
    to: "    if (transaction.nonce < next) {\n      if (head > 0n) return\n"
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
    seed: 2,
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
    name: "a transfer settles any number of payments",
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: "FROM settled\n        RETURNING chain_id",
    to: "FROM settled WHERE NOT EXISTS (\n        SELECT 1 FROM claimed_transfers c WHERE c.transaction_id = settled.transaction_id)\n        RETURNING chain_id"
  },
  {
    name: "a settlement queues no webhook",
    seed: 2,
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: "ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL\n      ), dropped",
    to: "ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL WHERE false\n      ), dropped"
  },
  {
    name: "transfers of replaced blocks are not dropped",
    file: "src/payments/TransferRepo/chainReadingSql.ts",
    from: "match_at = NULL\n          FROM moved WHERE",
    to: "match_at = NULL\n          FROM moved WHERE false AND"
  },
  {
    name: "more may be given back than was paid",
    file: "src/payments/refunds/RefundRepo/refundCreationSql.ts",
    from: "if (!refund.beyondPaid && balance.refunded + refund.amount > balance.paid)",
    to: "if (refund.amount > balance.paid)"
  },
  {
    name: "a reported payment fails by its age",
    file: "src/payments/PaymentRepo/reconcilerSql.ts",
    from: `WHERE r.payment_id = p.id\n            AND (p.env <> ALL (\${executing}::text[]) OR`,
    to: `WHERE r.payment_id = p.id\n            AND false AND (p.env <> ALL (\${executing}::text[]) OR`
  },
  {
    name: "a claimed delivery whose sender dies is never sent again",
    seed: 2,
    file: "src/webhooks/WebhookRepo/claimsSql.ts",
    from: `SET due_at = \${claim.leaseUntil}, claimed_by`,
    to: "SET due_at = NULL, claimed_by"
  },
  {
    name: "a wallet is told to pay while its transfer is still to be matched",
    file: "src/payments/AttemptRepo.ts",
    from: `WHERE \${unclaimed(of)} AND t.match_at IS NOT NULL`,
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
