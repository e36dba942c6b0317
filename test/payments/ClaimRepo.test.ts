// The claim of a settled payment moves if the chain no longer shows its transfer.

import { describe, expect } from "bun:test"
import { Effect, Option, Result } from "effect"
import type { Payment } from "../../src/domain/Payment.ts"
import { AttemptRepo } from "../../src/payments/AttemptRepo.ts"
import { ClaimRepo } from "../../src/payments/ClaimRepo.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import {
  after,
  arrived,
  attemptOf,
  claimed,
  hash,
  newId,
  newTenant,
  onPostgres,
  opened,
  payer,
  person,
  receiver,
  registerEndpoint,
  settlementOf
} from "./repoFixtures.ts"

describe("ClaimRepo on Postgres", () => {
  onPostgres("a settled transfer that was given up as lost is watched again once the chain shows it", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      yield* repo.settle(yield* settlementOf(payment, hash(1)))
      yield* repo.takeWatched("test", after(60), after(90), 10)
      const lost = { droppedAt: after(61), watchAt: null }
      expect(yield* repo.recordWatched({ paymentId: payment.id, leaseUntil: after(90) }, lost)).toBeTrue()
      yield* arrived(tenant, hash(2))
      expect(yield* repo.takeWatched("test", after(99999), after(999999), 10)).toHaveLength(0)
      yield* arrived(tenant, hash(1), after(80))
      // A lagging node would give it up once more.
      expect(yield* repo.takeWatched("test", after(139), after(170), 10)).toHaveLength(0)
      expect(yield* repo.takeWatched("test", after(140), after(170), 10)).toMatchObject([
        { paymentId: payment.id, droppedAt: after(61) }
      ])
      yield* repo.recordWatched(
        { paymentId: payment.id, leaseUntil: after(170) },
        { droppedAt: null, watchAt: null }
      )
      // A final block is not watched.
      yield* arrived(tenant, hash(1), after(85))
      expect(yield* repo.takeWatched("test", after(99999), after(999999), 10)).toHaveLength(0)
    })
  )

  describe("a claim whose transfer the chain no longer shows", () => {
    /**
     * A payment that the first transfer has settled, and an equal second one in a block that has replaced the first's.
     */
    const settled = Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const claimRepo = yield* ClaimRepo
      const transferRepo = yield* TransferRepo
      const tenant = yield* newTenant()
      yield* registerEndpoint(tenant)
      const payment = yield* opened(tenant)
      const first = yield* arrived(tenant, hash(1))
      yield* repo.settle(yield* settlementOf(payment, hash(1)))
      const second = yield* arrived(tenant, hash(2), after(9), 1)
      const { transfer } = yield* settlementOf(payment, hash(2))
      const replace = claimRepo.replaceClaim({
        ...{ paymentId: payment.id, env: "test", payer, at: after(120) },
        transfer: { ...transfer, blockHash: hash(8), blockNumber: 110n }
      })
      const lose = Effect.gen(function* () {
        yield* repo.takeWatched("test", after(60), after(90), 10)
        const lost = { droppedAt: after(61), watchAt: null }
        expect(yield* repo.recordWatched({ paymentId: payment.id, leaseUntil: after(90) }, lost)).toBeTrue()
      })
      const transferOf = (id: string) => Effect.map(transferRepo.findTransfer(tenant, id), Option.getOrThrow)
      return { claimRepo, first, lose, payment, replace, repo, second, tenant, transferOf, transferRepo }
    })

    onPostgres(
      "moves to the equal transfer: it pays the payment, the first pays nothing, and no webhook is sent again",
      () =>
        Effect.gen(function* () {
          const { first, lose, payment, replace, repo, claimRepo, second, tenant, transferOf } =
            yield* settled
          const webhooks = yield* WebhookRepo
          expect(yield* replace).toBeFalse()
          yield* lose
          const like = yield* transferOf(second)
          expect(yield* claimRepo.droppedClaims(like)).toMatchObject([
            { payment: { id: payment.id }, transactionId: hash(1), isRecorded: true, nonces: [] }
          ])
          expect(yield* claimRepo.droppedClaims({ ...like, payer: receiver })).toEqual([])
          const lost = { transactionId: hash(1), droppedAt: after(61) }
          expect(Option.getOrThrow(yield* claimRepo.claimOf(payment.id))).toEqual(lost)
          expect(yield* replace).toBeTrue()
          expect(yield* replace).toBeFalse()
          const found = { transactionId: hash(2), droppedAt: null }
          expect(Option.getOrThrow(yield* claimRepo.claimOf(payment.id))).toEqual(found)
          expect(Option.isNone(yield* claimRepo.claimOf(yield* newId))).toBeTrue()
          expect(yield* claimed(repo, hash(1))).toEqual([])
          expect(yield* claimed(repo, hash(2))).toEqual([0])
          expect(yield* transferOf(first)).toMatchObject({ paymentId: null, droppedAt: after(9) })
          expect(yield* transferOf(second)).toMatchObject({ paymentId: payment.id, droppedAt: null })
          expect(yield* repo.find(tenant, payment.id)).toMatchObject({
            value: { settledAt: after(6), reported: { evidence: { transactionId: hash(1) } } }
          })
          expect(yield* webhooks.listDeliveries(tenant, 10)).toHaveLength(1)
          // Due at once, as a replacement.
          expect(yield* repo.takeWatched("test", after(120), after(150), 10)).toMatchObject([
            { paymentId: payment.id, transactionId: hash(2), droppedAt: null, isReplacement: true }
          ])
        })
    )

    onPostgres("leaves alone a transfer that returns and pays another payment, with its own delivery", () =>
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
        // Its id is derived from the transfer.
        const delivery = { id: told?.id ?? "", body }
        expect(Option.isSome(yield* repo.settle({ ...settlement, delivery, at: after(131) }))).toBeTrue()
        expect(yield* transferOf(first)).toMatchObject({ paymentId: other.id })
        expect(yield* webhooks.listDeliveries(tenant, 10)).toMatchObject([
          { id: settlement.laterDelivery?.id, paymentId: other.id },
          { id: told?.id, paymentId: payment.id }
        ])
      })
    )

    onPostgres(
      "is found before its loss is noted, by the nonce with which its wallet announced the payment",
      () =>
        Effect.gen(function* () {
          const repo = yield* PaymentRepo
          const attemptRepo = yield* AttemptRepo
          const transferRepo = yield* TransferRepo
          const claimRepo = yield* ClaimRepo
          const tenant = yield* newTenant()
          const [payment, other] = yield* Effect.all([opened(tenant), opened(tenant)])
          const announced = (of: Payment, nonce: bigint) =>
            Effect.flatMap(attemptOf({ nonce }), (attempt) =>
              attemptRepo.announce({ ...tenant, paymentId: of.id, attempt, minedNonce: null })
            )
          yield* announced(payment, 5n)
          yield* announced(other, 6n)
          yield* repo.settle(yield* settlementOf(payment, hash(1)))
          const like = Option.getOrThrow(
            yield* transferRepo.findTransfer(tenant, yield* arrived(tenant, hash(2)))
          )
          for (const nonce of [5n, "any"] as const)
            expect(yield* claimRepo.droppedClaims(like, nonce)).toMatchObject([
              { payment: { id: payment.id }, transactionId: hash(1), isRecorded: false, nonces: [5n] }
            ])
          for (const [transfer, nonce] of [
            [like, undefined],
            [like, 6n],
            [{ ...like, transactionId: hash(1) }, 5n],
            [{ ...like, transactionId: hash(1) }, "any"],
            [{ ...like, payer: receiver }, 5n]
          ] as const)
            expect(yield* claimRepo.droppedClaims(transfer, nonce)).toEqual([])
        })
    )

    onPostgres("stays if its transfer is back, even before that is noted", () =>
      Effect.gen(function* () {
        const { first, lose, payment, replace, repo, second, tenant, transferOf } = yield* settled
        yield* lose
        yield* arrived(tenant, hash(1), after(100))
        expect(yield* replace).toBeFalse()
        expect(yield* claimed(repo, hash(1))).toEqual([0])
        expect(yield* claimed(repo, hash(2))).toEqual([])
        expect(yield* transferOf(first)).toMatchObject({ paymentId: payment.id, droppedAt: null })
        expect(yield* transferOf(second)).toMatchObject({ paymentId: null, droppedAt: null })
      })
    )

    onPostgres(
      "and the return of its transfer at once: afterwards the transfer is free, or still the payment's",
      () =>
        Effect.gen(function* () {
          const { first, lose, payment, replace, transferRepo, tenant, transferOf } = yield* settled
          yield* lose
          const [isMoved] = yield* Effect.all([replace, arrived(tenant, hash(1), after(100))], {
            concurrency: "unbounded"
          })
          expect(yield* transferOf(first)).toMatchObject({
            paymentId: isMoved ? null : payment.id,
            droppedAt: null
          })
          const due = yield* transferRepo.takeUnmatched("test", after(100), after(130), 10)
          expect(due.some(({ id }) => id === first)).toBe(isMoved)
        })
    )

    onPostgres("does not move to a transfer that a person has handled", () =>
      Effect.gen(function* () {
        const { lose, replace, transferRepo, second, tenant } = yield* settled
        yield* lose
        expect(yield* transferRepo.handleTransfer(tenant, second, person(after(70)))).toBeTrue()
        expect(yield* replace).toBeFalse()
      })
    )

    onPostgres("does not move to a transfer that another payment has claimed", () =>
      Effect.gen(function* () {
        const { lose, replace, repo, tenant } = yield* settled
        yield* lose
        const { transfer, ...settlement } = yield* settlementOf(yield* opened(tenant), hash(2))
        const there = { ...transfer, blockHash: hash(8), blockNumber: 110n }
        expect(Option.isSome(yield* repo.settle({ ...settlement, transfer: there }))).toBeTrue()
        expect(Result.isFailure(yield* Effect.result(replace))).toBeTrue()
        expect(yield* claimed(repo, hash(1))).toEqual([0])
      })
    )

    onPostgres("has equal open transfers matched again at each check", () =>
      Effect.gen(function* () {
        const { lose, transferRepo, second } = yield* settled
        yield* transferRepo.takeUnmatched("test", after(20), after(50), 10)
        yield* transferRepo.recordMatch(second, { kind: "second" })
        expect(yield* transferRepo.takeUnmatched("test", after(60), after(90), 10)).toHaveLength(0)
        yield* lose
        expect(yield* transferRepo.takeUnmatched("test", after(61), after(90), 10)).toMatchObject([
          { id: second }
        ])
      })
    )

    onPostgres("and another payment that claims the same transfer at once: one gets it", () =>
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
      })
    )

    onPostgres("and a person who handles the same transfer at once: one gets it", () =>
      Effect.gen(function* () {
        const { lose, replace, transferRepo, second, tenant } = yield* settled
        yield* lose
        const [isMoved, isHandled] = yield* Effect.all(
          [replace, transferRepo.handleTransfer(tenant, second, person(after(120)))],
          { concurrency: "unbounded" }
        )
        expect([isMoved, isHandled].filter((one) => one)).toHaveLength(1)
      })
    )

    onPostgres("and another that would move to the same transfer at once: one does", () =>
      Effect.gen(function* () {
        const { lose, replace, repo } = yield* settled
        yield* lose
        const all = yield* Effect.all(
          Array.from({ length: 10 }, () => replace),
          { concurrency: "unbounded" }
        )
        expect(all.filter((isMoved) => isMoved)).toHaveLength(1)
        expect(yield* claimed(repo, hash(2))).toEqual([0])
      })
    )
  })
})
