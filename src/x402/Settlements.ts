// Submits a signed authorization to the chain and proves that it paid.
import { Context, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import type { ContractSignatures } from "../chain/ContractSignatures.ts"
import { DenyList, isDenied } from "../chain/DenyList.ts"
import type { RpcPool } from "../chain/RpcPool.ts"
import type { RpcUnavailable } from "../chain/Verification.ts"
import { idsOf } from "../chain/wallets/OutboxRepo.ts"
import { BoundedMap } from "../domain/BoundedMap.ts"
import type { TransactionHash } from "../domain/Chain.ts"
import { networks } from "../domain/networks.ts"
import type { Evidence, Payment } from "../domain/Payment.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import type { SettleReason } from "../domain/SettleReason.ts"
import { PaymentRepo } from "../payments/PaymentRepo.ts"
import { Payments } from "../payments/Payments.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import type { Alerts } from "../platform/alerts/Alerts.ts"
import { DueWork } from "../platform/workers/DueWork.ts"
import { sweepNetworks } from "../platform/workers/sweepNetworks.ts"
import { type AuthorizationUse, isCancellationFinal } from "./AuthorizationChain/nodeAuthorization.ts"
import { AuthorizationChain } from "./AuthorizationChain.ts"
import { budgetReasons, obstacleReasons, Relayer } from "./Relayer.ts"
import { countX402Settlement } from "./Settlements/countX402Settlement.ts"
import { SettlementRepo } from "./Settlements/SettlementRepo.ts"
import { amountOf, type X402Settlement } from "./Settlements/X402Settlement.ts"

type Shape = typeof Settlements.Service

/** A caller waits this long. Then the response is `settlement_pending` and the reconciler continues. */
const waitLimit = Duration.seconds(10)
const pollInterval = Duration.millis(150)
const leaseMillis = 30_000

/** The delay until an undecided settlement is checked again. It grows while nothing can be done. */
const againMillis = ({ reportedReason, createdAt }: X402Settlement, at: Date) =>
  reportedReason === null
    ? 2_000
    : Math.min(300_000, Math.max(2_000, (at.getTime() - createdAt.getTime()) / 10))

const alreadySettled = "payment_already_settled"
const alreadyUsed = "invalid_exact_evm_nonce_already_used"

const make = Effect.gen(function* () {
  const repo = yield* SettlementRepo
  const due = yield* DueWork
  const paymentRepo = yield* PaymentRepo
  const payments = yield* Payments
  const chain = yield* AuthorizationChain
  const relayer = yield* Relayer
  const denyList = yield* DenyList

  /** Nonces of settlements' transactions for which the relayer's wallet could not pay. */
  const unfunded = new BoundedMap<string, number>(1000)

  const reread = (settlement: X402Settlement) =>
    Effect.map(
      repo.findById(settlement.id),
      Option.getOrElse(() => settlement)
    )

  const finish = Effect.fnUntraced(function* (
    settlement: X402Settlement,
    outcome: Parameters<SettlementRepo["Service"]["finish"]>[1]
  ) {
    const isOurs = yield* repo.finish(settlement.id, outcome, yield* DateTime.nowAsDate)
    if (isOurs) yield* countX402Settlement(outcome.status)
    return yield* reread(settlement)
  })
  const stateOf = (
    { authorization: { from, nonce, validBefore }, env }: X402Settlement,
    notBefore?: bigint
  ) => chain.authorizationState(env, from, nonce, validBefore, notBefore)
  const fail = (settlement: X402Settlement, errorReason: SettleReason) =>
    finish(settlement, { status: "failed", errorReason })

  const paymentOf = Effect.fnUntraced(function* (settlement: X402Settlement) {
    const tenant = { merchantId: settlement.merchantId, env: settlement.env }
    if (!settlement.opensPayment) return yield* paymentRepo.find(tenant, settlement.paymentId)
    const amount = amountOf(settlement.authorization)
    if (Option.isNone(amount)) return Option.none<Payment>()
    const { payment } = yield* paymentRepo.open({
      ...tenant,
      id: settlement.paymentId,
      amount: amount.value,
      intentUrl: settlement.resource,
      receiver: settlement.authorization.to,
      payerType: settlement.payerType,
      at: settlement.createdAt
    })
    return Option.some(payment)
  })

  /** The transaction that used the authorization, searched since the payment was opened. */
  const findUse = Effect.fnUntraced(function* ({
    authorization: { from, nonce },
    createdAt,
    env,
    merchantId,
    opensPayment,
    paymentId
  }: X402Settlement) {
    const payment = opensPayment ? Option.none() : yield* paymentRepo.find({ merchantId, env }, paymentId)
    const since = Option.isSome(payment) ? payment.value.createdAt : createdAt
    return yield* chain.findUse(env, from, nonce, since)
  })

  /** Applies the payment's own rules: the same claim, the same webhook, the same reconciler. */
  const prove = Effect.fnUntraced(function* (
    settlement: X402Settlement,
    transactionId: TransactionHash
  ): Effect.fn.Return<X402Settlement, RpcUnavailable> {
    const payment = yield* paymentOf(settlement)
    if (Option.isNone(payment)) return yield* fail(settlement, "invalid_exact_evm_transaction_failed")
    const { chainId, usdc } = networks[settlement.env]
    const { from, to, value } = settlement.authorization
    const evidence: Evidence = {
      transactionId,
      payer: from,
      tokenChanges: [{ amountAtomic: value.toString(), chainId, receiver: to, tokenAddress: usdc.address }]
    }
    const at = yield* DateTime.nowAsDate
    if (settlement.transactionId !== transactionId) yield* repo.storeTransaction(settlement.id, transactionId)
    if (payment.value.status === "pending") {
      yield* paymentRepo.report({
        merchantId: settlement.merchantId,
        env: settlement.env,
        paymentId: settlement.paymentId,
        evidence,
        payerType: settlement.payerType,
        at,
        nextCheckAt: plusMillis(at, leaseMillis)
      })
    }
    // Only this settlement uses the authorization, so the age of its transfer does not matter.
    const check = yield* payments.check(payment.value, evidence, at, { sinceBlock: 0n })
    switch (check._tag) {
      case "Settled":
        return yield* finish(settlement, { status: "settled", transactionId })
      case "Refused": {
        if (!check.final) return settlement
        // The money has moved. If another transfer settled the payment first, this is a second transfer,
        // under the transaction recorded here.
        switch (check.error._tag) {
          case "PaymentReportConflict":
            return yield* fail(settlement, alreadySettled)
          case "PaymentFailed":
            return yield* fail(settlement, "payment_failed")
          default:
            return yield* refute(settlement, transactionId)
        }
      }
      case "Pending":
        // The money has moved and waits for the merchant's decision, so nothing more is sent.
        return check.reason === "denied" ? yield* giveUp(settlement, "settlement_pending") : settlement
      default:
        return settlement
    }
  })

  /**
   * The transaction does not carry the transfer, or no longer does. Only the chain's view of the
   * authorization ends the settlement, because after a reorganisation another transaction may have used it.
   */
  const refute = Effect.fnUntraced(function* (settlement: X402Settlement, transactionId: TransactionHash) {
    switch (yield* stateOf(settlement)) {
      case "used": {
        const use = yield* findUse(settlement)
        if (Option.isNone(use)) return settlement
        return !use.value.cancelled && use.value.transactionId === transactionId
          ? yield* fail(settlement, "invalid_exact_evm_transfer_event_mismatch")
          : yield* applyUse(settlement, use.value)
      }
      case "expired":
        return yield* fail(settlement, "invalid_exact_evm_payload_authorization_valid_before")
      case "open":
        yield* relayer.on(settlement.env).reconsider(settlement.id, "settle")
        return settlement
      case "unknown":
        return settlement
    }
  })

  /**
   * We have no transaction in flight, and callers get the reason. Anyone who holds the signature can still
   * submit it, so only the chain decides the outcome: used, or expired unused.
   */
  const giveUp = Effect.fnUntraced(function* (settlement: X402Settlement, reason: SettleReason) {
    yield* repo.release(settlement.id, reason)
    return yield* reread(settlement)
  })

  /** Decides by how the authorization was used, a transfer or a cancellation, by anyone. */
  const applyUse = Effect.fnUntraced(function* (settlement: X402Settlement, use: AuthorizationUse) {
    if (!use.cancelled) return yield* prove(settlement, use.transactionId)
    return isCancellationFinal(settlement.env, use)
      ? yield* fail(settlement, alreadyUsed)
      : yield* giveUp(settlement, alreadyUsed)
  })

  const send = Effect.fnUntraced(function* (settlement: X402Settlement) {
    const { authorization, env, id, merchantId } = settlement
    const { address: from, send: relay, state: stateNow } = relayer.on(env)
    if (from === undefined) return yield* giveUp(settlement, obstacleReasons.not_configured)
    const state = yield* stateNow
    const plan = yield* chain.plan(env, authorization, { from, state })
    if (plan._tag === "Refused") {
      // A spent nonce is not a failure yet: the next check finds the transaction that spent it.
      return plan.reason === alreadyUsed ? settlement : yield* giveUp(settlement, plan.reason)
    }
    if (isDenied(denyList, authorization)) return yield* giveUp(settlement, "relay_address_denied")
    const { call, gas } = plan
    const relayed = yield* relay(
      { purpose: "settle", reference: id, merchantId, payer: authorization.from, call, gas },
      state
    )
    switch (relayed._tag) {
      case "Refused":
        if (relayed.transaction !== undefined) unfunded.set(id, relayed.transaction.nonce)
        return yield* giveUp(settlement, obstacleReasons.empty)
      case "OverBudget":
        return yield* giveUp(settlement, budgetReasons[relayed.limit])
      default:
        return yield* reread(settlement)
    }
  })

  /**
   * No transaction of ours will move the money, but another party's may have, or ours may be resent.
   * `notBefore` is the block of our receipt: views of earlier blocks do not count. `reason` says how ours
   * ended. `if pending`: no failure was reported, so it is resent unless its payment has ended.
   */
  const recover = Effect.fnUntraced(function* (
    settlement: X402Settlement,
    mayResend: boolean | "if pending",
    ours: {
      readonly notBefore?: bigint | undefined
      readonly reason: SettleReason
    } = { reason: "invalid_exact_evm_transaction_failed" }
  ) {
    switch (yield* stateOf(settlement, ours.notBefore)) {
      case "used": {
        const use = yield* findUse(settlement)
        return Option.isNone(use) ? settlement : yield* applyUse(settlement, use.value)
      }
      case "expired":
        return yield* fail(
          settlement,
          settlement.reportedReason === alreadySettled
            ? alreadySettled
            : "invalid_exact_evm_payload_authorization_valid_before"
        )
      case "open": {
        if (mayResend === true) return yield* send(settlement)
        const { merchantId, env, paymentId } = settlement
        const payment = yield* paymentRepo.find({ merchantId, env }, paymentId)
        const status = Option.isSome(payment) ? payment.value.status : "pending"
        if (mayResend && status === "pending") return yield* send(settlement)
        const reason = settlement.reportedReason ?? ours.reason
        return yield* giveUp(settlement, status === "settled" ? alreadySettled : reason)
      }
      case "unknown":
        return settlement
    }
  })

  /**
   * Takes the settlement's next step. Each step is stored before it is taken, and any instance may take the next one:
   * requests, retries and the reconciler all call this. Only a Transfer log proves success, never a status. Only the
   * chain's view of the authorization proves failure, never a failed try of ours. A retrying caller asks for another
   * try after a failed one. While our transaction is in flight (`open`), the reconciler also checks whether somebody
   * else used the authorization, or it expired.
   */
  const advance = Effect.fn("Settlements.advance")(function* (
    stored: X402Settlement,
    actor: "caller" | "retrying caller" | "reconciler"
  ): Effect.fn.Return<{ readonly settlement: X402Settlement; readonly open: boolean }, RpcUnavailable> {
    const settlement = yield* reread(stored)
    if (settlement.status !== "pending") return { settlement, open: false }
    const relayed = yield* relayer.on(settlement.env).check(settlement.id, "settle")
    const ended = (next: X402Settlement) => ({ settlement: next, open: false })
    // A settlement with a reported failure is retried only if the caller asks again.
    if (relayed === undefined)
      return ended(
        yield* recover(settlement, settlement.reportedReason === null || actor === "retrying caller")
      )
    const { state, transaction } = relayed
    switch (state.outcome) {
      case "open": {
        const [id] = idsOf(transaction)
        if (id !== undefined && settlement.transactionId !== id) {
          yield* repo.storeTransaction(settlement.id, id)
          return { settlement: { ...settlement, transactionId: id }, open: true }
        }
        const chainState = actor === "reconciler" ? yield* stateOf(settlement) : "open"
        // The authorization has ended, whatever happens to our transaction: its nonce may never be mined.
        return chainState === "used" || chainState === "expired"
          ? ended(yield* recover(settlement, false))
          : { settlement, open: true }
      }
      case "moved":
        return ended(
          state.transactionId === null
            ? yield* recover(settlement, false)
            : yield* prove(settlement, state.transactionId)
        )
      case "reverted":
      case "filled": {
        const { outcome, blockNumber } = state
        // A nonce is filled if the wallet could not pay, or if the payment no longer wanted the transaction.
        const isUnwanted = outcome === "filled" && unfunded.get(settlement.id) !== transaction.nonce
        const reason = isUnwanted ? "payment_failed" : obstacleReasons.empty
        const again = isUnwanted && settlement.reportedReason === null && "if pending"
        return ended(
          yield* recover(settlement, actor === "retrying caller" || again, {
            notBefore: blockNumber ?? undefined,
            reason: outcome === "filled" ? reason : "invalid_exact_evm_transaction_failed"
          })
        )
      }
      case "lost":
        return ended(
          yield* recover(settlement, settlement.reportedReason === null || actor === "retrying caller")
        )
    }
  })

  const settle = Effect.fn("Settlements.settle")(function* (settlement: X402Settlement) {
    // A reported failure is reported again only after another attempt failed too.
    let retry = settlement.reportedReason !== null
    const step = Effect.suspend(() => advance(settlement, retry ? "retrying caller" : "caller"))
    const isDone = ({ settlement: now, open }: Effect.Success<typeof step>) => {
      if (now.status !== "pending") return true
      const waits = retry && open
      if (now.reportedReason === null) retry = false
      return now.reportedReason !== null && !waits
    }
    const ended = yield* step.pipe(
      Effect.repeat({ schedule: Schedule.spaced(pollInterval), until: isDone }),
      Effect.timeoutOption(waitLimit)
    )
    const now = Option.isSome(ended) ? ended.value.settlement : yield* reread(settlement)
    // No caller waits any longer, so the reconciler takes over.
    if (now.status === "pending") {
      const at = yield* DateTime.nowAsDate
      yield* repo.checkAgain(now.id, plusMillis(at, againMillis(now, at)))
    }
    return now
  })

  const resume = Effect.fnUntraced(function* (settlement: X402Settlement) {
    const now = yield* advance(settlement, "reconciler").pipe(
      Effect.map((step) => step.settlement),
      Effect.orElseSucceed(() => settlement)
    )
    const at = yield* DateTime.nowAsDate
    if (now.status === "pending") yield* repo.checkAgain(settlement.id, plusMillis(at, againMillis(now, at)))
  })
  yield* sweepNetworks("The x402 settlement sweep", due.next("x402 settlements", "1 second"), {
    what: "Checking an x402 settlement",
    leaseMillis,
    batchSize: 20,
    concurrency: 5,
    take: repo.takeDue,
    process: resume,
    annotations: ({ id }) => ({ settlementId: id })
  })

  const shape: Shape = { settle }
  return shape
})

export class Settlements extends Context.Service<
  Settlements,
  {
    /**
     * Advances until the settlement ends, a reason can be reported, or the caller's waiting time is over.
     * Tries again if the last try failed.
     */
    readonly settle: (settlement: X402Settlement) => Effect.Effect<X402Settlement, RpcUnavailable>
  }
>()("quittance/x402/Settlements") {
  static readonly layer: Layer.Layer<
    Settlements,
    never,
    AppConfig | RpcPool | ContractSignatures | SqlClient.SqlClient | PaymentRepo | Payments | Alerts
  > = Layer.effect(Settlements, make).pipe(
    Layer.provide([SettlementRepo.layer, AuthorizationChain.layer, Relayer.layer])
  )
}
