// A transfer from a payer on the operator's deny list settles nothing on its own, on whichever path it arrives:
// reported, announced, signed or checked again. The merchant may attach it.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { DenyList } from "../../src/chain/DenyList.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import type { Address } from "../../src/domain/Chain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { IncomingTransfers } from "../../src/payments/IncomingTransfers.ts"
import { PaymentAttempts } from "../../src/payments/PaymentAttempts.ts"
import { Payments } from "../../src/payments/Payments.ts"
import * as Reconciler from "../../src/payments/Reconciler.ts"
import * as TransferWatch from "../../src/payments/TransferWatch.ts"
import { testDatabase } from "../support/database.ts"
import { buildOnDatabaseTime, passes } from "../support/databaseTime.ts"
import { newMerchant, openPayment, paid, reportOf, sqlStack, stateOf } from "../support/paymentStack.ts"
import { type hash, payer, receiver } from "../support/rawReceipts.ts"
import { testEffect } from "../support/run.ts"

const price = 1_000_000n

const shop = Effect.gen(function* () {
  const merchant = yield* newMerchant(receiver)
  const attempts = yield* PaymentAttempts
  const incoming = yield* IncomingTransfers
  const payments = yield* Payments
  const { principal, tenant } = merchant
  return {
    ...merchant,
    incoming,
    open: openPayment(principal, receiver, price),
    announce: (payment: Payment) =>
      attempts.announce(principal, payment.id, {
        buyerDidToken: `buyer:${payer}:${payment.id}`,
        method: "transfer",
        client: ""
      }),
    report: (payment: Payment, transactionId: ReturnType<typeof hash>) =>
      Effect.result(payments.report(principal, payment.id, reportOf(payment, payer, transactionId))),
    transfers: incoming.list(tenant, { status: "open", limit: 100, startingAfter: undefined })
  }
})

const by = { person: "ann@example.com", note: null }

/** With the service's workers, and a deny list that contains the payer at first. */
const denied = (
  name: string,
  test: (list: Set<Address>) => Effect.Effect<unknown, unknown, Layer.Success<typeof stack>>
) =>
  testEffect(name, () =>
    Effect.gen(function* () {
      const list = new Set<Address>([payer])
      const denyList = Layer.succeed(DenyList, { has: (one) => list.has(one), date: () => new Date(0) })
      yield* TestClock.adjust("12 hours")
      const context = yield* buildOnDatabaseTime(stack.pipe(Layer.provide(denyList)))
      yield* Effect.flatMap(MemoryChain, (chain) => chain.automine(false)).pipe(
        Effect.provideContext(context)
      )
      yield* Layer.build(
        Layer.merge(TransferWatch.layer, Reconciler.layer).pipe(
          Layer.fresh,
          Layer.provide(Layer.succeedContext(context))
        )
      )
      yield* Effect.orDie(test(list)).pipe(Effect.provideContext(context))
    })
  )

const stack = sqlStack.pipe(
  Layer.provideMerge(ChainVerifier.layerMemory),
  Layer.provideMerge(testDatabase.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

describe("a transfer of a denied payer", () => {
  denied("leaves a reported payment pending, is listed, and settles it once the merchant attaches it", () =>
    Effect.gen(function* () {
      const { announce, incoming, open, report, tenant, transfers } = yield* shop
      const payment = yield* open
      yield* passes("2 seconds")
      const transactionId = yield* paid(payer, payment)
      for (let look = 0; look < 3; look++) {
        expect(yield* report(payment, transactionId)).toMatchObject({ success: { _tag: "Pending" } })
        yield* passes("30 seconds")
      }
      expect(yield* stateOf(payment)).toMatchObject({ status: "pending" })
      const [transfer] = yield* transfers
      expect(transfer).toMatchObject({ transactionId, paymentId: null, kind: expect.any(String) })
      // The buyer is not asked to pay again.
      expect(yield* announce(payment)).toMatchObject({
        _tag: "AttemptRefused",
        error: { code: "PAYMENT_ATTEMPT_OPEN" }
      })
      expect(yield* incoming.attach(tenant, transfer?.id ?? "", payment.id, by)).toMatchObject({
        status: "settled"
      })
      expect(yield* report(payment, transactionId)).toMatchObject({ success: { _tag: "Settled" } })
      expect(yield* transfers).toEqual([])
    })
  )

  denied("settles no announced payment, and no second transfer is requested", () =>
    Effect.gen(function* () {
      const { announce, incoming, open, tenant, transfers } = yield* shop
      const payment = yield* open
      yield* passes("2 seconds")
      expect((yield* announce(payment))._tag).toBe("AttemptAnnounced")
      yield* paid(payer, payment)
      yield* passes("2 minutes")
      expect(yield* stateOf(payment)).toMatchObject({ status: "pending" })
      const [transfer] = yield* transfers
      expect((yield* announce(payment))._tag).toBe("AttemptRefused")
      expect(yield* incoming.attach(tenant, transfer?.id ?? "", payment.id, by)).toMatchObject({
        status: "settled"
      })
    })
  )

  denied("loses its report once the merchant has handled it", () =>
    Effect.gen(function* () {
      const { incoming, open, report, tenant, transfers } = yield* shop
      const payment = yield* open
      yield* passes("2 seconds")
      const transactionId = yield* paid(payer, payment)
      yield* report(payment, transactionId)
      yield* passes("30 seconds")
      const [transfer] = yield* transfers
      yield* incoming.handle(tenant, transfer?.id ?? "", { person: by.person, note: "Sent back" })
      expect(yield* report(payment, transactionId)).toMatchObject({ failure: { reason: "already_used" } })
    })
  )

  denied("settles the reported payment once its payer is taken off the list", (list) =>
    Effect.gen(function* () {
      const { open, report } = yield* shop
      const payment = yield* open
      yield* passes("2 seconds")
      yield* report(payment, yield* paid(payer, payment))
      yield* passes("30 seconds")
      list.clear()
      yield* passes("6 minutes")
      expect(yield* stateOf(payment)).toMatchObject({ status: "settled" })
    })
  )

  denied("that settled before its payer was put on the list changes nothing", (list) =>
    Effect.gen(function* () {
      const { open, report, transfers } = yield* shop
      list.clear()
      const payment = yield* open
      yield* passes("2 seconds")
      const transactionId = yield* paid(payer, payment)
      expect(yield* report(payment, transactionId)).toMatchObject({ success: { _tag: "Settled" } })
      list.add(payer)
      yield* passes("10 minutes")
      expect(yield* report(payment, transactionId)).toMatchObject({ success: { _tag: "Settled" } })
      expect([(yield* stateOf(payment)).status, yield* transfers]).toEqual(["settled", []])
    })
  )
})
