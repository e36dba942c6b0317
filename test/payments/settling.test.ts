// Settling under load: whatever arrives at once, a payment settles once, a transfer pays once, and a report that fails
// verification blocks nobody.
import { describe, expect } from "bun:test"
import { Effect, Layer, Result } from "effect"
import type { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { BuyerIdentity } from "../../src/payments/buyers/BuyerIdentity.ts"
import { BuyerTokenRefused } from "../../src/payments/buyers/BuyerTokenRefused.ts"
import { Payments, reportLimit } from "../../src/payments/Payments.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { row } from "../support/attackRows.ts"
import { testDatabase } from "../support/database.ts"
import {
  memoryChain,
  memoryStack,
  memoryStackWith,
  newMerchant,
  openPayment,
  type PaymentStack,
  paid,
  reportOf,
  sqlStack,
  stateOf
} from "../support/paymentStack.ts"
import { hash, payer, receiver, thief } from "../support/rawReceipts.ts"
import { liveEffect } from "../support/run.ts"

const fifty = Array.from({ length: 50 }, (_, index) => index)
const atOnce = { concurrency: "unbounded" } as const

const tell = (
  result: Result.Result<{ readonly _tag: string }, { readonly code: string; readonly reason?: string }>
) =>
  Result.match(result, {
    onSuccess: ({ _tag }) => _tag,
    onFailure: ({ code, reason }) => (reason === undefined ? code : `${code} ${reason}`)
  })

type Everything = PaymentStack | ChainVerifier | MemoryChain

const suite = (name: string, layer: Layer.Layer<Everything>, rounds: number) => {
  const it = <E>(title: string, effect: () => Effect.Effect<unknown, E, Everything>, timeout?: number) =>
    liveEffect(title, () => Effect.provide(effect(), layer), timeout)

  const shop = Effect.gen(function* () {
    const merchant = yield* newMerchant(receiver)
    const payments = yield* Payments
    const webhooks = yield* WebhookRepo
    const open = (atomic = 1_000_000n) => openPayment(merchant.principal, receiver, atomic)
    const report = (payment: Payment, by: typeof payer, transactionId: ReturnType<typeof hash>) =>
      payments
        .report(merchant.principal, payment.id, reportOf(payment, by, transactionId))
        .pipe(Effect.result)
    const deliveries = Effect.map(webhooks.listDeliveries(merchant.tenant, 1000), (all) => all.length)
    return { ...merchant, open, report, deliveries }
  })

  describe(`settling on ${name}`, () => {
    it(`${row.samePatch}: ${rounds} rounds of fifty identical reports: one settlement, one webhook, fifty equal answers`, () =>
      Effect.gen(function* () {
        const { deliveries, open, report } = yield* shop
        for (let round = 1; round <= rounds; round++) {
          const payment = yield* open()
          const transfer = yield* paid(payer, payment)
          const answers = yield* Effect.forEach(fifty, () => report(payment, payer, transfer), atOnce)
          expect(new Set(answers.map(tell))).toEqual(new Set(["Settled"]))
          const bodies = new Set(
            answers.map((one) =>
              Result.isSuccess(one) ? Bun.hash(Bun.inspect(one.success.payment, { depth: 9 })) : 0n
            )
          )
          expect(bodies.size).toBe(1)
          expect(yield* deliveries).toBe(round)
        }
      }))

    it(`${row.oneForTwo}: ${rounds} rounds of two payments racing, twenty-five reports each: one settles, the other gets already_used`, () =>
      Effect.gen(function* () {
        const { deliveries, open, report } = yield* shop
        for (let round = 1; round <= rounds; round++) {
          const [left, right] = yield* Effect.all([open(), open()])
          const transfer = yield* paid(payer, left)
          const answers = yield* Effect.forEach(
            fifty,
            (index) =>
              Effect.map(report(index % 2 === 0 ? left : right, payer, transfer), (one) => [
                index % 2,
                tell(one)
              ]),
            atOnce
          )
          const said = [0, 1].map((side) => [
            ...new Set(answers.flatMap(([of, what]) => (of === side ? [String(what)] : [])))
          ])
          expect(said.sort()).toEqual([["Settled"], ["TEST_SETTLEMENT_MISMATCH already_used"]])
          const states = yield* Effect.forEach([left, right], stateOf)
          expect(states.map((one) => one.status).sort()).toEqual(["pending", "settled"])
          expect(yield* deliveries).toBe(round)
        }
      }))

    it(`${row.batch}: a transaction with two equal transfers settles two payments and no third`, () =>
      Effect.gen(function* () {
        const { deliveries, open, report } = yield* shop
        const all = yield* Effect.all([open(), open(), open()])
        const transfer = yield* paid(payer, all[0], 2)
        const answers = yield* Effect.forEach(all, (payment) => report(payment, payer, transfer), atOnce)
        expect(answers.map(tell).sort()).toEqual([
          "Settled",
          "Settled",
          "TEST_SETTLEMENT_MISMATCH already_used"
        ])
        expect(yield* deliveries).toBe(2)
      }))

    it(`${row.falseEvidence}: reports that fail verification lock out neither the buyer nor the transfer`, () =>
      Effect.gen(function* () {
        const { deliveries, open, report } = yield* shop
        const payment = yield* open()
        const victims = yield* open(2_000_000n)
        const theirs = yield* paid(payer, victims)
        expect(tell(yield* report(payment, thief, theirs))).toBe("TEST_SETTLEMENT_MISMATCH payer")
        expect(tell(yield* report(victims, thief, theirs))).toBe("TEST_SETTLEMENT_MISMATCH payer")
        expect(tell(yield* report(victims, thief, hash("77")))).toBe("Pending")
        expect((yield* stateOf(victims)).reported).toBeNull()
        expect(tell(yield* report(victims, payer, theirs))).toBe("Settled")
        expect(tell(yield* report(payment, payer, yield* paid(payer, payment)))).toBe("Settled")
        expect(yield* deliveries).toBe(2)
      }))

    it(`${row.thief}: reported at once by fifty thieves and its owner, a transfer settles the owner's payment`, () =>
      Effect.gen(function* () {
        const { open, report } = yield* shop
        const [owners, thiefs] = yield* Effect.all([open(), open()])
        const transfer = yield* paid(payer, owners)
        const [owner, ...thieves] = yield* Effect.all(
          [report(owners, payer, transfer), ...fifty.map(() => report(thiefs, thief, transfer))],
          atOnce
        )
        expect(owner === undefined ? "" : tell(owner)).toBe("Settled")
        expect(new Set(thieves.map(tell))).toEqual(new Set(["TEST_SETTLEMENT_MISMATCH payer"]))
      }))

    it(`${row.replaced}: new evidence is accepted while pending, and none after`, () =>
      Effect.gen(function* () {
        const { open, report } = yield* shop
        const payment = yield* open()
        expect(tell(yield* report(payment, payer, hash("88")))).toBe("Pending")
        expect(tell(yield* report(payment, payer, yield* paid(payer, payment)))).toBe("Settled")
        expect(tell(yield* report(payment, payer, hash("88")))).toBe("PAYMENT_REPORT_CONFLICT")
        expect(tell(yield* report(payment, thief, hash("88")))).toBe("PAYMENT_REPORT_CONFLICT")
      }))

    it(`${row.rpcLags}: an outage is 503 with the report stored; lies stay pending; both settle afterwards`, () =>
      Effect.gen(function* () {
        const { open, report } = yield* shop
        const chain = yield* MemoryChain
        const payment = yield* open()
        const transfer = yield* paid(payer, payment)
        yield* chain.fault("fail")
        const down = yield* report(payment, payer, transfer)
        expect(tell(down)).toBe("CHAIN_UNAVAILABLE")
        expect(Result.isFailure(down) && down.failure.retryAfter).toBe(5)
        yield* chain.fault("lie")
        expect(tell(yield* report(payment, payer, transfer))).toBe("Pending")
        yield* chain.fault("none")
        expect(tell(yield* report(payment, payer, transfer))).toBe("Settled")
      }))

    it(`${row.hammering}: a burst passes, then 429 with an exact retry-after, only for this payment and key`, () =>
      Effect.gen(function* () {
        const { open, report } = yield* shop
        const [payment, other] = yield* Effect.all([open(), open()])
        const answers = yield* Effect.forEach(
          Array.from({ length: reportLimit.burst + 20 }),
          () => report(payment, payer, hash("99")),
          atOnce
        )
        const refused = answers.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
        expect(refused.length).toBeGreaterThanOrEqual(15)
        expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(["RATE_LIMITED"]))
        expect(tell(yield* report(other, payer, hash("99")))).toBe("Pending")
        yield* Effect.sleep((refused.at(-1)?.retryAfter ?? 0) * 1000)
        expect(tell(yield* report(payment, payer, hash("99")))).toBe("Pending")
      }))
  })
}

suite("memory", Layer.provideMerge(memoryStack, memoryChain), 10)
suite("Postgres", sqlStack.pipe(Layer.provideMerge(memoryChain), Layer.provide(testDatabase.layer)), 100)

liveEffect(
  `${row.buyerToken}: while nodes are down a contract wallet's token is 503 with retry-after, not 401`,
  () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const { principal } = yield* newMerchant(receiver)
      const payment = yield* openPayment(principal, receiver, 5n)
      const error = yield* Effect.flip(
        payments.report(principal, payment.id, reportOf(payment, payer, hash("01")))
      )
      expect(error).toMatchObject({ code: "CHAIN_UNAVAILABLE", retryAfter: 5 })
    }).pipe(
      Effect.provide(
        memoryStackWith(
          Layer.succeed(BuyerIdentity, {
            verify: () => Effect.fail(BuyerTokenRefused.because("unavailable"))
          })
        ).pipe(Layer.provide(memoryChain))
      )
    )
)
