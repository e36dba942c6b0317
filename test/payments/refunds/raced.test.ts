// A refund named with its transaction is created and proven in one step: whatever takes its transfer first, and
// wherever an instance dies, all of it exists or nothing.

import { expect } from "bun:test"
import { Context, Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChainVerifier } from "../../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../../src/chain/MemoryChain.ts"
import { RefundEnded } from "../../../src/domain/Errors.ts"
import type { Principal, Tenant } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import type { PaymentId } from "../../../src/domain/Payment.ts"
import { Payments } from "../../../src/payments/Payments.ts"
import { RefundRepo } from "../../../src/payments/refunds/RefundRepo.ts"
import { Refunds } from "../../../src/payments/refunds/Refunds.ts"
import { testDatabase } from "../../support/database.ts"
import { newMerchant, openPayment, paid, reportOf, sqlStack } from "../../support/paymentStack.ts"
import { payer, receiver } from "../../support/rawReceipts.ts"
import { liveEffect } from "../../support/run.ts"

const below = sqlStack.pipe(
  Layer.provideMerge(ChainVerifier.layerMemory),
  Layer.provideMerge(testDatabase.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** Runs once, at a step of the instance. */
interface Moments {
  beforeBalance: Effect.Effect<unknown, unknown>
  beforeVerification: Effect.Effect<unknown, unknown>
  beforeNaming: Effect.Effect<unknown, unknown>
  beforeProof: Effect.Effect<unknown, unknown>
  beforeEnd: Effect.Effect<unknown, unknown>
  beforeCreation: Effect.Effect<unknown, unknown>
  afterCreation: Effect.Effect<unknown, unknown>
}

interface World {
  readonly tenant: Tenant
  readonly one: PaymentId
  readonly other: PaymentId
  readonly moments: Moments
  /** The instance with these steps. */
  readonly refunds: Refunds["Service"]
  /** Another instance. */
  readonly elsewhere: Refunds["Service"]
}

const settled = Effect.fnUntraced(function* (principal: Principal) {
  const payments = yield* Payments
  const payment = yield* openPayment(principal, receiver, 1_000_000n)
  yield* payments.report(principal, payment.id, reportOf(payment, payer, yield* paid(payer, payment)))
  return payment.id
})

const raced = (
  name: string,
  test: (world: World) => Effect.Effect<unknown, unknown, MemoryChain | RefundRepo>
) =>
  liveEffect(name, () =>
    Effect.gen(function* () {
      const moments: Moments = {
        beforeBalance: Effect.void,
        beforeVerification: Effect.void,
        beforeNaming: Effect.void,
        beforeProof: Effect.void,
        beforeEnd: Effect.void,
        beforeCreation: Effect.void,
        afterCreation: Effect.void
      }
      const once = (moment: keyof Moments) =>
        Effect.suspend(() => {
          const happens = moments[moment]
          moments[moment] = Effect.void
          return Effect.orDie(happens)
        })
      const context = yield* Layer.build(below)
      const repo = Context.get(context, RefundRepo)
      const watched = Layer.succeed(RefundRepo, {
        ...repo,
        refundBalance: (...of) => Effect.andThen(once("beforeBalance"), repo.refundBalance(...of)),
        sendersOf: (tenant, transactionId) =>
          Effect.andThen(once("beforeVerification"), repo.sendersOf(tenant, transactionId)),
        reportRefundTransaction: (...named) =>
          Effect.andThen(once("beforeNaming"), repo.reportRefundTransaction(...named)),
        endRefund: (...end) => Effect.andThen(once("beforeEnd"), repo.endRefund(...end)),
        proveRefund: (...proof) => Effect.andThen(once("beforeProof"), repo.proveRefund(...proof)),
        createRefund: (...refund) =>
          Effect.andThen(once("beforeCreation"), repo.createRefund(...refund)).pipe(
            Effect.tap(once("afterCreation"))
          )
      })
      const instance = (of: Layer.Layer<RefundRepo>) =>
        Effect.map(
          Layer.build(
            Layer.fresh(Refunds.layer).pipe(Layer.provide(of), Layer.provide(Layer.succeedContext(context)))
          ),
          Context.get(Refunds)
        )
      const refunds = yield* instance(watched)
      const elsewhere = yield* instance(Layer.succeed(RefundRepo, repo))
      yield* Effect.gen(function* () {
        const { principal, tenant } = yield* newMerchant(receiver)
        const [one, other] = [yield* settled(principal), yield* settled(principal)]
        yield* test({ tenant, one, other, moments, refunds, elsewhere })
      }).pipe(Effect.orDie, Effect.provideContext(context))
    })
  )

/** This many equal transfers back to the payer, in one transaction. */
const sent = Effect.fnUntraced(function* (times: number, confirmations = 2) {
  const chain = yield* MemoryChain
  const back = { from: receiver, to: payer, amount: 1_000_000n }
  const transactionId = yield* chain.batch(Array.from({ length: times }, () => back))
  yield* chain.mine(confirmations)
  return transactionId
})

const kept = Effect.fnUntraced(function* (tenant: Tenant, paymentId: PaymentId) {
  const refundRepo = yield* RefundRepo
  return Option.getOrThrow(yield* refundRepo.listRefunds(tenant, { of: { paymentId }, limit: 10 }))
})

raced(
  "a refund whose transfer another takes first is refused and not stored, and its id can still be used",
  ({ elsewhere, moments, one, other, refunds, tenant }) =>
    Effect.gen(function* () {
      const transactionId = yield* sent(1)
      const asked = { id: crypto.randomUUID(), of: { paymentId: one }, by: "API" }
      moments.beforeCreation = elsewhere.create(tenant, {
        of: { paymentId: other },
        transactionId,
        by: "API"
      })
      const error = yield* Effect.flip(refunds.create(tenant, { ...asked, transactionId }))
      expect(error).toMatchObject({ _tag: "RefundNotProven", reason: "already_used" })
      expect(yield* kept(tenant, one)).toEqual([])
      expect(yield* kept(tenant, other)).toMatchObject([{ status: "proven", transactionId }])
      const again = yield* refunds.create(tenant, { ...asked, transactionId: yield* sent(1) })
      expect(again).toMatchObject({ created: true, refund: { id: asked.id, status: "proven" } })
    })
)

raced(
  "a refund can be proven by a remaining equal transfer of its transaction",
  ({ elsewhere, moments, one, other, refunds, tenant }) =>
    Effect.gen(function* () {
      const transactionId = yield* sent(2)
      moments.beforeCreation = elsewhere.create(tenant, {
        of: { paymentId: other },
        transactionId,
        by: "API"
      })
      const made = yield* refunds.create(tenant, { of: { paymentId: one }, transactionId, by: "API" })
      expect(made).toMatchObject({ created: true, refund: { status: "proven", ordinal: 1 } })
      expect(yield* kept(tenant, one)).toHaveLength(1)
    })
)

for (const [moment, when] of [
  ["beforeBalance", "before the balance is read"],
  ["beforeVerification", "before its verification"],
  ["beforeCreation", "before its creation"]
] as const)
  for (const [by, own] of [
    ["its transaction", {}],
    ["its id", { id: crypto.randomUUID() }]
  ] as const)
    raced(
      `the same request by ${by}, answered elsewhere just ${when}, is the same refund`,
      ({ elsewhere, moments, one, refunds, tenant }) =>
        Effect.gen(function* () {
          const transactionId = yield* sent(1)
          const request = { ...own, of: { paymentId: one }, transactionId, by: "API" }
          moments[moment] = elsewhere.create(tenant, request)
          const second = yield* refunds.create(tenant, request)
          expect(second).toMatchObject({ created: false, refund: { status: "proven", transactionId } })
          expect(yield* kept(tenant, one)).toEqual([second.refund])
        })
    )

for (const [moment, when] of [
  ["beforeBalance", "before the balance is read"],
  ["beforeCreation", "before its creation"]
] as const)
  raced(
    `the same request for all that remains, answered elsewhere just ${when}, is the same refund`,
    ({ elsewhere, moments, one, refunds, tenant }) =>
      Effect.gen(function* () {
        const request = { id: crypto.randomUUID(), of: { paymentId: one }, by: "API" }
        moments[moment] = elsewhere.create(tenant, request)
        const second = yield* refunds.create(tenant, request)
        expect(second).toMatchObject({ created: false, refund: { id: request.id, status: "pending" } })
        expect(yield* kept(tenant, one)).toEqual([second.refund])
      })
  )

raced(
  "the same request is the same refund, even if less remained for the first than for the second",
  ({ elsewhere, moments, one, refunds, tenant }) =>
    Effect.gen(function* () {
      const of = { paymentId: one }
      const amount = AtomicUsdc.make(400_000n)
      const { refund: other } = yield* elsewhere.create(tenant, { of, amount, by: "API" })
      const request = { id: crypto.randomUUID(), of, by: "API" }
      moments.beforeBalance = Effect.andThen(
        elsewhere.create(tenant, request),
        elsewhere.cancel(tenant, other.id)
      )
      const second = yield* refunds.create(tenant, request)
      expect(second).toMatchObject({ created: false, refund: { id: request.id, amount: 600_000n } })
    })
)

for (const [moment, when] of [
  ["beforeVerification", "before its verification"],
  ["beforeNaming", "before it is named"],
  ["beforeProof", "before its proof"]
] as const) {
  // A proven transaction is named with its proof; one named on its own is undecided.
  const reported = Effect.suspend(() => sent(1, moment === "beforeNaming" ? 0 : 2))
  const announced = Effect.fnUntraced(function* ({ elsewhere, one, tenant }: World) {
    const { refund } = yield* elsewhere.create(tenant, { of: { paymentId: one }, by: "API" })
    return refund.id
  })
  raced(`reporting a transaction that proves the refund elsewhere just ${when} succeeds`, (world) =>
    Effect.gen(function* () {
      const { elsewhere, moments, refunds, tenant } = world
      const [id, transactionId] = [yield* announced(world), yield* reported]
      const { mine } = yield* MemoryChain
      moments[moment] = Effect.andThen(mine(2), elsewhere.report(tenant, id, transactionId))
      expect(yield* refunds.report(tenant, id, transactionId)).toMatchObject({
        id,
        status: "proven",
        transactionId
      })
    })
  )
  raced(
    `reporting a transaction when another has proven the refund just ${when} says that it has ended`,
    (world) =>
      Effect.gen(function* () {
        const { elsewhere, moments, refunds, tenant } = world
        const [id, first, second] = [yield* announced(world), yield* sent(1), yield* reported]
        moments[moment] = elsewhere.report(tenant, id, first)
        expect(yield* Effect.flip(refunds.report(tenant, id, second))).toBeInstanceOf(RefundEnded)
      })
  )
  raced(`reporting a transaction when the refund is cancelled just ${when} says that it has ended`, (world) =>
    Effect.gen(function* () {
      const { elsewhere, moments, refunds, tenant } = world
      const [id, transactionId] = [yield* announced(world), yield* reported]
      moments[moment] = elsewhere.cancel(tenant, id)
      expect(yield* Effect.flip(refunds.report(tenant, id, transactionId))).toBeInstanceOf(RefundEnded)
    })
  )
}

raced(
  "a transaction whose transfer another refund takes just before its proof is refused, and not stored",
  ({ elsewhere, moments, one, other, refunds, tenant }) =>
    Effect.gen(function* () {
      const { refund } = yield* elsewhere.create(tenant, { of: { paymentId: one }, by: "API" })
      const { refund: second } = yield* elsewhere.create(tenant, { of: { paymentId: other }, by: "API" })
      const transactionId = yield* sent(1)
      moments.beforeProof = elsewhere.report(tenant, second.id, transactionId)
      const error = yield* Effect.flip(refunds.report(tenant, refund.id, transactionId))
      expect(error).toMatchObject({ _tag: "RefundNotProven", reason: "already_used" })
      expect(yield* kept(tenant, one)).toMatchObject([{ status: "pending", transactionId: null }])
      const next = yield* sent(1)
      expect(yield* refunds.report(tenant, refund.id, next)).toMatchObject({ status: "proven" })
    })
)

raced(
  "cancelled twice at once, both calls succeed; cancelled as it is proven, it is not",
  ({ elsewhere, moments, one, other, refunds, tenant }) =>
    Effect.gen(function* () {
      const { refund } = yield* elsewhere.create(tenant, { of: { paymentId: one }, by: "API" })
      moments.beforeEnd = elsewhere.cancel(tenant, refund.id)
      expect(yield* refunds.cancel(tenant, refund.id)).toMatchObject({ id: refund.id, status: "cancelled" })
      const { refund: second } = yield* elsewhere.create(tenant, { of: { paymentId: other }, by: "API" })
      moments.beforeEnd = elsewhere.report(tenant, second.id, yield* sent(1))
      expect(yield* Effect.flip(refunds.cancel(tenant, second.id))).toBeInstanceOf(RefundEnded)
    })
)

for (const [moment, name, left] of [
  ["beforeCreation", "an instance that ends before the creation leaves nothing", []],
  ["afterCreation", "an instance that ends after the creation leaves a proven refund", [{ status: "proven" }]]
] as const)
  raced(name, ({ moments, one, refunds, tenant }) =>
    Effect.gen(function* () {
      const transactionId = yield* sent(1)
      const request = { of: { paymentId: one }, transactionId, by: "API" }
      moments[moment] = Effect.die("the instance ends")
      expect(Exit.isFailure(yield* Effect.exit(refunds.create(tenant, request)))).toBeTrue()
      expect(yield* kept(tenant, one)).toMatchObject(left)
      const again = yield* refunds.create(tenant, request)
      expect(again).toMatchObject({ created: left.length === 0, refund: { status: "proven" } })
      expect(yield* kept(tenant, one)).toHaveLength(1)
    })
  )
