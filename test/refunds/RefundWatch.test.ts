// What becomes of a refund is told, and no longer open once it is over, also where an instance ends between the two.
import { expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Alerts } from "../../src/alerts/Alerts.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import { BlockStatus } from "../../src/chain/Verification.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { Refunds } from "../../src/refunds/Refunds.ts"
import * as RefundWatch from "../../src/refunds/RefundWatch.ts"
import { memoryStack, newMerchant, openPayment, paid, reportOf } from "../support/paymentStack.ts"
import { payer, receiver } from "../support/rawReceipts.ts"
import { testEffect } from "../support/run.ts"

const stack = Refunds.layer.pipe(
  Layer.provideMerge(memoryStack),
  Layer.provideMerge(ChainVerifier.layerMemory),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** The watch, whose next call of `ends` is where its instance ends, on a chain that shows the refund or not. */
const watched = (
  name: string,
  test: (world: {
    readonly fault: { ends: "note" | "raise" | null; dropped: boolean }
    readonly told: Array<string>
    readonly open: Set<string>
  }) => Effect.Effect<unknown, unknown, Layer.Success<typeof stack>>
) =>
  testEffect(name, () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(stack)
      const world = { fault: { ends: null, dropped: false }, told: [], open: new Set() } as Parameters<
        typeof test
      >[0]
      const { fault, open, told } = world
      const orEnd = <A>(at: "note" | "raise", effect: Effect.Effect<A>) =>
        Effect.suspend(() => {
          if (fault.ends !== at) return effect
          fault.ends = null
          return Effect.die("the instance ends")
        })
      const repo = Context.get(context, PaymentRepo)
      const verifier = Context.get(context, ChainVerifier)
      const given = Layer.mergeAll(
        Layer.succeed(Alerts, {
          raise: ({ subject }) =>
            orEnd(
              "raise",
              Effect.sync(() => {
                if (!open.has(subject)) told.push(subject)
                open.add(subject)
              })
            ),
          resolve: (_, subject) => Effect.sync(() => void open.delete(subject))
        }),
        Layer.succeed(PaymentRepo, {
          ...repo,
          noteRefundWatched: (id, note) => orEnd("note", repo.noteRefundWatched(id, note))
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
      yield* Effect.orDie(test(world)).pipe(Effect.provideContext(context))
    })
  )

const refunded = Effect.fnUntraced(function* (named?: TransactionHash) {
  const chain = yield* MemoryChain
  const payments = yield* Payments
  const refunds = yield* Refunds
  const { principal, tenant } = yield* newMerchant(receiver)
  const payment = yield* openPayment(principal, receiver, 1_000_000n)
  yield* payments.report(principal, payment.id, reportOf(payment, payer, yield* paid(payer, payment)))
  const transactionId =
    named ??
    (yield* Effect.tap(chain.transfer({ from: receiver, to: payer, amount: 1_000_000n }), chain.mine(2)))
  const { refund } = yield* refunds.create(tenant, {
    of: { paymentId: payment.id },
    transactionId,
    by: "API"
  })
  return { refund, now: refunds.find(tenant, refund.id) }
})

watched(
  "a drop that is over leaves no alert open, also where an instance ended while it told",
  ({ fault, open }) =>
    Effect.gen(function* () {
      const { now, refund } = yield* refunded()
      expect(refund.status).toBe("proven")
      Object.assign(fault, { dropped: true, ends: "note" })
      yield* TestClock.adjust("62 seconds")
      expect(fault.ends).toBeNull()
      // The transfer has returned by the second look.
      fault.dropped = false
      yield* TestClock.adjust("5 minutes")
      expect((yield* now).droppedAt).toBeNull()
      expect([...open]).toEqual([])
    })
)

watched("a refund that has failed is told, also where an instance ended between the two", ({ fault, told }) =>
  Effect.gen(function* () {
    const { now, refund } = yield* refunded(TransactionHash.make(`0x${"cd".repeat(32)}`))
    fault.ends = "raise"
    yield* TestClock.adjust("26 hours")
    yield* TestClock.adjust("1 hour")
    expect(yield* now).toMatchObject({ status: "failed", failureReason: "not_found" })
    expect(told).toEqual([refund.id])
  })
)
