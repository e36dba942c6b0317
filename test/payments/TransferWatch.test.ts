// The reader of the chain, under a clock that the test moves: its alerts to people, the kind of each transfer, and that
// several readers share one cursor.

import { describe, expect } from "bun:test"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { ChainHeights } from "../../src/chain/ChainHeights.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import { RangeReading } from "../../src/chain/Verification.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { PaymentAttempts } from "../../src/payments/PaymentAttempts.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import * as TransferWatch from "../../src/payments/TransferWatch.ts"
import type { Alert } from "../../src/platform/alerts/Alert.ts"
import { Alerts } from "../../src/platform/alerts/Alerts.ts"
import { testDatabase } from "../support/database.ts"
import { buildOnDatabaseTime, passes } from "../support/databaseTime.ts"
import { newMerchant, openPayment, sqlStack, stateOf } from "../support/paymentStack.ts"
import { payer, receiver, thief } from "../support/rawReceipts.ts"
import { testEffect } from "../support/run.ts"

const price = 1_000_000n
type Verifier = ChainVerifier["Service"]

/** Nodes that have deleted every block below a height, and how they say so. */
const pruned =
  (oldest: () => bigint, says: RangeReading = RangeReading.Missing()) =>
  (chain: Verifier): Verifier => ({
    ...chain,
    readTransfers: (env, from, to, filter) =>
      from < oldest() ? Effect.succeed(says) : chain.readTransfers(env, from, to, filter)
  })

const watched = (
  name: string,
  test: (raised: Array<Alert>) => Effect.Effect<unknown, unknown, Layer.Success<typeof stack>>,
  readers = 1,
  /** Wraps the services of the readers. */
  around: (payments: Payments["Service"]) => Payments["Service"] = (payments) => payments,
  { aroundChain = (chain: Verifier): Verifier => chain, blocks = 0 } = {}
) =>
  testEffect(name, () =>
    Effect.gen(function* () {
      const raised: Array<Alert> = []
      // A quarter of an hour before midnight, UTC.
      yield* TestClock.adjust("23 hours")
      yield* TestClock.adjust("45 minutes")
      const alerts = Layer.succeed(Alerts, {
        // Like the database: one open alert for a kind and subject.
        raise: (alert) =>
          Effect.sync(() => {
            if (!raised.some(({ kind, subject }) => kind === alert.kind && subject === alert.subject))
              raised.push(alert)
          }),
        resolve: () => Effect.void
      })
      const context = yield* buildOnDatabaseTime(stack)
      yield* Effect.flatMap(MemoryChain, (chain) =>
        Effect.andThen(chain.automine(false), chain.mine(blocks))
      ).pipe(Effect.provideContext(context))
      const verifier = Layer.succeed(ChainVerifier, aroundChain(Context.get(context, ChainVerifier)))
      for (let reader = 0; reader < readers; reader++) {
        yield* Layer.build(
          Layer.fresh(TransferWatch.layer).pipe(
            Layer.provide(alerts),
            Layer.provide(verifier),
            Layer.provide(Layer.succeed(Payments, around(Context.get(context, Payments)))),
            Layer.provide(Layer.succeedContext(context))
          )
        )
      }
      yield* Effect.orDie(test(raised)).pipe(Effect.provideContext(context))
    })
  )

