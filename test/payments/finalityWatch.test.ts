// A settled block is watched until it is final: a drop raises an alert and changes nothing, a return is recognised. In
// memory, under a clock that the test moves.
import { describe, expect } from "bun:test"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { row } from "../support/attackRows.ts"
import { stateOf } from "../support/paymentStack.ts"
import { reconcilerTest as it, shop } from "../support/reconcilerBench.ts"

describe(`the watch until a block is final; ${row.reorganised}`, () => {
  const settledPayment = Effect.gen(function* () {
    const { chain, deliveries, open, report, send } = yield* shop
    const payment = yield* open
    const transfer = yield* send(payment)
    yield* chain.mine(2)
    expect(Result.isSuccess(yield* report(payment, transfer))).toBe(true)
    const repo = yield* PaymentRepo
    const watched = Effect.map(repo.takeWatched("test", new Date(8.64e15), new Date(0), 10), (all) => all[0])
    return {
      chain,
      deliveries,
      open,
      payment,
      repo,
      report,
      transfer,
      watched,
      before: yield* stateOf(payment)
    }
  })

  it("a block that remains is watched until it is `finalityDepth` deep, and no longer", () =>
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
      // Raised once: an alert that a person has acknowledged stays acknowledged.
      yield* TestClock.adjust("10 minutes")
      expect(raised).toHaveLength(1)
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

  it("another payment's report of a re-included transaction waits until the first claim has the new block", () =>
    Effect.gen(function* () {
      const { chain, open, report, transfer, watched } = yield* settledPayment
      const other = yield* open
      yield* chain.reorganise(2, "keep")
      expect(Result.getOrThrow(yield* report(other, transfer))._tag).toBe("Pending")
      yield* TestClock.adjust("65 seconds")
      expect(yield* watched).toBeDefined()
      expect(yield* report(other, transfer)).toMatchObject({ failure: { reason: "already_used" } })
      expect((yield* stateOf(other)).status).toBe("pending")
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
