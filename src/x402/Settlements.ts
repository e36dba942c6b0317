// Brings a signed authorization onto the chain and proves that it paid. Each step is stored
// before it is taken and any instance may take the next one: requests, retries and the
// reconciler all call `advance`. Success is the Transfer log, never a status alone.
import { Context, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { size } from "viem"
import type { ChainUnavailable } from "../chain/Verification.ts"
import { networks, type TransactionHash } from "../domain/Chain.ts"
import type { Evidence, Payment } from "../domain/Payment.ts"
import { PaymentRepo } from "../payments/PaymentRepo.ts"
import { Payments } from "../payments/Payments.ts"
import { AuthorizationChain } from "./AuthorizationChain.ts"
import { Relayer } from "./Relayer.ts"
import { countSettlement } from "./SettlementMetrics.ts"
import { amountOf, type Settlement, SettlementRepo } from "./SettlementRepo.ts"

interface Shape {
  /** Takes the next step of a settlement and answers how it stands then. */
  readonly advance: (settlement: Settlement) => Effect.Effect<Settlement, ChainUnavailable>
  /** Advances until it has ended, or for as long as a caller is made to wait. */
  readonly settle: (settlement: Settlement) => Effect.Effect<Settlement, ChainUnavailable>
}

/** How long a caller waits; then the answer is `settlement_pending` and the reconciler goes on. */
const patience = Duration.seconds(10)
const between = Duration.millis(150)
const leaseMillis = 30_000
const againMillis = 2_000
const batch = 20
/** What is unused of it is not paid. */
const gas = { account: 160_000n, contract: 700_000n, deployment: 3_000_000n }

const gasFor = (settlement: Settlement, deploys: boolean) =>
  deploys ? gas.deployment : size(settlement.authorization.signature) === 65 ? gas.account : gas.contract

const make = Effect.gen(function* () {
  const repo = yield* SettlementRepo
  const paymentRepo = yield* PaymentRepo
  const payments = yield* Payments
  const chain = yield* AuthorizationChain
  const relayer = yield* Relayer
  const { chainId, usdc } = networks.test

  const reread = (settlement: Settlement) =>
    Effect.map(
      repo.findById(settlement.id),
      Option.getOrElse(() => settlement)
    )

  const finish = Effect.fnUntraced(function* (
    settlement: Settlement,
    outcome: Parameters<SettlementRepo["Service"]["finish"]>[1]
  ) {
    yield* repo.finish(settlement.id, outcome, yield* DateTime.nowAsDate)
    yield* countSettlement(outcome.status)
    return yield* reread(settlement)
  })
  const fail = (settlement: Settlement, errorReason: string) =>
    finish(settlement, { status: "failed", errorReason })

  const paymentOf = Effect.fnUntraced(function* (settlement: Settlement) {
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
      payerType: "agent",
      at: settlement.createdAt
    })
    return Option.some(payment)
  })

  /** The payment's own rules decide: the same claim, the same webhook, the same reconciler. */
  const prove = Effect.fnUntraced(function* (settlement: Settlement, transactionId: TransactionHash) {
    const payment = yield* paymentOf(settlement)
    if (Option.isNone(payment)) return yield* fail(settlement, "invalid_exact_evm_transaction_failed")
    const { from, to, value } = settlement.authorization
    const evidence: Evidence = {
      transactionId,
      payer: from,
      tokenChanges: [{ amountAtomic: value.toString(), chainId, receiver: to, tokenAddress: usdc.address }]
    }
    const at = yield* DateTime.nowAsDate
    if (settlement.transactionId !== transactionId) yield* repo.noteTransaction(settlement.id, transactionId)
    if (payment.value.status === "pending") {
      yield* paymentRepo.report({
        merchantId: settlement.merchantId,
        env: settlement.env,
        paymentId: settlement.paymentId,
        evidence,
        payerType: "agent",
        at,
        nextCheckAt: new Date(at.getTime() + leaseMillis)
      })
    }
    const seen = yield* payments.look(payment.value, evidence, at)
    switch (seen._tag) {
      case "Settled":
        return yield* finish(settlement, { status: "settled", transactionId })
      case "Refused":
        return seen.final ? yield* fail(settlement, "invalid_exact_evm_transfer_event_mismatch") : settlement
      default:
        return settlement
    }
  })

  const send = Effect.fnUntraced(function* (settlement: Settlement) {
    const call = yield* chain.callOf(settlement.authorization)
    const relayed = yield* relayer.send({
      purpose: "settle",
      reference: settlement.id,
      call,
      gas: gasFor(settlement, call.to !== usdc.address)
    })
    return relayed._tag === "Sent"
      ? settlement
      : yield* fail(settlement, "invalid_exact_evm_transaction_failed")
  })

  /** Nothing of ours will move it: somebody else may have, or it may go out again. */
  const recover = Effect.fnUntraced(function* (settlement: Settlement, mayResend: boolean) {
    const { from, nonce, validBefore } = settlement.authorization
    switch (yield* chain.standing(from, nonce, validBefore)) {
      case "used": {
        const use = yield* chain.findUse(from, nonce)
        return Option.isNone(use) ? settlement : yield* prove(settlement, use.value)
      }
      case "expired":
        return yield* fail(settlement, "invalid_exact_evm_payload_authorization_valid_before")
      case "open":
        return mayResend
          ? yield* send(settlement)
          : yield* fail(settlement, "invalid_exact_evm_transaction_failed")
    }
  })

  const advance = Effect.fn("Settlements.advance")(function* (given: Settlement) {
    const settlement = yield* reread(given)
    if (settlement.status !== "pending") return settlement
    const relayed = yield* relayer.look(settlement.id)
    if (relayed === undefined) return yield* recover(settlement, true)
    const id = relayed.sighting.transactionId ?? relayed.transaction.transactionId
    switch (relayed.sighting.outcome) {
      case "open":
        if (settlement.transactionId !== id) yield* repo.noteTransaction(settlement.id, id)
        return settlement
      case "moved":
        return yield* prove(settlement, id)
      case "reverted":
        return yield* recover(settlement, false)
      case "lost":
        return yield* recover(settlement, true)
    }
  })

  const settle = Effect.fn("Settlements.settle")(function* (settlement: Settlement) {
    const ended = yield* advance(settlement).pipe(
      Effect.repeat({ schedule: Schedule.spaced(between), until: ({ status }) => status !== "pending" }),
      Effect.timeoutOption(patience)
    )
    return Option.isSome(ended) ? ended.value : yield* reread(settlement)
  })

  const tend = Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    const due = yield* repo.takeDue(now, new Date(now.getTime() + leaseMillis), batch)
    yield* Effect.forEach(
      due,
      Effect.fnUntraced(function* (settlement: Settlement) {
        const { status } = yield* advance(settlement).pipe(Effect.orElseSucceed(() => settlement))
        const at = yield* DateTime.nowAsDate
        if (status === "pending") yield* repo.lookAgain(settlement.id, new Date(at.getTime() + againMillis))
      }),
      { concurrency: 5, discard: true }
    )
    return due.length === batch
  })
  yield* tend.pipe(
    Effect.repeat({ while: (more) => more }),
    Effect.catchCause((cause) => Effect.logWarning("Pending x402 settlements were not tended", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )

  const shape: Shape = { advance, settle }
  return shape
})

export class Settlements extends Context.Service<Settlements, Shape>()("quittance/x402/Settlements") {
  static readonly layer: Layer.Layer<
    Settlements,
    never,
    SettlementRepo | PaymentRepo | Payments | AuthorizationChain | Relayer
  > = Layer.effect(Settlements, make)
}
