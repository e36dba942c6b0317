// Work without a browser: stored reports settle or end, and unpaid payments fail. In memory, under a clock that the
// test moves.
import { describe, expect } from "bun:test"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { PaymentId } from "../../src/domain/Payment.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { row } from "../support/attackRows.ts"
import { stateOf } from "../support/paymentStack.ts"
import { hash, payer, receiver, thief } from "../support/rawReceipts.ts"
import {
  reconcilerTest as it,
  readChain,
  reconcilerTest,
  shop,
  statusOf
} from "../support/reconcilerBench.ts"

describe("stored reports", () => {
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

  it("a later report that is refused does not replace the good one that is stored", () =>
    Effect.gen(function* () {
      const { chain, deliveries, open, report, send } = yield* shop
      const payment = yield* open
      const other = yield* open
      const good = yield* send(payment)
      yield* report(payment, good)
      const wrong = yield* send(other, 7n)
      yield* report(payment, wrong)
      yield* chain.mine(2)
      expect(Result.isFailure(yield* report(payment, wrong))).toBe(true)
      yield* TestClock.adjust("20 seconds")
      expect(yield* statusOf(payment)).toBe("settled")
      expect((yield* stateOf(payment)).reported?.evidence.transactionId).toBe(good)
      expect(yield* deliveries).toBe(1)
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

  const distancesOf = (looks: ReadonlyArray<number>) =>
    looks.map((at, index) => Math.round((at - (looks[index - 1] ?? 0)) / 1000)).slice(1)

  it("a transaction that no node shows is checked six times in ten minutes, and again on a new report", (_raised, looks) =>
    Effect.gen(function* () {
      const { open, report } = yield* shop
      const payment = yield* open
      yield* report(payment, hash("55"))
      yield* TestClock.adjust("2 hours")
      expect(distancesOf(looks)).toEqual([5, 10, 25, 60, 150, 350])
      looks.length = 0
      yield* report(payment, hash("55"))
      yield* TestClock.adjust("1 hour")
      expect(distancesOf(looks)).toEqual([5, 10, 25, 60, 150, 350])
    }))

  it("while nodes are down checks come at doubling intervals, at most 5 minutes apart, and never end", (_raised, looks) =>
    Effect.gen(function* () {
      const { chain, open, report } = yield* shop
      yield* chain.fault("fail")
      yield* report(yield* open, hash("55"))
      yield* TestClock.adjust("30 minutes")
      const distances = distancesOf(looks)
      expect(distances.slice(0, 7)).toEqual([5, 5, 10, 20, 40, 80, 160])
      expect(distances.slice(7).every((one) => one >= 300 && one <= 301)).toBe(true)
      expect(distances.length).toBeGreaterThan(9)
    }))

  it("a mismatch ends the checks for good; the transfer that pays is accepted later all the same", () =>
    Effect.gen(function* () {
      const { chain, open, report, send } = yield* shop
      const payment = yield* open
      yield* report(payment, yield* send(payment, 7n))
      yield* chain.mine(2)
      yield* TestClock.adjust("20 minutes")
      expect(yield* statusOf(payment)).toBe("pending")
      const repo = yield* PaymentRepo
      expect(yield* repo.takeDueReports("test", new Date(8.64e15), new Date(8.64e15), 10)).toHaveLength(0)
      yield* report(payment, yield* send(payment))
      yield* chain.mine(2)
      yield* TestClock.adjust("10 seconds")
      expect(yield* statusOf(payment)).toBe("settled")
    }))

  it(`${row.reorganised}: a mismatch that is not confirmed yet is checked again`, () =>
    Effect.gen(function* () {
      const { chain, open, report } = yield* shop
      const payment = yield* open
      // Reverts in its first block for lack of money, and succeeds when it is included again.
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

  it(`${row.thief}: a thief's stored report does not block the buyer's`, () =>
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
  /** Days pass in these tests: workers that poll each second would take most of the time. */
  const it = <E>(name: string, effect: Parameters<typeof reconcilerTest<E>>[1]) =>
    reconcilerTest(name, effect, 1, "1 minute")

  it("an unreported payment fails after PAYMENT_EXPIRY as expired, and not before", () =>
    Effect.gen(function* () {
      const { open } = yield* shop
      const payment = yield* open
      yield* TestClock.adjust("23 hours")
      yield* TestClock.adjust("59 minutes")
      expect(yield* statusOf(payment)).toBe("pending")
      yield* TestClock.adjust("2 minutes")
      // The deadline alone does not fail it: the chain has not been read up to it.
      expect(yield* statusOf(payment)).toBe("pending")
      yield* readChain
      yield* TestClock.adjust("1 minute")
      expect(yield* statusOf(payment)).toBe("failed: expired")
    }))

  it("a service that has just started fails no payment for fifteen minutes", () =>
    Effect.gen(function* () {
      const { open } = yield* shop
      const repo = yield* PaymentRepo
      const payment = yield* open
      yield* TestClock.adjust("5 minutes")
      yield* readChain
      const { amount, env, intentUrl, merchantId, payerType, receiver } = payment
      const old = {
        amount,
        env,
        intentUrl,
        merchantId,
        payerType,
        receiver,
        id: PaymentId.make("01a1fc34-7205-710e-9410-874fee9a4996"),
        at: new Date(-48 * 3_600_000)
      }
      const { payment: overdue } = yield* repo.open(old)
      yield* TestClock.adjust("9 minutes")
      expect(yield* statusOf(overdue)).toBe("pending")
      yield* readChain
      yield* TestClock.adjust("2 minutes")
      expect(yield* statusOf(overdue)).toBe("failed: expired")
    }))

  it("a report with a transfer of another amount for a failed payment is refused as failed", () =>
    Effect.gen(function* () {
      const { chain, open, report, send } = yield* shop
      const payment = yield* open
      yield* TestClock.adjust("25 hours")
      yield* readChain
      yield* TestClock.adjust("1 minute")
      const transfer = yield* send(payment, 7n)
      yield* chain.mine(2)
      const answer = yield* report(payment, transfer)
      expect(Result.isFailure(answer) && answer.failure.code).toBe("PAYMENT_FAILED")
      expect(yield* statusOf(payment)).toBe("failed: expired")
    }))

  it("a report that the chain has not decided fails nothing past the deadline: an outage of two days", () =>
    Effect.gen(function* () {
      const { chain, open, report, send } = yield* shop
      const payment = yield* open
      const transfer = yield* send(payment)
      yield* chain.mine(2)
      yield* chain.fault("fail")
      yield* report(payment, transfer)
      yield* TestClock.adjust("48 hours")
      yield* readChain
      yield* TestClock.adjust("2 minutes")
      expect(yield* statusOf(payment)).toBe("pending")
      yield* chain.fault("none")
      yield* TestClock.adjust("6 minutes")
      expect(yield* statusOf(payment)).toBe("settled")
    }))

  it("evidence that never verifies fails the payment 24 h after the last report, as unverified", () =>
    Effect.gen(function* () {
      const { chain, deliveries, open, report, send } = yield* shop
      const payment = yield* open
      yield* report(payment, hash("44"))
      yield* TestClock.adjust("20 hours")
      yield* report(payment, hash("45"))
      yield* TestClock.adjust("23 hours")
      expect(yield* statusOf(payment)).toBe("pending")
      yield* TestClock.adjust("61 minutes")
      yield* readChain
      yield* TestClock.adjust("1 minute")
      expect(yield* statusOf(payment)).toBe("failed: unverified")
      expect(yield* deliveries).toBe(0)
      // The exact transfer, proven late, still settles it.
      const late = yield* report(payment, yield* send(payment))
      expect(Result.isSuccess(late) && late.success._tag).toBe("Pending")
      yield* chain.mine(2)
      yield* TestClock.adjust("2 minutes")
      expect(yield* statusOf(payment)).toBe("settled")
      expect(yield* deliveries).toBe(1)
    }))

  it("a thousand unpaid payments fail in one sweep; a settled one stays", () =>
    Effect.gen(function* () {
      const { chain, open, report, send } = yield* shop
      const settled = yield* open
      const transfer = yield* send(settled)
      yield* chain.mine(2)
      yield* report(settled, transfer)
      const all = yield* Effect.forEach(Array.from({ length: 1100 }), () => open)
      yield* TestClock.adjust("24 hours")
      yield* TestClock.adjust("1 minute")
      yield* readChain
      yield* TestClock.adjust("1 minute")
      expect(new Set(yield* Effect.forEach(all, statusOf))).toEqual(new Set(["failed: expired"]))
      expect(yield* statusOf(settled)).toBe("settled")
    }))
})
