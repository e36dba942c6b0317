// The contract of every PaymentRepo for settlements: one transfer for one payment, with its webhook, watched until it
// is final.

import { expect } from "bun:test"
import { Effect, Option, Result } from "effect"
import type { TransactionHash } from "../../src/domain/Chain.ts"
import type { WatchResult } from "../../src/payments/PaymentRepo/PaymentStore.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import {
  after,
  claimed,
  evidenceOf,
  hash,
  newTenant,
  onLayer,
  opened,
  payer,
  type RepoLayer,
  receiver,
  registerEndpoint,
  settlementOf
} from "./repoFixtures.ts"

export const paymentSettlementsContract = (layer: RepoLayer): void => {
  const it = onLayer(layer)

  it("settles with its claim and its webhook, and deletes the stored report", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const webhooks = yield* WebhookRepo
      const tenant = yield* newTenant()
      yield* registerEndpoint(tenant)
      const payment = yield* opened(tenant)
      yield* repo.report({
        ...tenant,
        paymentId: payment.id,
        evidence: evidenceOf(hash(1)),
        at: after(1),
        payerType: "human",
        nextCheckAt: after(5)
      })
      const settlement = yield* settlementOf(payment, hash(1), 3)
      const settled = Option.getOrThrow(yield* repo.settle(settlement))
      expect(settled).toMatchObject({
        status: "settled",
        settledAt: after(6),
        failureReason: null,
        reported: { at: after(5), evidence: { transactionId: hash(1), payer } }
      })
      expect(yield* claimed(repo, hash(1))).toEqual([3])
      expect(yield* repo.takeDueReports("test", after(9999), after(99999), 10)).toHaveLength(0)
      expect(yield* webhooks.listDeliveries(tenant, 10)).toMatchObject([
        { id: settlement.delivery.id, type: "payment.settled", paymentId: payment.id, status: "pending" }
      ])
      expect(Option.isNone(yield* repo.settle(settlement))).toBe(true)
    }))

  it("a settlement without an endpoint stores its delivery as cancelled, for a resend", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const webhooks = yield* WebhookRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      yield* repo.settle(yield* settlementOf(payment, hash(1)))
      expect(yield* webhooks.listDeliveries(tenant, 10)).toMatchObject([{ status: "cancelled" }])
    }))

  it("one transfer pays one payment: the other is refused and stays pending, with no webhook", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const webhooks = yield* WebhookRepo
      const tenant = yield* newTenant()
      yield* registerEndpoint(tenant)
      const payments = yield* Effect.forEach(Array.from({ length: 8 }), () => opened(tenant))
      const results = yield* Effect.forEach(
        payments,
        (payment) =>
          Effect.flatMap(settlementOf(payment, hash(1)), (settlement) =>
            Effect.result(repo.settle(settlement))
          ),
        { concurrency: "unbounded" }
      )
      expect(results.filter(Result.isSuccess)).toHaveLength(1)
      const page = Option.getOrThrow(yield* repo.list(tenant, { limit: 100, startingAfter: undefined }))
      expect(page.payments.filter((one) => one.status === "settled")).toHaveLength(1)
      expect(page.payments.filter((one) => one.status === "pending")).toHaveLength(7)
      expect(yield* webhooks.listDeliveries(tenant, 100)).toHaveLength(1)
    }))

  it("fifty settlements of one payment at once: one wins, one webhook", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const webhooks = yield* WebhookRepo
      const tenant = yield* newTenant()
      yield* registerEndpoint(tenant)
      const payment = yield* opened(tenant)
      const results = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () =>
          Effect.flatMap(settlementOf(payment, hash(1)), (settlement) =>
            Effect.result(repo.settle(settlement))
          ),
        { concurrency: "unbounded" }
      )
      const wins = results.filter((one) => Result.isSuccess(one) && Option.isSome(one.success))
      expect(wins).toHaveLength(1)
      expect(yield* webhooks.listDeliveries(tenant, 100)).toHaveLength(1)
    }))

  it("a payment that an agent's report settles has an agent as its payer, whoever else reported it", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      const report = (transactionId: TransactionHash, payerType: "human" | "agent") =>
        repo.report({
          ...tenant,
          paymentId: payment.id,
          evidence: evidenceOf(transactionId),
          at: after(1),
          payerType,
          nextCheckAt: after(5)
        })
      yield* report(hash(1), "agent")
      yield* report(hash(2), "human")
      expect(Option.getOrThrow(yield* repo.find(tenant, payment.id)).payerType).toBe("human")
      const settled = yield* repo.settle(yield* settlementOf(payment, hash(1)))
      expect(Option.getOrThrow(settled).payerType).toBe("agent")

      const other = yield* opened(tenant)
      yield* repo.report({
        ...tenant,
        paymentId: other.id,
        evidence: evidenceOf(hash(3)),
        at: after(1),
        payerType: "agent",
        nextCheckAt: after(5)
      })
      const byHuman = yield* repo.settle(yield* settlementOf(other, hash(4)))
      expect(Option.getOrThrow(byHuman).payerType).toBe("human")
    }))

  it("equal transfers of a transaction are claimed by ordinal, each once", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [left, right, third] = yield* Effect.all([opened(tenant), opened(tenant), opened(tenant)])
      yield* repo.settle(yield* settlementOf(left, hash(1), 0))
      yield* repo.settle(yield* settlementOf(right, hash(1), 1))
      expect([...(yield* claimed(repo, hash(1)))].sort()).toEqual([0, 1])
      const again = yield* Effect.result(repo.settle(yield* settlementOf(third, hash(1), 1)))
      expect(Result.isFailure(again)).toBe(true)
    }))

  it("while a claim is in another block, nothing else of its transaction is claimed", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [left, right] = yield* Effect.all([opened(tenant), opened(tenant)])
      yield* repo.settle(yield* settlementOf(left, hash(1), 0))
      const settlement = yield* settlementOf(right, hash(1), 1)
      const elsewhere = { ...settlement, transfer: { ...settlement.transfer, blockHash: hash(8) } }
      expect(Option.isNone(yield* repo.settle(elsewhere))).toBe(true)
      yield* repo.recordWatched(
        { paymentId: left.id, leaseUntil: after(60) },
        {
          moved: { blockNumber: 101n, blockHash: hash(8) },
          droppedAt: null,
          watchAt: null
        }
      )
      expect(Option.isSome(yield* repo.settle(elsewhere))).toBe(true)
    }))

  it("returns settled transfers to watch until they are final, and remembers a drop", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      yield* repo.settle(yield* settlementOf(payment, hash(1), 2))
      expect(yield* repo.takeWatched("test", after(59), after(90), 10)).toHaveLength(0)
      expect(yield* repo.takeWatched("test", after(60), after(90), 10)).toMatchObject([
        { paymentId: payment.id, ordinal: 2, blockNumber: 100n, blockHash: hash(7), droppedAt: null }
      ])
      expect(yield* repo.takeWatched("test", after(61), after(90), 10)).toHaveLength(0)
      const note = (leaseUntil: Date, noted: WatchResult) =>
        repo.recordWatched({ paymentId: payment.id, leaseUntil }, noted)
      const moved = yield* note(after(90), {
        moved: { blockNumber: 101n, blockHash: hash(8) },
        droppedAt: null,
        watchAt: after(100)
      })
      expect(moved).toBeTrue()
      expect(yield* repo.takeWatched("test", after(100), after(130), 10)).toMatchObject([
        { blockNumber: 101n, blockHash: hash(8) }
      ])
      expect(yield* note(after(130), { droppedAt: after(101), watchAt: after(140) })).toBeTrue()
      expect(yield* repo.takeWatched("test", after(140), after(170), 10)).toMatchObject([
        {
          blockNumber: 101n,
          droppedAt: after(101),
          transfer: { payer, receiver, amount: 1_000_000n }
        }
      ])
      // A worker that took it earlier can no longer note anything.
      expect(yield* note(after(130), { droppedAt: null, watchAt: null })).toBeFalse()
      expect(yield* repo.takeWatched("test", after(170), after(200), 10)).toMatchObject([
        { droppedAt: after(101), leaseUntil: after(200) }
      ])
      expect(yield* note(after(200), { droppedAt: null, watchAt: null })).toBeTrue()
      expect(yield* repo.takeWatched("test", after(99999), after(999999), 10)).toHaveLength(0)
    }))
}
