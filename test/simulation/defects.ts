// Defects to put back, each by one small patch, which the simulation must notice: guards without which a
// race, a reorganisation or a crash costs money.

export interface Defect {
  readonly name: string
  /** Where it shows: memory unless told. */
  readonly store?: "sql"
  readonly file: string
  readonly from: string
  readonly to: string
  /** What else it takes: mostly a second line of defence. */
  readonly also?: ReadonlyArray<Pick<Defect, "file" | "from" | "to">>
}

export const defects: ReadonlyArray<Defect> = [
  {
    name: "a reported payment fails by its age alone, whatever the chain has last shown",
    file: "src/payments/PaymentRepo/reconcilerMemory.ts",
    from: "if (kept.some((one) => one.reportedAt >= reportedBefore || one.nextCheckAt !== null)) continue",
    to: ""
  },
  {
    name: "payments expire by the clock, before their blocks are read and buyers can report",
    file: "src/payments/Reconciler.ts",
    from: "openedBefore: { test: before(new Date(Math.min(read.getTime(), at.getTime()))), live: before(at) },",
    to: "openedBefore: { test: before(at), live: before(at) },"
  },
  {
    name: "what is paid late is never settled",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: 'if (payment === undefined || payment.status === "settled") return Option.none()',
    to: 'if (payment === undefined || payment.status !== "pending") return Option.none()'
  },
  {
    name: "a buyer's token is good for every payment",
    file: "src/payments/Payments/provenPayer.ts",
    from: "return boundOnly || merchant.boundTokensOnly || isOthers",
    to: "return merchant.boundTokensOnly && isOthers"
  },
  {
    name: "a claim is of a log's position, which a reorganisation moves",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "      transfer.ordinal\n    ].join",
    to: "      transfer.logPosition\n    ].join"
  },
  {
    name: "whether a transfer is too old goes by our clock alone, which may be ahead",
    file: "src/payments/Payments/evidenceCheck.ts",
    from: "const since =\n      known.sinceBlock === undefined ? openedSince(payment, null) : { sinceBlock: known.sinceBlock }",
    to: "const since: { readonly sinceBlock?: bigint } = {}"
  },
  {
    name: "a settlement needs a block less than it should",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "  if (confirmations < required) return",
    to: "  if (confirmations < required - 1) return"
  },
  {
    name: "what came before a payment pays it",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "if (age !== undefined) return mismatch(age)",
    to: ""
  },
  {
    name: "a transfer settles any number of payments",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "if (claims.has(key)) return yield* new TransferAlreadyUsed()",
    to: ""
  },
  {
    name: "a settled payment is settled again",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: 'if (payment === undefined || payment.status === "settled") return Option.none()',
    to: "if (payment === undefined) return Option.none()"
  },
  {
    name: "the first node decides, not the majority",
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
    name: "transfers of replaced blocks are not dropped",
    file: "src/payments/PaymentRepo/chainReadingMemory.ts",
    from: "transfers.set(key, { ...one, droppedAt: lease.at, matchAt: null })",
    to: ""
  },
  {
    name: "two browsers are both told to pay",
    file: "src/payments/PaymentRepo/attemptsMemory.ts",
    from: "if (open !== undefined) return open.id === attempt.id ? Option.some(open) : Option.none()",
    to: "if (open?.id === attempt.id) return Option.some(open)"
  },
  {
    name: "a wallet is told to pay while its money is still to be matched",
    file: "src/payments/PaymentRepo/attemptsMemory.ts",
    from: "if (known.unclaimed(payment, attempt.payer).some(({ isUndecided }) => isUndecided))\n            return Option.none()",
    to: ""
  },
  {
    name: "a transfer is matched, or given to a person, although no node has said who sent it",
    file: "src/payments/TransferWatch/matchTransfer.ts",
    from: "const mayHear = sender === undefined && isRecent",
    to: "const mayHear = sender === undefined && age < 0"
  },
  {
    name: "an outcome is recorded under a claim that was lost",
    file: "src/webhooks/WebhookRepo/claimsMemory.ts",
    from: "if (found?.claimId !== claimed.claimId) return []",
    to: "if (found === undefined) return []"
  },
  {
    name: "the second retry comes after a minute as well",
    file: "src/webhooks/DeliveryWorker/RetryPolicy.ts",
    from: 'Schedule.exponential("1 minute", 4)',
    to: 'Schedule.exponential("1 minute", 1)'
  },
  {
    name: "a failed delivery makes four attempts",
    file: "src/webhooks/DeliveryWorker/RetryPolicy.ts",
    from: "{ times: 2 }",
    to: "{ times: 3 }"
  },
  {
    name: "a claimed delivery whose sender dies is never sent again",
    file: "src/webhooks/WebhookRepo/claimsMemory.ts",
    from: "      dueAt: leaseUntil,",
    to: "      dueAt: null,"
  },
  {
    name: "a settlement queues no webhook",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "yield* webhooks.enqueueSettled(payment, payment.id, telling, settlement.at)",
    to: ""
  },
  {
    name: "the webhook is queued by a statement after the settlement's",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "yield* webhooks.enqueueSettled(payment, payment.id, telling, settlement.at)",
    to: 'yield* Effect.forkDetach(Effect.andThen(Effect.sleep("20 millis"), webhooks.enqueueSettled(payment, payment.id, telling, settlement.at)))'
  },
  {
    name: "any 3xx counts as accepted",
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
    name: "an authorization is sent whatever its payment has come to",
    store: "sql",
    file: "src/x402/Relayer/RelayerRepo.ts",
    from: 'if (purpose === "settle" && !(yield* mayMove(reference, at))) return { _tag: "Closed" }',
    to: ""
  },
  {
    name: "an authorization is taken beside its payer's own transfer",
    store: "sql",
    file: "src/x402/Settlements/SettlementRepo.ts",
    from: "ownTransferStands(sql, from, movedBy)",
    to: "sql.literal('false')"
  },
  {
    name: "a wallet is told to pay beside its own signature",
    store: "sql",
    file: "src/payments/PaymentRepo/attemptsSql.ts",
    from: "s.status = 'pending' AND (s.reserves OR",
    to: "false AND (s.reserves OR"
  },
  {
    name: "one x402 payment is served any number of times",
    store: "sql",
    file: "src/x402/Facilitator/settling.ts",
    from: "(yield* repo.deliver(settlement.id, identity, yield* DateTime.nowAsDate))",
    to: "(yield* Effect.as(repo.deliver(settlement.id, identity, yield* DateTime.nowAsDate), true))"
  },
  {
    name: "a known authorization pays whatever is asked",
    store: "sql",
    file: "src/x402/Facilitator/judgements.ts",
    from: "if (wrong !== undefined) return { reason: wrong }\n    if (!isSame(known, account, exact, requirements)) return used",
    to: "if (wrong === undefined && !isSame(known, account, exact, requirements)) return used"
  },
  {
    name: "an authorization is told failed, and forgotten, while it can still move",
    store: "sql",
    file: "src/x402/Settlements.ts",
    from: "yield* repo.release(settlement.id, reason)",
    to: 'yield* repo.finish(settlement.id, { status: "failed", errorReason: reason }, yield* DateTime.nowAsDate)'
  },
  {
    name: "payments expire while their authorization is on its way",
    store: "sql",
    file: "src/payments/PaymentRepo/reconcilerSql.ts",
    from: "SELECT 1 FROM x402_settlements s WHERE s.payment_id = p.id AND s.status = 'pending')",
    to: "SELECT 1 FROM x402_settlements s WHERE false)"
  },
  {
    name: "what was stored and not broadcast is never broadcast",
    store: "sql",
    file: "src/wallets/Outbox.ts",
    from: "if (age < millis(timing.sendAgainAfter)) return",
    to: "if (age >= 0) return"
  },
  {
    name: "a day's cap counts what is used, not what is signed",
    store: "sql",
    file: "src/agents/AgentRepo/spentSql.ts",
    from: "FILTER (WHERE p.status = 'reserved'\n    OR (",
    to: "FILTER (WHERE (false\n    OR "
  },
  {
    name: "a merchant's gas has no budget",
    store: "sql",
    file: "src/x402/Relayer/RelayerRepo.ts",
    from: 'if (usage.merchant + gas > budgets.gasPerMerchant) return "merchant"',
    to: ""
  },
  {
    name: "the fee of what no block takes grows without end",
    store: "sql",
    file: "src/wallets/Outbox/fees.ts",
    from: 'if (!blocksCome || state.price <= old.maxFeePerGas) return "keep"',
    to: "",
    also: [
      {
        file: "src/wallets/Outbox/fees.ts",
        from: "within(fees.maxFeePerGas * highest, {",
        to: "within(old.maxFeePerGas * highest, {"
      }
    ]
  },
  {
    name: "a signature that others have used counts as a transfer beside itself",
    store: "sql",
    file: "src/x402/Settlements/ownTransferStandsSql.ts",
    from: "t.transaction_id IS DISTINCT FROM",
    to: "t.payer IS DISTINCT FROM",
    also: [
      {
        file: "src/payments/TransferWatch/matchTransfer.ts",
        from: "const asked = nonces.length === 0 ? [] : yield* repo.askedBy(transfer, nonces)",
        to: "const asked = yield* repo.askedBy(transfer, [])"
      }
    ]
  },
  {
    name: "an attempt ends with its nonce, while its wallet's prompt may be open",
    file: "src/payments/PaymentAttempts/attemptEndOf.ts",
    from: "const mayBeAsked = sent === undefined && now < attempt.announcedAt.getTime() + promptMillis",
    to: "const mayBeAsked = now < 0"
  },
  {
    name: "a transfer is offered to a less likely payment while a node fails",
    file: "src/payments/TransferWatch/matchTransfer.ts",
    from: 'return "waiting"\n    }\n    return "unmatched"\n  })\n\n  /**',
    to: 'continue\n    }\n    return "unmatched"\n  })\n\n  /**'
  },
  {
    name: "an attempt that was declined lends its nonce to the next one",
    file: "src/payments/TransferWatch/matchOrder.ts",
    from: "const open = (named.length > 0 ? named : attempts).filter(({ ended }) => ended === null)",
    to: "const open = attempts.filter(({ ended }) => ended === null)"
  },
  {
    name: "what nobody pays never expires",
    file: "src/payments/Reconciler.ts",
    from: "if (at.getTime() - startedAt.getTime() < graceMillis) return false",
    to: "if (at.getTime() > 0) return false"
  },
  {
    name: "a transfer settles the newest of two equal payments while no node says who sent it",
    file: "src/payments/TransferWatch/matchTransfer.ts",
    from: "if (mayHear && firstDependsOnSender(transfer, matches)) return yield* later",
    to: ""
  },
  {
    name: "the checkout sends again with another nonce, and the service does not hold it to the first",
    file: "src/checkout/component/Checkout/payByTransfer.ts",
    from: "? earlier.nonce\n        : undefined",
    to: "? start.nonce\n        : undefined",
    also: [
      {
        file: "src/payments/PaymentRepo/attemptsMemory.ts",
        from: "if (open !== undefined) return open.id === attempt.id ? Option.some(open) : Option.none()",
        to: "if (open !== undefined) return open.id === attempt.id ? Option.some({ ...open, nonce: attempt.nonce }) : Option.none()"
      }
    ]
  },
  {
    name: "the checkout sends without a look at what its other tabs have on record, of which it hears nothing",
    file: "src/checkout/component/Checkout/payByTransfer.ts",
    from: "if (earlier !== undefined && (!again || earlier.hash !== null)) {",
    to: 'if (earlier !== undefined && earlier.id === "") {',
    also: [
      {
        file: "src/checkout/component/Checkout.ts",
        from: 'if (attempt !== undefined) this.send({ type: "AttemptSeen", attempt })',
        to: "void attempt"
      }
    ]
  },
  {
    name: "the checkout keeps no record of what it asks the wallet for",
    file: "src/checkout/component/attempt.ts",
    from: "    localStorage.setItem(prefix + attempt.paymentId, text)\n    return localStorage.getItem(prefix + attempt.paymentId) === text",
    to: '    return text !== ""'
  },
  {
    name: "the checkout sends although the service does not answer its announcement",
    file: "src/checkout/component/Checkout/Announcements.ts",
    from: "        default:\n          notSent(refusalNotice(error))",
    to: "        default:\n          return attempt"
  },
  {
    name: "the checkout takes an attempt of another browser for none",
    file: "src/checkout/component/Checkout/Announcements.ts",
    from: '        case "PAYMENT_ATTEMPT_OPEN":\n          tell({ type: "AttemptOpen" })\n          break',
    to: '        case "PAYMENT_ATTEMPT_OPEN":\n          return attempt'
  },
  {
    name: "what is paid late keeps the reason why it had failed",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "        settledAt: settlement.at,\n        failureReason: null",
    to: "        settledAt: settlement.at,\n        failureReason: payment.failureReason"
  },
  {
    name: "a webhook is signed with a part of the secret",
    file: "src/webhooks/Signature.ts",
    from: "const hmac = hmacSha256(secret)",
    to: "const hmac = hmacSha256(secret.slice(1))"
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
    name: "what a report declares is not compared",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "if (!sameTokenChanges(expectation.tokenChanges, [shown])) {",
    to: "if (expectation.amount === 0n) {"
  },
  {
    name: "a refusal names the first transfer, not the nearest",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "usdc.find((transfer) => to(transfer) && exact(transfer)) ?? usdc.find(to)",
    to: "usdc.find(to)"
  },
  {
    name: "a transaction whose transfers are all taken is not expected",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: 'if (transfer === undefined) return mismatch({ reason: "already_used" })',
    to: 'if (transfer === undefined) throw new Error("no transfer")'
  },
  {
    name: "anybody's transfer to the receiver pays",
    file: "src/chain/ChainVerifier/judgeTransfer.ts",
    from: "      sameAddress(transfer.from, expectation.payer) &&\n",
    to: ""
  },
  {
    name: "an approval counts as a transfer",
    file: "src/chain/ChainVerifier/TransferLog.ts",
    from: " || log.topics[0] !== transferTopic ||",
    to: " ||"
  },
  {
    name: "the block of a settled payment is not looked at again",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "        watchAt: settlement.watchAt,",
    to: "        watchAt: null,"
  },
  {
    name: "a node that lags behind a settled transfer takes it for gone",
    file: "src/chain/ChainVerifier/Agreement.ts",
    from: "return agreement.head >= settled.blockNumber",
    to: "return agreement.head >= 0n"
  },
  {
    name: "a transfer that a reorganisation has changed counts as moved",
    file: "src/chain/ChainVerifier/judgeBlock.ts",
    from: "if (settled.transfer === undefined) return BlockStatus.Moved(moved)",
    to: "if (settled.blockNumber > 0n) return BlockStatus.Moved(moved)"
  },
  {
    name: "a paused agent signs",
    store: "sql",
    file: "src/agents/AgentRepo/reservationsSql.ts",
    from: 'if (agent.status !== "active") return { _tag: "Inactive", status: agent.status }',
    to: 'if (agent.status === "revoked") return { _tag: "Inactive", status: agent.status }'
  },
  {
    name: "what a block has taken of the wallet's transactions is not noted",
    store: "sql",
    file: "src/wallets/Outbox.ts",
    from: "    if (transaction.nonce < next) {\n",
    to: "    if (transaction.nonce < next) {\n      if (head > 0n) return\n"
  },
  {
    name: "more may be given back than was paid",
    file: "src/payments/PaymentRepo/refundsMemory.ts",
    from: "if (!input.beyondPaid && balance.refunded + input.amount > balance.paid)",
    to: "if (input.amount > balance.paid)"
  },
  {
    name: "a transfer proves any number of refunds",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: 'if (claims.has(key)) return "taken"',
    to: ""
  },
  {
    name: "what was sent for a refund is not looked for",
    file: "src/payments/PaymentRepo/refundsMemory.ts",
    from: "found.slice(0, 10)",
    to: "found.slice(0, 0)"
  },
  {
    name: "no attempt is sent, and each counts as timed out",
    file: "src/webhooks/DeliveryWorker/Attempts.ts",
    from: "sender.send({",
    to: '((_: unknown): Effect.Effect<SendOutcome> => Effect.succeed({ _tag: "Failed", failure: "timeout", durationMs: 15_000 }))({'
  },
  {
    name: "a failed delivery makes two attempts",
    file: "src/webhooks/DeliveryWorker/RetryPolicy.ts",
    from: "{ times: 2 }",
    to: "{ times: 1 }"
  },
  {
    name: "retries come twice as late",
    file: "src/webhooks/DeliveryWorker/RetryPolicy.ts",
    from: 'Schedule.exponential("1 minute", 4)',
    to: 'Schedule.exponential("2 minutes", 4)'
  },
  {
    name: "what is accepted is recorded as refused",
    file: "src/webhooks/DeliveryWorker/Attempts.ts",
    from: "if (answered?.ok === true)",
    to: "if (answered?.ok === false)"
  },
  {
    name: "a webhook of test money says live",
    file: "src/payments/Payments/evidenceCheck.ts",
    from: 'livemode: payment.env === "live",',
    to: 'livemode: payment.env === "test",'
  },
  {
    name: "an intent's signature is not verified",
    file: "src/intents/IntentTokens.ts",
    from: "try: () => compactVerify(token, keyFor, { algorithms: [algorithm] }),",
    to: 'try: async () => ({ protectedHeader: JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()), payload: Buffer.from(token.split(".")[1] ?? "", "base64url") }),'
  },
  {
    name: "an intent opens a payment for ever",
    file: "src/intents/IntentTokens.ts",
    from: "expired: now >= claims.exp }",
    to: "expired: now < 0 }"
  },
  {
    name: "any merchant's key opens an intent",
    file: "src/payments/Payments.ts",
    from: "if (claims.merchant !== principal.merchant.id || claims.env !== principal.env) {",
    to: "if (claims.env !== principal.env) {"
  },
  {
    name: "a payment is any merchant's to read and to report",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "return payment?.merchantId === tenant.merchantId && payment.env === tenant.env ? payment : undefined",
    to: "return payment?.env === tenant.env ? payment : undefined"
  },
  {
    name: "a live payment is settled by a transfer of the test network",
    file: "src/domain/Payment.ts",
    from: 'return payment.env === "test" ? "verify" : "record"',
    to: 'return "verify"',
    also: [
      {
        file: "src/payments/Payments/evidenceCheck.ts",
        from: "      const verification = yield* chain.verify({\n        env: payment.env,",
        to: '      const verification = yield* chain.verify({\n        env: "test",'
      }
    ]
  },
  {
    name: "a key that was rotated away stays good",
    file: "src/keys/KeyAuth.ts",
    from: "          revoke(keyId, at)\n          store(old.merchant, newKey, at)",
    to: "          store(old.merchant, newKey, at)"
  },
  {
    name: "a report is never answered",
    file: "src/payments/Payments.ts",
    from: "const found = yield* repo.report({",
    to: "yield* Effect.never\n        const found = yield* repo.report({"
  },
  {
    name: "a settlement is noted as of the payment's opening",
    file: "src/payments/PaymentRepo/PaymentRepoMemory.ts",
    from: "        settledAt: settlement.at,",
    to: "        settledAt: new Date(0),"
  },
  {
    name: "anybody signs for a wallet",
    store: "sql",
    file: "src/x402/Facilitator/judgements.ts",
    from: 'if (!signed) return "invalid_exact_evm_signature"',
    to: "void signed"
  },
  {
    name: "a settled payment is shown with the time of its opening",
    file: "src/payments/Http.ts",
    from: "settledAt: payment.settledAt.toISOString()",
    to: "settledAt: payment.createdAt.toISOString()"
  },
  {
    name: "x402 pays whomever the requirements name",
    store: "sql",
    file: "src/x402/Facilitator/judgeExact.ts",
    from: "authorization.to !== requirements.payTo || requirements.payTo !== receiver",
    to: "authorization.to !== requirements.payTo || receiver === authorization.from"
  },
  {
    name: "an agent with allowed hosts pays whomever it is told to",
    store: "sql",
    file: "src/agents/AgentRepo/reservationsSql.ts",
    from: "agent.allowedHosts !== null && agent.allowedPayees === null) {",
    to: "agent.allowedHosts === null && agent.allowedPayees !== null) {"
  },
  {
    name: "numbers of a payment header may be larger than the chain's",
    store: "sql",
    file: "src/x402/Wire.ts",
    from: "BigInt(text) < 2n ** 256n ||",
    to: "BigInt(text) >= 0n ||"
  },
  {
    name: "what a payer says of the resource becomes the payment's",
    store: "sql",
    file: "src/x402/Wire.ts",
    from: "  extensions: Schema.optionalKey(Schema.Unknown)\n})",
    to: "  extensions: Schema.optionalKey(Schema.Unknown),\n  resource: Schema.optionalKey(Schema.Struct({ url: Schema.String }))\n})",
    also: [
      {
        file: "src/x402/Wire.ts",
        from: "paymentOf(2, read.accepted.scheme, read.accepted.network, read.payload, read.extensions)",
        to: "({ ...paymentOf(2, read.accepted.scheme, read.accepted.network, read.payload, read.extensions), resource: read.resource?.url })"
      },
      {
        file: "src/x402/Facilitator/settling.ts",
        from: "        resource: resourceUrl(requirements, baseUrl),",
        to: '        resource: resourceUrl({ ...requirements, ...("resource" in exact ? { resource: String(exact.resource) } : {}) }, baseUrl),'
      }
    ]
  },
  {
    name: "on SQL, what is paid late is never settled",
    store: "sql",
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: "AND p.status IN ('pending', 'failed') FOR NO KEY UPDATE",
    to: "AND p.status = 'pending' FOR NO KEY UPDATE"
  },
  {
    name: "on SQL, a transfer settles any number of payments",
    store: "sql",
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: "FROM settled\n        RETURNING chain_id",
    to: "FROM settled WHERE NOT EXISTS (\n        SELECT 1 FROM claimed_transfers c WHERE c.transaction_id = settled.transaction_id)\n        RETURNING chain_id"
  },
  {
    name: "on SQL, a settlement queues no webhook",
    store: "sql",
    file: "src/payments/PaymentRepo/PaymentRepoSql.ts",
    from: "ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL\n      ), dropped",
    to: "ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL WHERE false\n      ), dropped"
  },
  {
    name: "on SQL, transfers of replaced blocks are not dropped",
    store: "sql",
    file: "src/payments/PaymentRepo/chainReadingSql.ts",
    from: "match_at = NULL\n          FROM moved WHERE",
    to: "match_at = NULL\n          FROM moved WHERE false AND"
  },
  {
    name: "on SQL, more may be given back than was paid",
    store: "sql",
    file: "src/payments/PaymentRepo/refundCreationSql.ts",
    from: "if (!refund.beyondPaid && balance.refunded + refund.amount > balance.paid)",
    to: "if (refund.amount > balance.paid)"
  },
  {
    name: "on SQL, a reported payment fails by its age alone",
    store: "sql",
    file: "src/payments/PaymentRepo/reconcilerSql.ts",
    from: "WHERE r.payment_id = p.id\n            AND (p.env = 'live' OR",
    to: "WHERE r.payment_id = p.id\n            AND false AND (p.env = 'live' OR"
  },
  {
    name: "on SQL, a claimed delivery whose sender dies is never sent again",
    store: "sql",
    file: "src/webhooks/WebhookRepo/claimsSql.ts",
    from: `SET due_at = \${claim.leaseUntil}, claimed_by`,
    to: "SET due_at = NULL, claimed_by"
  },
  {
    name: "an endpoint that moves stays where it was",
    file: "src/webhooks/WebhookRepo/WebhookRepoMemory.ts",
    from: 'url,\n          verifiedAt: null,\n          health: "unverified",',
    to: 'verifiedAt: null,\n          health: "unverified",'
  },
  {
    name: "a payment is shown as reported at its opening, by an agent",
    file: "src/payments/Http.ts",
    from: "reportedAt: reported.at.toISOString(),",
    to: 'reportedAt: payment.createdAt.toISOString(),\n          payerType: "agent",'
  },
  {
    name: "what the chain has lost may be given back",
    file: "src/payments/PaymentRepo/refundsMemory.ts",
    from: 'const isPaid = payment.status === "settled" && claim?.dropped !== true',
    to: 'const isPaid = payment.status === "settled"'
  }
]