const stack = sqlStack.pipe(
  Layer.provideMerge(ChainVerifier.layerMemory),
  Layer.provideMerge(testDatabase.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

const shop = Effect.gen(function* () {
  const chain = yield* MemoryChain
  const transferRepo = yield* TransferRepo
  const merchant = yield* newMerchant(receiver)
  const send = (from: typeof payer, amount: bigint) =>
    chain
      .fund(from, { usdcAtomic: amount })
      .pipe(Effect.andThen(chain.transfer({ from, to: receiver, amount })), Effect.tap(chain.mine(2)))
  return {
    ...merchant,
    chain,
    send,
    open: openPayment(merchant.principal, receiver, price),
    /** Transfers that no payment claims, including dust. */
    transfers: transferRepo
      .listTransfers(merchant.tenant, { status: "all", limit: 100, startingAfter: undefined })
      .pipe(
        Effect.map((all) =>
          all.filter(
            ({ droppedAt, handledAt, paymentId }) =>
              paymentId === null && droppedAt === null && handledAt === null
          )
        )
      )
  }
})

describe("nodes without old blocks", () => {
  watched(
    "a first start begins with the oldest block that the nodes have",
    (raised) =>
      Effect.gen(function* () {
        const { send, transfers } = yield* shop
        yield* passes("10 seconds")
        yield* send(thief, 10_000n)
        yield* passes("10 seconds")
        expect((yield* transfers).map(({ amount }) => amount)).toEqual([10_000n])
        expect(raised).toEqual([])
      }),
    1,
    undefined,
    { aroundChain: pruned(() => 2_500n), blocks: 3_000 }
  )

  let oldest = 0n
  watched(
    "an outage longer than their history raises an alert with both heights, and later blocks are read",
    (raised) =>
      Effect.gen(function* () {
        const { chain, send, transfers } = yield* shop
        yield* passes("10 seconds")
        const before = yield* Effect.map(TransferRepo, ({ cursor }) => cursor("test")).pipe(Effect.flatten)
        const last = Option.getOrThrow(before).blockNumber
        oldest = last + 1_000n
        yield* chain.mine(3_000)
        // Perhaps only one machine of several lacks the blocks.
        yield* passes("20 seconds")
        expect(raised).toEqual([])
        yield* passes("40 seconds")
        yield* send(thief, 10_000n)
        yield* passes("20 seconds")
        expect((yield* transfers).map(({ amount }) => amount)).toEqual([10_000n])
        expect(raised.map(({ kind }) => kind)).toEqual(["chain_gap"])
        expect(raised[0]?.message).toContain(`blocks ${last + 1n} to ${oldest - 1n} `)
      }),
    1,
    undefined,
    { aroundChain: pruned(() => oldest), blocks: 10 }
  )

  let refused = 0n
  watched(
    "blocks that the nodes refuse for ten minutes, in whatever words, are skipped with the same alert",
    (raised) =>
      Effect.gen(function* () {
        const { chain, send, transfers } = yield* shop
        yield* passes("10 seconds")
        const before = yield* Effect.map(TransferRepo, ({ cursor }) => cursor("test")).pipe(Effect.flatten)
        const last = Option.getOrThrow(before).blockNumber
        refused = last + 1_000n
        yield* chain.mine(3_000)
        yield* passes("9 minutes")
        expect(raised).toEqual([])
        yield* passes("3 minutes")
        yield* send(thief, 10_000n)
        yield* passes("20 seconds")
        expect((yield* transfers).map(({ amount }) => amount)).toEqual([10_000n])
        expect(raised.map(({ kind }) => kind)).toEqual(["chain_gap"])
        expect(raised[0]?.message).toContain(`blocks ${last + 1n} to ${refused - 1n} `)
      }),
    1,
    undefined,
    { aroundChain: pruned(() => refused, RangeReading.Unread({ refused: true })), blocks: 10 }
  )

  let until = 0
  let asked = 0
  watched(
    "one machine of several that lacks the blocks for a moment is no gap",
    (raised) =>
      Effect.gen(function* () {
        const { chain, send, transfers } = yield* shop
        yield* passes("10 seconds")
        yield* chain.mine(300)
        yield* send(thief, 10_000n)
        until = asked + 4
        yield* passes("40 seconds")
        expect((yield* transfers).map(({ amount }) => amount)).toEqual([10_000n])
        expect(raised).toEqual([])
      }),
    1,
    undefined,
    {
      aroundChain: (chain) => ({
        ...chain,
        readTransfers: (...question) =>
          Effect.suspend(() =>
            ++asked < until ? Effect.succeed(RangeReading.Missing()) : chain.readTransfers(...question)
          )
      })
    }
  )
})

describe("the reader of the chain", () => {
  watched("one alert for each merchant and day, however many transfers", (raised) =>
    Effect.gen(function* () {
      const { open, send, transfers } = yield* shop
      yield* open
      yield* passes("2 seconds")
      for (let cent = 0; cent < 30; cent++) yield* send(thief, 10_000n + BigInt(cent))
      yield* passes("1 minute")
      expect(yield* transfers).toHaveLength(30)
      // People are not alerted before a report has had time to arrive.
      expect(raised).toHaveLength(0)
      yield* passes("3 minutes")
      expect(raised.map(({ kind }) => kind)).toEqual(["incoming_transfer"])
      expect(raised[0]?.message).toContain("30 transfers")
      for (let cent = 0; cent < 5; cent++) yield* send(thief, 20_000n + BigInt(cent))
      yield* passes("5 minutes")
      expect(raised).toHaveLength(1)
      yield* passes("10 minutes")
      yield* send(thief, 30_000n)
      yield* passes("4 minutes")
      expect(raised).toHaveLength(2)
    })
  )

  watched("an announced wallet's transfer settles without a report, and raises no alert", (raised) =>
    Effect.gen(function* () {
      const { open, principal, send, transfers } = yield* shop
      const payment = yield* open
      const attempts = yield* PaymentAttempts
      const announced = yield* attempts.announce(principal, payment.id, {
        buyerDidToken: `buyer:${payer}:${payment.id}`,
        method: "transfer",
        client: ""
      })
      expect(announced._tag).toBe("AttemptAnnounced")
      yield* passes("2 seconds")
      yield* send(payer, price)
      yield* passes("3 seconds")
      expect((yield* stateOf(payment)).status).toBe("settled")
      yield* passes("5 minutes")
      expect(yield* transfers).toHaveLength(0)
      expect(raised).toHaveLength(0)
    })
  )

  watched(
    "of three readers one reads at a time, and each transfer is stored once",
    () =>
      Effect.gen(function* () {
        const { open, send, transfers } = yield* shop
        yield* open
        for (let block = 0; block < 20; block++) {
          yield* send(thief, 1n + BigInt(block))
          yield* passes("1 second")
        }
        yield* passes("15 seconds")
        expect((yield* transfers).map(({ amount }) => Number(amount)).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: 20 }, (_, index) => index + 1)
        )
      }),
    3
  )

  watched(
    "an attempt without a transaction ends after half an hour of blocks, and its nonce is used again",
    () =>
      Effect.gen(function* () {
        const { chain, open, principal } = yield* shop
        const payment = yield* open
        const attempts = yield* PaymentAttempts
        const announce = attempts.announce(principal, payment.id, {
          buyerDidToken: `buyer:${payer}:${payment.id}`,
          method: "transfer",
          nonce: 4n,
          client: ""
        })
        yield* announce
        yield* passes("29 minutes")
        yield* chain.mine(2)
        yield* passes("2 seconds")
        expect((yield* announce)._tag).toBe("AttemptRefused")
        yield* passes("2 minutes")
        // The time is over, but no block of that time has been read.
        expect((yield* announce)._tag).toBe("AttemptRefused")
        yield* chain.mine(2)
        yield* passes("2 seconds")
        const again = yield* announce
        expect(again).toMatchObject({ _tag: "AttemptAnnounced", attempt: { nonce: 4n } })
      })
  )

  for (const isBefore of [true, false])
    watched(`a nonce used just ${isBefore ? "before" : "after"} the announcement, with nodes that lag`, () =>
      Effect.gen(function* () {
        const { chain, open, principal } = yield* shop
        const payment = yield* open
        const attempts = yield* PaymentAttempts
        const announce = attempts.announce(principal, payment.id, {
          buyerDidToken: `buyer:${payer}:${payment.id}`,
          method: "transfer",
          client: ""
        })
        const useNonce = chain
          .transfer({ from: payer, to: thief, amount: 1n })
          .pipe(Effect.andThen(chain.mine(1)), Effect.andThen(passes("2 seconds")))
        yield* chain.fund(payer, { usdcAtomic: 1n })
        yield* chain.mine(4)
        yield* passes("6 seconds")
        yield* chain.lag(2)
        if (isBefore) yield* useNonce
        expect(yield* announce).toMatchObject({ _tag: "AttemptAnnounced", attempt: { nonce: 0n } })
        if (!isBefore) yield* useNonce
        yield* chain.lag(0)
        yield* chain.mine(12)
        // Until then its wallet's prompt may be open.
        yield* passes("10 minutes")
        // A nonce used before the announcement proves nothing about the wallet's request.
        expect(yield* announce).toMatchObject(
          isBefore
            ? { _tag: "AttemptRefused", error: { code: "PAYMENT_ATTEMPT_OPEN" } }
            : { _tag: "AttemptAnnounced", attempt: { nonce: 1n } }
        )
      })
    )

  watched("a transfer whose attachment was interrupted by a kill settles its announced payment", () =>
    Effect.gen(function* () {
      const { chain, open, principal, send, tenant, transfers } = yield* shop
      const [attached, announced] = [yield* open, yield* open]
      const attempts = yield* PaymentAttempts
      const transferRepo = yield* TransferRepo
      yield* passes("2 seconds")
      yield* send(payer, price)
      yield* passes("3 seconds")
      const [transfer] = yield* transfers
      expect(transfer).toMatchObject({ kind: "unknown", paymentId: null })
      const by = { person: "ann@example.com", note: null, at: yield* DateTime.nowAsDate }
      expect(yield* transferRepo.leaseForPayment(tenant, transfer?.id ?? "", attached.id, by)).toBeTrue()
      const announce = attempts.announce(principal, announced.id, {
        buyerDidToken: `buyer:${payer}:${announced.id}`,
        method: "transfer",
        client: ""
      })
      // Until then its wallet is not asked to pay again, in any browser.
      expect(yield* announce).toMatchObject({
        _tag: "AttemptRefused",
        error: { code: "PAYMENT_ATTEMPT_OPEN" },
        known: { attempts: [{ payer, transactionId: transfer?.transactionId }] }
      })
      yield* passes("61 seconds")
      yield* chain.mine(1)
      expect(yield* announce).toMatchObject({ _tag: "AttemptRefused", error: { code: "PAYMENT_SETTLED" } })
      expect([(yield* stateOf(attached)).status, (yield* stateOf(announced)).status]).toEqual([
        "pending",
        "settled"
      ])
      expect(yield* transfers).toHaveLength(0)
    })
  )

  watched("an attempt announced while nodes were silent ends by the nonce that its wallet has used", () =>
    Effect.gen(function* () {
      const { chain, open, principal } = yield* shop
      const payment = yield* open
      const attempts = yield* PaymentAttempts
      yield* chain.mine(3)
      yield* passes("6 seconds")
      yield* chain.fault("fail")
      const announced = yield* attempts.announce(principal, payment.id, {
        buyerDidToken: `buyer:${payer}:${payment.id}`,
        method: "transfer",
        client: ""
      })
      yield* chain.fault("none")
      if (announced._tag !== "AttemptAnnounced") throw new Error(announced._tag)
      expect(announced.attempt.nonce).toBeNull()
      yield* chain.revert({ from: payer, to: receiver, amount: price })
      yield* chain.mine(12)
      yield* passes("10 seconds")
      const attemptId = announced.attempt.id
      const openWith = (own: { readonly attemptId: string; readonly nonce: bigint }) =>
        Effect.map(
          attempts.read(principal, payment.id, { payer, own, client: "" }),
          (read) => read.attempts.length
        )
      expect(yield* openWith({ attemptId, nonce: 1n })).toBe(1)
      expect(yield* openWith({ attemptId, nonce: 0n })).toBe(0)
    })
  )

  for (const ends of ["by its own nonce", "by its time"] as const)
    watched(
      `an attempt does not end ${ends} while its transfer is in blocks that replaced the ones read`,
      () =>
        Effect.gen(function* () {
          const { chain, open, principal } = yield* shop
          const payment = yield* open
          const attempts = yield* PaymentAttempts
          yield* chain.mine(3)
          yield* passes("6 seconds")
          const announced = yield* attempts.announce(principal, payment.id, {
            buyerDidToken: `buyer:${payer}:${payment.id}`,
            method: "transfer",
            client: ""
          })
          if (announced._tag !== "AttemptAnnounced") throw new Error(announced._tag)
          yield* passes(ends === "by its time" ? "31 minutes" : "6 seconds")
          yield* chain.mine(20)
          yield* passes("6 seconds")
          yield* chain.fund(payer, { usdcAtomic: price })
          yield* chain.transfer({ from: payer, to: receiver, amount: price })
          // Deeper than the blocks that a nonce waits for; no reader has read them again yet.
          yield* chain.reorganise(12, "keep")
          const own = { attemptId: announced.attempt.id, nonce: 0n }
          const read = yield* attempts.read(principal, payment.id, {
            payer,
            own: ends === "by its time" ? undefined : own,
            client: ""
          })
          expect(read.attempts).toHaveLength(1)
          yield* chain.mine(2)
          yield* passes("20 seconds")
          expect((yield* stateOf(payment)).status).toBe("settled")
        })
    )

  watched(
    "while nodes are silent, a wallet is not asked to pay again for a transfer that has been read",
    () =>
      Effect.gen(function* () {
        const { chain, open, principal, send } = yield* shop
        const payment = yield* open
        const attempts = yield* PaymentAttempts
        yield* passes("2 seconds")
        yield* send(payer, price)
        yield* passes("3 seconds")
        const announce = attempts.announce(principal, payment.id, {
          buyerDidToken: `buyer:${payer}:${payment.id}`,
          method: "transfer",
          client: ""
        })
        yield* chain.fault("fail")
        expect(yield* announce).toMatchObject({ error: { code: "PAYMENT_ATTEMPT_OPEN" } })
        yield* chain.fault("none")
        expect(yield* announce).toMatchObject({ error: { code: "PAYMENT_SETTLED" } })
      })
  )

  watched("silent and contradicting nodes stop the reading; nothing is lost when they recover", () =>
    Effect.gen(function* () {
      const { chain, open, send, transfers } = yield* shop
      yield* open
      yield* passes("2 seconds")
      yield* chain.fault("fail")
      yield* send(thief, 5n)
      yield* passes("1 minute")
      yield* chain.fault("lie")
      yield* send(thief, 6n)
      yield* passes("1 minute")
      expect(yield* transfers).toHaveLength(0)
      yield* chain.fault("none")
      yield* passes("3 seconds")
      expect((yield* transfers).map(({ amount }) => amount).toSorted()).toEqual([5n, 6n])
      const transferRepo = yield* TransferRepo
      expect(Option.getOrThrow(yield* transferRepo.cursor("test")).blockNumber).toBe(
        (yield* chain.head()) - 1n
      )
    })
  )

  const failing = { left: 0 }
  watched(
    "of a wallet's two payments the likelier one waits for failing nodes, and the other takes nothing",
    () =>
      Effect.gen(function* () {
        const { open, principal, send } = yield* shop
        const [other, meant] = [yield* open, yield* open]
        const attempts = yield* PaymentAttempts
        for (const payment of [other, meant]) {
          yield* passes("1 second")
          yield* attempts.announce(principal, payment.id, {
            buyerDidToken: `buyer:${payer}:${payment.id}`,
            method: "transfer",
            nonce: 0n,
            client: ""
          })
        }
        failing.left = 1
        yield* passes("2 seconds")
        yield* send(payer, price)
        yield* passes("3 seconds")
        expect([failing.left, (yield* stateOf(other)).status]).toEqual([0, "pending"])
        yield* passes("10 seconds")
        expect([(yield* stateOf(meant)).status, (yield* stateOf(other)).status]).toEqual([
          "settled",
          "pending"
        ])
      }),
    1,
    (payments) => ({
      ...payments,
      check: (payment, ...rest) =>
        failing.left > 0 && failing.left-- > 0
          ? Effect.succeed({ _tag: "Pending", payment, reason: "rpc_unavailable" })
          : payments.check(payment, ...rest)
    })
  )

  watched("a payment opens at the nodes' height, however far the reader is behind", () =>
    Effect.gen(function* () {
      const { chain } = yield* shop
      const transferRepo = yield* TransferRepo
      const at = yield* DateTime.nowAsDate
      yield* transferRepo.startCursor("test", {
        blockNumber: 0n,
        blockHash: TransactionHash.make(`0x${"00".repeat(32)}`),
        blockTime: at
      })
      // Another instance has the lease, and has stopped.
      yield* transferRepo.leaseCursor("test", {
        id: crypto.randomUUID(),
        at,
        until: new Date(at.getTime() + 15_000)
      })
      yield* chain.mine(100)
      yield* passes("6 seconds")
      expect(Option.getOrThrow(yield* transferRepo.cursor("test")).blockNumber).toBe(0n)
      const { openedBlock } = (yield* ChainHeights).openedBlock("test")
      expect(openedBlock).toBe((yield* chain.head()) - 1n)
    })
  )
})
