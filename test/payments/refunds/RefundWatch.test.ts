// Alerts about a refund are raised, and closed once it is over, even if an instance dies in between.

import { expect } from "bun:test"
import { Context, DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChainVerifier } from "../../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../../src/chain/MemoryChain.ts"
import { BlockStatus } from "../../../src/chain/Verification.ts"
import { TransactionHash } from "../../../src/domain/Chain.ts"
import type { Principal } from "../../../src/domain/Merchant.ts"
import { Payments } from "../../../src/payments/Payments.ts"
import { RefundRepo } from "../../../src/payments/refunds/RefundRepo.ts"
import { Refunds } from "../../../src/payments/refunds/Refunds.ts"
import * as RefundWatch from "../../../src/payments/refunds/RefundWatch.ts"
import { Alerts } from "../../../src/platform/alerts/Alerts.ts"
import { testDatabase } from "../../support/database.ts"
import { buildOnDatabaseTime, passes } from "../../support/databaseTime.ts"
import { newMerchant, openPayment, paid, reportOf, sqlStack } from "../../support/paymentStack.ts"
import { payer, receiver } from "../../support/rawReceipts.ts"
import { testEffect } from "../../support/run.ts"

const below = sqlStack.pipe(
  Layer.provideMerge(ChainVerifier.layerMemory),
  Layer.provideMerge(testDatabase.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

interface Fault {
  /** The step at which the instance dies, once. */
  ends: "note" | "raise" | null
  /** The chain does not show the refund's transfer. */
  dropped: boolean
  /** Runs between a refund's alert and its end. */
  beforeEnd: Effect.Effect<unknown>
}

interface World {
  readonly fault: Fault
  /** The subject of each raised alert. */
  readonly told: Array<string>
  readonly open: Set<string>
}

const watched = (
  name: string,
  test: (world: World) => Effect.Effect<unknown, unknown, Refunds | Layer.Success<typeof below>>
) =>
  testEffect(name, () =>
    Effect.gen(function* () {
      const fault: Fault = { ends: null, dropped: false, beforeEnd: Effect.void }
      const told: Array<string> = []
      const open = new Set<string>()
      const last = new Map<string, Date>()
      const orEnd = <A>(at: "note" | "raise", effect: Effect.Effect<A>) =>
        Effect.suspend(() => {
          if (fault.ends !== at) return effect
          fault.ends = null
          return Effect.die("the instance ends")
        })
      // Like the database: one open alert for a subject, and none again since then.
      const alerts = Layer.succeed(Alerts, {
        raise: ({ since, subject }) =>
          orEnd(
            "raise",
            Effect.map(DateTime.nowAsDate, (now) => {
              const before = last.get(subject)
              if (open.has(subject) || (since !== undefined && before !== undefined && before >= since))
                return
              told.push(subject)
              open.add(subject)
              last.set(subject, now)
            })
          ),
        resolve: (_, subject) => Effect.sync(() => void open.delete(subject))
      })
      const context = yield* buildOnDatabaseTime(
        Refunds.layer.pipe(Layer.provide(alerts), Layer.provideMerge(below))
      )
      const repo = Context.get(context, RefundRepo)
      const verifier = Context.get(context, ChainVerifier)
      const given = Layer.mergeAll(
        alerts,
        Layer.succeed(RefundRepo, {
          ...repo,
          endRefund: (...end) =>
            Effect.andThen(
              Effect.suspend(() => fault.beforeEnd),
              repo.endRefund(...end)
            ),
          recordRefundWatched: (...note) => orEnd("note", repo.recordRefundWatched(...note))
        }),
        Layer.succeed(ChainVerifier, {
          ...verifier,
          blockStatus: (env, settled) =>
            fault.dropped
              ? Effect.succeed(BlockStatus.Dropped({ reason: "not_included" }))
              : verifier.blockStatus(env, settled)
        })
      )
      yield* Layer.build(
        Layer.fresh(RefundWatch.layer).pipe(
          Layer.provide(given),
          Layer.provide(Layer.succeedContext(context))
        )
      )
      yield* Effect.orDie(test({ fault, told, open })).pipe(Effect.provideContext(context))
    })
  )

const settled = Effect.fnUntraced(function* (principal: Principal) {
  const payments = yield* Payments
  const payment = yield* openPayment(principal, receiver, 1_000_000n)
  yield* payments.report(principal, payment.id, reportOf(payment, payer, yield* paid(payer, payment)))
  return { paymentId: payment.id }
})

const refunded = Effect.fnUntraced(function* (named?: TransactionHash) {
  const chain = yield* MemoryChain
  const refunds = yield* Refunds
  const { principal, tenant } = yield* newMerchant(receiver)
  const of = yield* settled(principal)
  const transactionId =
    named ??
    (yield* Effect.tap(chain.transfer({ from: receiver, to: payer, amount: 1_000_000n }), chain.mine(2)))
  const { refund } = yield* refunds.create(tenant, {
    of,
    transactionId,
    by: "API"
  })
  return { tenant, refund, now: refunds.find(tenant, refund.id) }
})

watched(
  "a drop that is over leaves no alert open, even if an instance died while it raised it",
  ({ fault, open }) =>
    Effect.gen(function* () {
      const { now, refund } = yield* refunded()
      expect(refund.status).toBe("proven")
      Object.assign(fault, { dropped: true, ends: "note" })
      yield* passes("62 seconds")
      expect(fault.ends).toBeNull()
      // The transfer has returned by the second check.
      fault.dropped = false
      yield* passes("5 minutes")
      expect((yield* now).droppedAt).toBeNull()
      expect([...open]).toEqual([])
    })
)

watched("a failed refund raises an alert, even if an instance died in between", ({ fault, told }) =>
  Effect.gen(function* () {
    const { now, refund } = yield* refunded(TransactionHash.make(`0x${"cd".repeat(32)}`))
    fault.ends = "raise"
    yield* passes("26 hours", "10 minutes")
    yield* passes("1 hour", "10 minutes")
    expect(yield* now).toMatchObject({ status: "failed", failureReason: "not_found" })
    expect(told).toEqual([refund.id])
  })
)

watched(
  "of two refunds that wait for one transfer, the one without it fails, and raises an alert",
  ({ open, told }) =>
    Effect.gen(function* () {
      const chain = yield* MemoryChain
      const refunds = yield* Refunds
      const { principal, tenant } = yield* newMerchant(receiver)
      const things = [yield* settled(principal), yield* settled(principal)]
      yield* chain.automine(false)
      const transactionId = yield* chain.transfer({ from: receiver, to: payer, amount: 1_000_000n })
      const made = yield* Effect.forEach(things, (of) =>
        refunds.create(tenant, { of, transactionId, by: "API" })
      )
      expect(made.map(({ refund }) => refund.status)).toEqual(["pending", "pending"])
      yield* chain.mine(2)
      yield* passes("5 seconds")
      const now = yield* Effect.forEach(made, ({ refund }) => refunds.find(refund, refund.id))
      const lost = now.filter(({ status }) => status === "failed")
      expect(now.filter(({ status }) => status === "proven")).toHaveLength(1)
      expect(lost).toMatchObject([{ failureReason: "already_used", transactionId }])
      expect([told, [...open]]).toEqual([lost.map(({ id }) => id), lost.map(({ id }) => id)])
    })
)

watched("a refund that is cancelled after a drop leaves no alert open", ({ fault, open }) =>
  Effect.gen(function* () {
    const refunds = yield* Refunds
    const { refund, tenant } = yield* refunded()
    fault.dropped = true
    yield* passes("62 seconds")
    expect([...open]).toEqual([refund.id])
    yield* refunds.cancel(tenant, refund.id)
    expect([...open]).toEqual([])
  })
)

watched("a refund that is cancelled while it fails leaves no alert open", ({ fault, open, told }) =>
  Effect.gen(function* () {
    const refundRepo = yield* RefundRepo
    const { now, refund } = yield* refunded(TransactionHash.make(`0x${"cd".repeat(32)}`))
    // As by an instance that died before it resolved the alert.
    fault.beforeEnd = Effect.flatMap(DateTime.nowAsDate, (at) =>
      refundRepo.endRefund(refund.id, { status: "cancelled" }, at)
    )
    yield* passes("26 hours", "10 minutes")
    expect(yield* now).toMatchObject({ status: "cancelled" })
    expect([told, [...open]]).toEqual([[refund.id], []])
  })
)

watched("a transaction named while an earlier one fails raises its own alert", ({ fault, open, told }) =>
  Effect.gen(function* () {
    const refundRepo = yield* RefundRepo
    const { now, refund } = yield* refunded(TransactionHash.make(`0x${"cd".repeat(32)}`))
    const next = TransactionHash.make(`0x${"ef".repeat(32)}`)
    fault.beforeEnd = Effect.gen(function* () {
      fault.beforeEnd = Effect.void
      const at = yield* DateTime.nowAsDate
      yield* refundRepo.reportRefundTransaction(refund.id, next, new Date(at.getTime() - 1_000), at)
    })
    yield* passes("25 hours", "10 minutes")
    expect(yield* now).toMatchObject({ status: "pending", transactionId: next })
    expect([told, [...open]]).toEqual([[refund.id], []])
    yield* passes("26 hours", "10 minutes")
    expect(yield* now).toMatchObject({ status: "failed", transactionId: next })
    expect([told.length, [...open]]).toEqual([2, [refund.id]])
  })
)
