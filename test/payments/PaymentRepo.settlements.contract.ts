// How every PaymentRepo settles: one transfer for one payment, with its webhook, watched until it is final.
import { describe, expect } from "bun:test"
import { Effect, Option, Result } from "effect"
import type { TransactionHash } from "../../src/domain/Chain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { PaymentRepo, type WatchNote } from "../../src/payments/PaymentRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import {
  after,
  arrived,
  attemptOf,
  claimed,
  evidenceOf,
  hash,
  newId,
  newTenant,
  onLayer,
  opened,
  payer,
  person,
  type RepoLayer,
  receiver,
  registerEndpoint,
  settlementOf
} from "./repoFixtures.ts"

export const paymentSettlementsContract = (layer: RepoLayer): void => {
  const it = onLayer(layer)

  it("settles with its claim and its webhook, and drops the kept report", () =>
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
      expect(yield* repo.takeDueReports(after(9999), after(99999), 10)).toHaveLength(0)
      expect(yield* webhooks.listDeliveries(tenant, 10)).toMatchObject([
        { id: settlement.delivery.id, type: "payment.settled", paymentId: payment.id, status: "pending" }
      ])
      expect(Option.isNone(yield* repo.settle(settlement))).toBe(true)
    }))

  it("a settlement without an endpoint keeps its delivery, cancelled, for a resend", () =>
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

  it("a payment that an agent's report settles has an agent for payer, whoever reported beside it", () =>
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

  it("equal transfers of a transaction are claimed by their ordinals, each once", () =>
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

  it("while a claim names another block, nothing more of its transaction is claimed", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [left, right] = yield* Effect.all([opened(tenant), opened(tenant)])
      yield* repo.settle(yield* settlementOf(left, hash(1), 0))
      const settlement = yield* settlementOf(right, hash(1), 1)
      const elsewhere = { ...settlement, transfer: { ...settlement.transfer, blockHash: hash(8) } }
      expect(Option.isNone(yield* repo.settle(elsewhere))).toBe(true)
      yield* repo.noteWatched(
        { paymentId: left.id, heldUntil: after(60) },
        {
          moved: { blockNumber: 101n, blockHash: hash(8) },
          droppedAt: null,
          watchAt: null
        }
      )
      expect(Option.isSome(yield* repo.settle(elsewhere))).toBe(true)
    }))

  it("hands out settled transfers to watch until they are final, and remembers a drop", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      yield* repo.settle(yield* settlementOf(payment, hash(1), 2))
      expect(yield* repo.takeWatched(after(59), after(90), 10)).toHaveLength(0)
      expect(yield* repo.takeWatched(after(60), after(90), 10)).toMatchObject([
        { paymentId: payment.id, ordinal: 2, blockNumber: 100n, blockHash: hash(7), droppedAt: null }
      ])
      expect(yield* repo.takeWatched(after(61), after(90), 10)).toHaveLength(0)
      const note = (heldUntil: Date, noted: WatchNote) =>
        repo.noteWatched({ paymentId: payment.id, heldUntil }, noted)
      const moved = yield* note(after(90), {
        moved: { blockNumber: 101n, blockHash: hash(8) },
        droppedAt: null,
        watchAt: after(100)
      })
      expect(moved).toBeTrue()
      expect(yield* repo.takeWatched(after(100), after(130), 10)).toMatchObject([
        { blockNumber: 101n, blockHash: hash(8) }
      ])
      expect(yield* note(after(130), { droppedAt: after(101), watchAt: after(140) })).toBeTrue()
      expect(yield* repo.takeWatched(after(140), after(170), 10)).toMatchObject([
        {
          blockNumber: 101n,
          droppedAt: after(101),
          transfer: { payer, receiver, amount: 1_000_000n }
        }
      ])
      // Whoever took it before has no say any more.
      expect(yield* note(after(130), { droppedAt: null, watchAt: null })).toBeFalse()
      expect(yield* repo.takeWatched(after(170), after(200), 10)).toMatchObject([
        { droppedAt: after(101), heldUntil: after(200) }
      ])
      expect(yield* note(after(200), { droppedAt: null, watchAt: null })).toBeTrue()
      expect(yield* repo.takeWatched(after(99999), after(999999), 10)).toHaveLength(0)
    }))

  it("a settled transfer that was given up as lost is watched again once the chain shows it", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      yield* repo.settle(yield* settlementOf(payment, hash(1)))
      yield* repo.takeWatched(after(60), after(90), 10)
      const lost = { droppedAt: after(61), watchAt: null }
      expect(yield* repo.noteWatched({ paymentId: payment.id, heldUntil: after(90) }, lost)).toBeTrue()
      yield* arrived(tenant, hash(2))
      expect(yield* repo.takeWatched(after(99999), after(999999), 10)).toHaveLength(0)
      yield* arrived(tenant, hash(1), after(80))
      // A node that lags would have it given up once more.
      expect(yield* repo.takeWatched(after(139), after(170), 10)).toHaveLength(0)
      expect(yield* repo.takeWatched(after(140), after(170), 10)).toMatchObject([
        { paymentId: payment.id, droppedAt: after(61) }
      ])
      yield* repo.noteWatched(
        { paymentId: payment.id, heldUntil: after(170) },
        { droppedAt: null, watchAt: null }
      )
      // What is final is not.
      yield* arrived(tenant, hash(1), after(85))
      expect(yield* repo.takeWatched(after(99999), after(999999), 10)).toHaveLength(0)
    }))

  describe("a claim whose transfer the chain no longer shows", () => {
    /** A payment that the first transfer has settled, and a second one like it, in a block that has taken that one's place. */
    const settled = Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      yield* registerEndpoint(tenant)
      const payment = yield* opened(tenant)
      const first = yield* arrived(tenant, hash(1))
      yield* repo.settle(yield* settlementOf(payment, hash(1)))
      const second = yield* arrived(tenant, hash(2), after(9), 1)
      const { transfer } = yield* settlementOf(payment, hash(2))
      const replace = repo.replaceClaim({
        ...{ paymentId: payment.id, env: "test", payer, at: after(120) },
        transfer: { ...transfer, blockHash: hash(8), blockNumber: 110n }
      })
      const lose = Effect.gen(function* () {
        yield* repo.takeWatched(after(60), after(90), 10)
        const lost = { droppedAt: after(61), watchAt: null }
        expect(yield* repo.noteWatched({ paymentId: payment.id, heldUntil: after(90) }, lost)).toBeTrue()
      })
      const transferOf = (id: string) => Effect.map(repo.findTransfer(tenant, id), Option.getOrThrow)
      return { first, lose, payment, replace, repo, second, tenant, transferOf }
    })

    it("follows to the transfer that stands for it: one pays it, the other nothing, and nobody is told again", () =>
      Effect.gen(function* () {
        const { first, lose, payment, replace, repo, second, tenant, transferOf } = yield* settled
        const webhooks = yield* WebhookRepo
        expect(yield* replace).toBeFalse()
        yield* lose
        const like = yield* transferOf(second)
        expect(yield* repo.droppedClaims(like)).toMatchObject([
          { payment: { id: payment.id }, transactionId: hash(1), isNoted: true, nonces: [] }
        ])
        expect(yield* repo.droppedClaims({ ...like, payer: receiver })).toEqual([])
        const lost = { transactionId: hash(1), droppedAt: after(61) }
        expect(Option.getOrThrow(yield* repo.claimOf(payment.id))).toEqual(lost)
        expect(yield* replace).toBeTrue()
        expect(yield* replace).toBeFalse()
        const found = { transactionId: hash(2), droppedAt: null }
        expect(Option.getOrThrow(yield* repo.claimOf(payment.id))).toEqual(found)
        expect(Option.isNone(yield* repo.claimOf(yield* newId))).toBeTrue()
        expect(yield* claimed(repo, hash(1))).toEqual([])
        expect(yield* claimed(repo, hash(2))).toEqual([0])
        expect(yield* transferOf(first)).toMatchObject({ paymentId: null, droppedAt: after(9) })
        expect(yield* transferOf(second)).toMatchObject({ paymentId: payment.id, droppedAt: null })
        expect(yield* repo.find(tenant, payment.id)).toMatchObject({
          value: { settledAt: after(6), reported: { evidence: { transactionId: hash(1) } } }
        })
        expect(yield* webhooks.listDeliveries(tenant, 10)).toHaveLength(1)
        // Looked at at once, as one that stands for another.
        expect(yield* repo.takeWatched(after(120), after(150), 10)).toMatchObject([
          { paymentId: payment.id, transactionId: hash(2), droppedAt: null, isReplacement: true }
        ])
      }))

    it("leaves a transfer that pays another payment where it returns, by a delivery of its own", () =>
      Effect.gen(function* () {
        const { first, lose, payment, replace, repo, tenant, transferOf } = yield* settled
        const webhooks = yield* WebhookRepo
        const [told] = yield* webhooks.listDeliveries(tenant, 10)
        yield* lose
        expect(yield* replace).toBeTrue()
        yield* arrived(tenant, hash(1), after(130))
        const other = yield* opened(tenant)
        const settlement = yield* settlementOf(other, hash(1))
        const { body } = settlement.delivery
        // Its id follows from the transfer.
        const delivery = { id: told?.id ?? "", body }
        expect(Option.isSome(yield* repo.settle({ ...settlement, delivery, at: after(131) }))).toBeTrue()
        expect(yield* transferOf(first)).toMatchObject({ paymentId: other.id })
        expect(yield* webhooks.listDeliveries(tenant, 10)).toMatchObject([
          { id: settlement.laterDelivery?.id, paymentId: other.id },
          { id: told?.id, paymentId: payment.id }
        ])
      }))

    it("is found before its loss is noted by the nonce with which its wallet announced the payment", () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const tenant = yield* newTenant()
        const [payment, other] = yield* Effect.all([opened(tenant), opened(tenant)])
        const announced = (of: Payment, nonce: bigint) =>
          Effect.flatMap(attemptOf({ nonce }), (attempt) =>
            repo.announce({ ...tenant, paymentId: of.id, attempt, minedNonce: null })
          )
        yield* announced(payment, 5n)
        yield* announced(other, 6n)
        yield* repo.settle(yield* settlementOf(payment, hash(1)))
        const like = Option.getOrThrow(yield* repo.findTransfer(tenant, yield* arrived(tenant, hash(2))))
        for (const nonce of [5n, "any"] as const)
          expect(yield* repo.droppedClaims(like, nonce)).toMatchObject([
            { payment: { id: payment.id }, transactionId: hash(1), isNoted: false, nonces: [5n] }
          ])
        for (const [transfer, nonce] of [
          [like, undefined],
          [like, 6n],
          [{ ...like, transactionId: hash(1) }, 5n],
          [{ ...like, transactionId: hash(1) }, "any"],
          [{ ...like, payer: receiver }, 5n]
        ] as const)
          expect(yield* repo.droppedClaims(transfer, nonce)).toEqual([])
      }))

    it("stays where its transfer is back, before that is noted of it", () =>
      Effect.gen(function* () {
        const { first, lose, payment, replace, repo, second, tenant, transferOf } = yield* settled
        yield* lose
        yield* arrived(tenant, hash(1), after(100))
        expect(yield* replace).toBeFalse()
        expect(yield* claimed(repo, hash(1))).toEqual([0])
        expect(yield* claimed(repo, hash(2))).toEqual([])
        expect(yield* transferOf(first)).toMatchObject({ paymentId: payment.id, droppedAt: null })
        expect(yield* transferOf(second)).toMatchObject({ paymentId: null, droppedAt: null })
      }))

    it("of it and the reader of the chain that sees its transfer again, the transfer is nobody's or its own", () =>
      Effect.gen(function* () {
        const { first, lose, payment, replace, repo, tenant, transferOf } = yield* settled
        yield* lose
        const [isMoved] = yield* Effect.all([replace, arrived(tenant, hash(1), after(100))], {
          concurrency: "unbounded"
        })
        expect(yield* transferOf(first)).toMatchObject({
          paymentId: isMoved ? null : payment.id,
          droppedAt: null
        })
        const due = yield* repo.takeUnmatched(after(100), after(130), 10)
        expect(due.some(({ id }) => id === first)).toBe(isMoved)
      }))

    it("follows to nothing that a person has explained", () =>
      Effect.gen(function* () {
        const { lose, replace, repo, second, tenant } = yield* settled
        yield* lose
        expect(yield* repo.handleTransfer(tenant, second, person(after(70)))).toBeTrue()
        expect(yield* replace).toBeFalse()
      }))

    it("follows to nothing that another payment has claimed", () =>
      Effect.gen(function* () {
        const { lose, replace, repo, tenant } = yield* settled
        yield* lose
        const { transfer, ...settlement } = yield* settlementOf(yield* opened(tenant), hash(2))
        const there = { ...transfer, blockHash: hash(8), blockNumber: 110n }
        expect(Option.isSome(yield* repo.settle({ ...settlement, transfer: there }))).toBeTrue()
        expect(Result.isFailure(yield* Effect.result(replace))).toBeTrue()
        expect(yield* claimed(repo, hash(1))).toEqual([0])
      }))

    it("open transfers like it are matched again at each look", () =>
      Effect.gen(function* () {
        const { lose, repo, second } = yield* settled
        yield* repo.takeUnmatched(after(20), after(50), 10)
        yield* repo.noteMatch(second, { kind: "second" })
        expect(yield* repo.takeUnmatched(after(60), after(90), 10)).toHaveLength(0)
        yield* lose
        expect(yield* repo.takeUnmatched(after(61), after(90), 10)).toMatchObject([{ id: second }])
      }))

    it("of it and another payment that would claim the transfer at once one does", () =>
      Effect.gen(function* () {
        const { lose, replace, repo, tenant } = yield* settled
        yield* lose
        const { transfer, ...settlement } = yield* settlementOf(yield* opened(tenant), hash(2))
        const settle = repo.settle({
          ...settlement,
          transfer: { ...transfer, blockHash: hash(8), blockNumber: 110n }
        })
        const [moved, other] = yield* Effect.all([Effect.result(replace), Effect.result(settle)], {
          concurrency: "unbounded"
        })
        const isMoved = Result.isSuccess(moved) && moved.success
        const isSettled = Result.isSuccess(other) && Option.isSome(other.success)
        expect([isMoved, isSettled].filter((one) => one)).toHaveLength(1)
        expect(yield* claimed(repo, hash(1))).toHaveLength(isMoved ? 0 : 1)
        expect(yield* claimed(repo, hash(2))).toEqual([0])
      }))

    it("of it and a person who explains the transfer at once one does", () =>
      Effect.gen(function* () {
        const { lose, replace, repo, second, tenant } = yield* settled
        yield* lose
        const [isMoved, isHandled] = yield* Effect.all(
          [replace, repo.handleTransfer(tenant, second, person(after(120)))],
          { concurrency: "unbounded" }
        )
        expect([isMoved, isHandled].filter((one) => one)).toHaveLength(1)
      }))

    it("of two that would follow at once one does", () =>
      Effect.gen(function* () {
        const { lose, replace, repo } = yield* settled
        yield* lose
        const all = yield* Effect.all(
          Array.from({ length: 10 }, () => replace),
          { concurrency: "unbounded" }
        )
        expect(all.filter((isMoved) => isMoved)).toHaveLength(1)
        expect(yield* claimed(repo, hash(2))).toEqual([0])
      }))
  })
}
