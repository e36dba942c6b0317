// What goes on without a browser: kept reports settle or end, unpaid payments
// fail, settled blocks are watched. In memory, under a clock that the test moves.
import { describe, expect } from "bun:test"
import { Clock, Effect, Layer, Result, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { type Alert, Alerts } from "../../src/alerts/Alerts.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import * as Reconciler from "../../src/payments/Reconciler.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { row } from "../support/attackRows.ts"
import {
  memoryStack,
  newMerchant,
  openPayment,
  type PaymentStack,
  reportOf,
  stateOf
} from "../support/paymentStack.ts"
import { hash, payer, receiver, thief } from "../support/rawReceipts.ts"
import { testEffect } from "../support/run.ts"

type Everything = PaymentStack | ChainVerifier | MemoryChain

/** The verifier, and when it was asked. */
const noting = (looks: Array<number>) =>
  Layer.effect(
    ChainVerifier,
    Effect.map(ChainVerifier, (verifier) => ({
      ...verifier,
      verify: (expectation) =>
        Effect.andThen(
          Effect.map(Clock.currentTimeMillis, (now) => void looks.push(now)),
          verifier.verify(expectation)
        )
    }))
  )

/** The whole on memory, with `instances` reconcilers; the chain seals blocks only when told to. */
const it = <E>(
  name: string,
  effect: (raised: Array<Alert>, looks: Array<number>) => Effect.Effect<unknown, E, Everything | Scope.Scope>,
  instances = 1
) =>
  testEffect(name, () =>
    Effect.gen(function* () {
      const raised: Array<Alert> = []
      const looks: Array<number> = []
      const alerts = Layer.succeed(Alerts, {
        raise: (alert) => Effect.sync(() => void raised.push(alert)),
        resolve: () => Effect.void
      })
      const stack = yield* Layer.build(
        memoryStack.pipe(
          Layer.provideMerge(noting(looks)),
          Layer.provideMerge(ChainVerifier.layerMemoryWith({ finalityDepth: 5 }))
        )
      )
      const services = Layer.succeedContext(stack)
      for (let instance = 0; instance < instances; instance++) {
        yield* Layer.build(Layer.fresh(Reconciler.layer).pipe(Layer.provide(alerts), Layer.provide(services)))
      }
      yield* Effect.flatMap(MemoryChain, (chain) => chain.automine(false)).pipe(Effect.provideContext(stack))
      yield* effect(raised, looks).pipe(Effect.provideContext(stack))
    })
  )

const shop = Effect.gen(function* () {
  const merchant = yield* newMerchant(receiver)
  const payments = yield* Payments
  const webhooks = yield* WebhookRepo
  const chain = yield* MemoryChain
  const open = openPayment(merchant.principal, receiver, 1_000_000n)
  const send = (payment: Payment, amount: bigint = payment.amount) =>
    chain
      .fund(payer, { usdcAtomic: amount })
      .pipe(Effect.andThen(chain.transfer({ from: payer, to: receiver, amount })))
  const report = (payment: Payment, transactionId: ReturnType<typeof hash>, by = payer) =>
    payments.report(merchant.principal, payment.id, reportOf(payment, by, transactionId)).pipe(Effect.result)
  const deliveries = Effect.map(webhooks.listDeliveries(merchant.tenant, 100), (all) => all.length)
  return { ...merchant, chain, open, send, report, deliveries }
})

const statusOf = (payment: Payment) =>
  Effect.map(stateOf(payment), ({ failureReason, status }) =>
    failureReason === null ? status : `${status}: ${failureReason}`
  )

describe("kept reports", () => {
  it("a buyer who closes the tab after one report settles, and the webhook is queued", () =>
    Effect.gen(function* () {
      const { chain, deliveries, open, report, send } = yield* shop
      const payment = yield* open
      yield* report(payment, yield* send(payment))
      yield* chain.mine(2)
      expect(yield* statusOf(payment)).toBe("pending")
      yield* TestClock.adjust("7 seconds")
      expect(yield* statusOf(payment)).toBe("settled")
      expect(yield* deliveries).toBe(1)
      const state = yield* stateOf(payment)
      expect(state.reported?.at.getTime()).toBe(0)
      expect(state.settledAt?.getTime()).toBeGreaterThanOrEqual(5000)
    }))

  it(`${row.rpcLags}: an outage of an hour delays and loses nothing`, () =>
    Effect.gen(function* () {
      const { chain, deliveries, open, report, send } = yield* shop
      const payment = yield* open
      const transfer = yield* send(payment)
      yield* chain.mine(2)
      yield* chain.fault("fail")
      expect(Result.isFailure(yield* report(payment, transfer))).toBe(true)
      yield* TestClock.adjust("1 hour")
      expect(yield* statusOf(payment)).toBe("pending")
      yield* chain.fault("lie")
      yield* TestClock.adjust("1 hour")
      expect(yield* statusOf(payment)).toBe("pending")
      yield* chain.fault("none")
      yield* TestClock.adjust("6 minutes")
      expect(yield* statusOf(payment)).toBe("settled")
      expect(yield* deliveries).toBe(1)
    }))

  it("looks come after 5 s and then at doubling distances, at most 5 minutes apart", (_raised, looks) =>
    Effect.gen(function* () {
      const { open, report } = yield* shop
      yield* report(yield* open, hash("55"))
      yield* TestClock.adjust("30 minutes")
      const [, ...distances] = looks.map((at, index) => Math.round((at - (looks[index - 1] ?? 0)) / 1000))
      expect(distances.slice(0, 7)).toEqual([5, 5, 10, 20, 40, 80, 160])
      expect(distances.slice(7).every((one) => one >= 300 && one <= 301)).toBe(true)
    }))

  it("a mismatch for good ends the looking; the transfer that pays is taken later all the same", () =>
    Effect.gen(function* () {
      const { chain, open, report, send } = yield* shop
      const payment = yield* open
      yield* report(payment, yield* send(payment, 7n))
      yield* chain.mine(2)
      yield* TestClock.adjust("20 minutes")
      expect(yield* statusOf(payment)).toBe("pending")
      const repo = yield* PaymentRepo
      expect(yield* repo.takeDueReports(new Date(8.64e15), new Date(8.64e15), 10)).toHaveLength(0)
      yield* report(payment, yield* send(payment))
      yield* chain.mine(2)
      yield* TestClock.adjust("10 seconds")
      expect(yield* statusOf(payment)).toBe("settled")
    }))

  it(`${row.reorganised}: a mismatch that is not confirmed yet is looked at again`, () =>
    Effect.gen(function* () {
      const { chain, open, report } = yield* shop
      const payment = yield* open
      // Reverts in its first block for want of money, and succeeds when it is included again.
      const transfer = yield* chain.transfer({ from: payer, to: receiver, amount: 1_000_000n })
      yield* chain.mine(1)
      const answer = yield* report(payment, transfer)
      expect(Result.isFailure(answer) && answer.failure).toMatchObject({ reason: "reverted" })
      expect(Result.isFailure(answer) && answer.failure.retryAfter).toBeUndefined()
      yield* chain.fund(payer, { usdcAtomic: 1_000_000n })
      yield* chain.reorganise(1, "keep")
      yield* chain.mine(2)
      yield* TestClock.adjust("20 seconds")
      expect(yield* statusOf(payment)).toBe("settled")
    }))

  it(`${row.thief}: a thief's kept report keeps the buyer's from nothing`, () =>
    Effect.gen(function* () {
      const { chain, open, report, send } = yield* shop
      const payment = yield* open
      const transfer = yield* send(payment)
      yield* report(payment, transfer)
      yield* report(payment, transfer, thief)
      yield* report(payment, hash("66"), thief)
      yield* chain.mine(2)
      yield* TestClock.adjust("10 seconds")
      expect(yield* statusOf(payment)).toBe("settled")
      expect((yield* stateOf(payment)).reported?.evidence.payer).toBe(payer)
    }))

  it(
    "three instances share the work: sixty reports settle, each once",
    () =>
      Effect.gen(function* () {
        const { chain, deliveries, open, report, send } = yield* shop
        const all = yield* Effect.forEach(Array.from({ length: 60 }), () => open)
        yield* Effect.forEach(all, (payment) =>
          Effect.flatMap(send(payment), (transfer) => report(payment, transfer))
        )
        yield* chain.mine(2)
        yield* TestClock.adjust("8 seconds")
        expect(new Set(yield* Effect.forEach(all, statusOf))).toEqual(new Set(["settled"]))
        expect(yield* deliveries).toBe(60)
      }),
    3
  )
})

describe("expiry", () => {
  it("a payment that nobody reports fails after PAYMENT_EXPIRY as expired, and not before", () =>
    Effect.gen(function* () {
      const { open, report } = yield* shop
      const payment = yield* open
      yield* TestClock.adjust("23 hours")
      yield* TestClock.adjust("59 minutes")
      expect(yield* statusOf(payment)).toBe("pending")
      yield* TestClock.adjust("2 minutes")
      expect(yield* statusOf(payment)).toBe("failed: expired")
      const late = yield* report(payment, hash("44"))
      expect(Result.isFailure(late) && late.failure.code).toBe("PAYMENT_FAILED")
    }))

  it("evidence that never verifies fails 24 h after the last report as unverified", () =>
    Effect.gen(function* () {
      const { chain, deliveries, open, report, send } = yield* shop
      const payment = yield* open
      yield* report(payment, hash("44"))
      yield* TestClock.adjust("20 hours")
      yield* report(payment, hash("45"))
      yield* TestClock.adjust("23 hours")
      expect(yield* statusOf(payment)).toBe("pending")
      yield* TestClock.adjust("61 minutes")
      expect(yield* statusOf(payment)).toBe("failed: unverified")
      // Terminal: the money that comes now settles nothing.
      const late = yield* report(payment, yield* send(payment))
      expect(Result.isFailure(late) && late.failure.code).toBe("PAYMENT_FAILED")
      yield* chain.mine(2)
      yield* TestClock.adjust("1 hour")
      expect(yield* statusOf(payment)).toBe("failed: unverified")
      expect(yield* deliveries).toBe(0)
    }))

  it("a thousand unpaid payments go in one sweep; a settled one stays", () =>
    Effect.gen(function* () {
      const { chain, open, report, send } = yield* shop
      const settled = yield* open
      const transfer = yield* send(settled)
      yield* chain.mine(2)
      yield* report(settled, transfer)
      const all = yield* Effect.forEach(Array.from({ length: 1100 }), () => open)
      yield* TestClock.adjust("24 hours")
      yield* TestClock.adjust("1 minute")
      expect(new Set(yield* Effect.forEach(all, statusOf))).toEqual(new Set(["failed: expired"]))
      expect(yield* statusOf(settled)).toBe("settled")
    }))
})

describe(`the watch until a block is final; ${row.reorganised}`, () => {
  const settledPayment = Effect.gen(function* () {
    const { chain, deliveries, open, report, send } = yield* shop
    const payment = yield* open
    const transfer = yield* send(payment)
    yield* chain.mine(2)
    expect(Result.isSuccess(yield* report(payment, transfer))).toBe(true)
    const repo = yield* PaymentRepo
    const watched = Effect.map(repo.takeWatched(new Date(8.64e15), new Date(0), 10), (all) => all[0])
    return { chain, deliveries, payment, repo, watched, before: yield* stateOf(payment) }
  })

  it("a block that stays is watched until it is `finalityDepth` deep, and no longer", () =>
    Effect.gen(function* () {
      const { chain, watched } = yield* settledPayment
      yield* TestClock.adjust("61 seconds")
      expect(yield* watched).toBeDefined()
      yield* chain.mine(4)
      yield* TestClock.adjust("70 seconds")
      expect(yield* watched).toBeUndefined()
    }))

  it("a dropped transfer raises an alert that names the payment and leaves it settled", (raised) =>
    Effect.gen(function* () {
      const { before, chain, deliveries, payment, watched } = yield* settledPayment
      yield* chain.reorganise(2, "drop")
      yield* TestClock.adjust("65 seconds")
      expect(raised.map(({ kind, subject }) => [kind, subject])).toEqual([["transfer_dropped", payment.id]])
      expect(raised[0]?.message).toContain(payment.id)
      expect(yield* stateOf(payment)).toEqual(before)
      expect((yield* watched)?.droppedAt).not.toBeNull()
      expect(yield* deliveries).toBe(1)
    }))

  it("re-inclusion in another block is recognised without an alert, and watched there until it is final", (raised) =>
    Effect.gen(function* () {
      const { before, chain, payment, watched } = yield* settledPayment
      const old = yield* watched
      yield* chain.reorganise(2, "keep")
      yield* TestClock.adjust("65 seconds")
      const now = yield* watched
      expect(now?.blockHash).not.toBe(old?.blockHash)
      expect(now?.droppedAt).toBeNull()
      yield* chain.mine(6)
      yield* TestClock.adjust("65 seconds")
      expect(yield* watched).toBeUndefined()
      expect(raised).toEqual([])
      expect(yield* stateOf(payment)).toEqual(before)
    }))

  it(`an outage during the watch is no drop`, (raised) =>
    Effect.gen(function* () {
      const { chain, watched } = yield* settledPayment
      yield* chain.fault("fail")
      yield* TestClock.adjust("10 minutes")
      yield* chain.fault("lie")
      yield* TestClock.adjust("10 minutes")
      expect(raised).toEqual([])
      yield* chain.fault("none")
      yield* chain.mine(6)
      yield* TestClock.adjust("2 minutes")
      expect(yield* watched).toBeUndefined()
    }))
})
