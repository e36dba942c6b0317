// The contract of every PaymentRepo for transfers that the chain has shown, and for people's decisions about them.

import { describe, expect } from "bun:test"
import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Tenant } from "../../src/domain/Merchant.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import type { PaymentAttempt } from "../../src/payments/AttemptRepo/AttemptStore.ts"
import { AttemptRepo } from "../../src/payments/AttemptRepo.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import {
  after,
  arrived,
  attemptOf,
  before,
  claimed,
  evidenceOf,
  hash,
  newId,
  newTenant,
  onPostgres,
  opened,
  payer,
  person,
  receiver,
  settlementOf,
  start
} from "./repoFixtures.ts"

describe("TransferRepo on Postgres", () => {
  onPostgres(
    "one reader at a time has the chain's lease, which ends when it is over or its clock was far ahead",
    () =>
      Effect.gen(function* () {
        const transferRepo = yield* TransferRepo
        const [one, other] = [yield* newId, yield* newId]
        const lease = (id: string, seconds: number) => ({
          id,
          at: after(seconds),
          until: after(seconds + 15)
        })
        const takes = (id: string, seconds: number) =>
          Effect.map(transferRepo.leaseCursor("live", lease(id, seconds)), Option.isSome)
        yield* transferRepo.startCursor("live", { blockNumber: 1n, blockHash: hash(1), blockTime: start })
        expect(yield* takes(one, 100)).toBeTrue()
        expect(yield* takes(other, 114)).toBeFalse()
        expect(yield* takes(other, 115)).toBeTrue()
        // The lease holds for a clock that was set back by up to its length, and not for one that was further ahead.
        expect(yield* takes(one, 101)).toBeFalse()
        expect(yield* takes(one, 99)).toBeTrue()
        expect(yield* takes(one, 40_000)).toBeTrue()
        expect(yield* takes(other, 110)).toBeTrue()
        yield* transferRepo.releaseCursor("live", other)
      })
  )

  onPostgres(
    "a transfer that pays nothing gets its likely payments: only its merchant's, the likeliest first",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const attemptRepo = yield* AttemptRepo
        const transferRepo = yield* TransferRepo
        const tenant = yield* newTenant()
        const elsewhere = yield* newTenant()
        const settled = (of: Tenant, at: Date, seed: number) =>
          Effect.gen(function* () {
            const payment = yield* opened(of, at)
            yield* repo.settle(yield* settlementOf(payment, hash(seed)))
            return payment.id
          })
        yield* settled(elsewhere, start, 31_000)
        yield* opened(elsewhere)
        // A payment that the payer is known for comes before one of the same price, however old it is.
        const reported = yield* opened(tenant, start)
        yield* repo.report({
          ...{ ...tenant, paymentId: reported.id, evidence: evidenceOf(hash(31_002)), payerType: "human" },
          ...{ at: after(1), nextCheckAt: after(2) }
        })
        const announced = yield* opened(tenant, start)
        yield* attemptRepo.announce({
          ...{ ...tenant, paymentId: announced.id, attempt: yield* attemptOf(), minedNonce: null }
        })
        const paid = yield* settled(tenant, start, 31_001)
        const waiting = yield* opened(tenant, after(2))
        yield* opened(tenant, after(3), 2_000_000n)
        const id = yield* arrived(tenant, hash(31_002), after(20))
        const transfer = Option.getOrThrow(yield* transferRepo.findTransfer(tenant, id))
        const likely = yield* transferRepo.likelyPayments(transfer)
        expect(likely.map(({ payment, reasons }) => [payment.id, reasons.toSorted()])).toEqual([
          [reported.id, ["amount", "reported"]],
          [announced.id, ["amount", "announced"]],
          [paid, ["paid_before"]],
          [waiting.id, ["amount"]]
        ])
        // At most the ten likeliest, however many the wallet has paid.
        for (let seed = 0; seed < 12; seed++) yield* settled(tenant, after(4), 31_010 + seed)
        expect(yield* transferRepo.likelyPayments(transfer)).toHaveLength(10)
      })
  )

  onPostgres(
    "a transfer that a person is attaching is visible to its wallet, and for a minute nobody else can take it",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const transferRepo = yield* TransferRepo
        const attemptRepo = yield* AttemptRepo
        const tenant = yield* newTenant()
        const [attached, own] = [yield* opened(tenant), yield* opened(tenant)]
        const id = yield* arrived(tenant, hash(1))
        yield* transferRepo.recordMatch(id, { kind: "unknown" })
        expect(yield* transferRepo.leaseForPayment(tenant, id, attached.id, person(after(10)))).toBeTrue()

        expect(Option.getOrThrow(yield* attemptRepo.unclaimedTransfer(own, payer))).toBe(hash(1))
        const known = Option.getOrThrow(yield* attemptRepo.attempts(tenant, own.id, { payer, only: true }))
        expect(known.attempts).toMatchObject([{ payer, transactionId: hash(1) }])
        const announce = (attempt: PaymentAttempt) =>
          attemptRepo.announce({ ...tenant, paymentId: own.id, attempt, minedNonce: null })
        expect(Option.isNone(yield* announce(yield* attemptOf()))).toBeTrue()
        expect(yield* transferRepo.handleTransfer(tenant, id, person(after(69)))).toBeFalse()
        expect(yield* transferRepo.takeUnmatched("test", after(69), after(99), 10)).toHaveLength(0)
        const settlement = yield* settlementOf(own, hash(1))
        expect(Option.isNone(yield* repo.settle({ ...settlement, at: after(69) }))).toBeTrue()

        // The process that took it was killed: the reader of the chain matches it again.
        expect(yield* transferRepo.takeUnmatched("test", after(70), after(99), 10)).toMatchObject([
          { id, handledAt: null }
        ])
        expect(Option.isSome(yield* repo.settle({ ...settlement, at: after(71) }))).toBeTrue()
        expect(Option.getOrThrow(yield* transferRepo.findTransfer(tenant, id))).toMatchObject({
          ...{ paymentId: own.id, handledAt: null, handledBy: null, note: null }
        })
      })
  )

  onPostgres(
    "a report settles its payment by a transfer that a person took for another one more than a minute ago",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const transferRepo = yield* TransferRepo
        const tenant = yield* newTenant()
        const [attached, own] = [yield* opened(tenant), yield* opened(tenant)]
        const id = yield* arrived(tenant, hash(1))
        yield* transferRepo.leaseForPayment(tenant, id, attached.id, person(after(10)))
        const settlement = yield* settlementOf(own, hash(1))
        expect(Option.isSome(yield* repo.settle({ ...settlement, at: after(70) }))).toBeTrue()
        expect(Option.getOrThrow(yield* transferRepo.findTransfer(tenant, id))).toMatchObject({
          ...{ paymentId: own.id, handledAt: null, handledBy: null, note: null }
        })
        expect(yield* transferRepo.leaseForPayment(tenant, id, attached.id, person(after(71)))).toBeFalse()
      })
  )

  onPostgres(
    "an attached transfer settles its payment in the person's name; a released one is matched again",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const transferRepo = yield* TransferRepo
        const tenant = yield* newTenant()
        const [wrong, right] = [yield* opened(tenant), yield* opened(tenant)]
        const id = yield* arrived(tenant, hash(1))
        yield* transferRepo.leaseForPayment(tenant, id, wrong.id, person(after(10)))
        // The reader of the chain ends a match that it began before.
        yield* transferRepo.recordMatch(id, { kind: "unknown" })
        yield* transferRepo.releaseLease(id, wrong.id, after(10))
        expect(yield* transferRepo.takeUnmatched("test", after(11), after(40), 10)).toMatchObject([
          { id, handledAt: null }
        ])
        yield* transferRepo.leaseForPayment(tenant, id, right.id, person(after(12)))
        const settlement = yield* settlementOf(right, hash(1))
        expect(Option.isSome(yield* repo.settle({ ...settlement, at: after(13) }))).toBeTrue()
        expect(Option.getOrThrow(yield* transferRepo.findTransfer(tenant, id))).toMatchObject({
          ...{ paymentId: right.id, handledAt: after(12), handledBy: "ann@example.com", note: "by hand" }
        })
        expect(yield* transferRepo.takeUnmatched("test", after(999), after(9999), 10)).toHaveLength(0)
      })
  )

  onPostgres(
    "after its minute, an attachment cannot release what another person has taken for the same payment",
    () =>
      Effect.gen(function* () {
        const transferRepo = yield* TransferRepo
        const tenant = yield* newTenant()
        const payment = yield* opened(tenant)
        const id = yield* arrived(tenant, hash(1))
        expect(yield* transferRepo.leaseForPayment(tenant, id, payment.id, person(after(10)))).toBeTrue()
        expect(yield* transferRepo.leaseForPayment(tenant, id, payment.id, person(after(70)))).toBeTrue()
        yield* transferRepo.releaseLease(id, payment.id, after(10))
        expect(yield* transferRepo.takeUnmatched("test", after(71), after(100), 10)).toEqual([])
        expect(Option.getOrThrow(yield* transferRepo.findTransfer(tenant, id)).handledAt).toEqual(after(70))
        yield* transferRepo.releaseLease(id, payment.id, after(70))
        expect(yield* transferRepo.takeUnmatched("test", after(71), after(100), 10)).toMatchObject([
          { id, handledAt: null }
        ])
      })
  )

  onPostgres("a transfer that a person has handled pays nothing, and nobody handles a claimed one", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const transferRepo = yield* TransferRepo
      const tenant = yield* newTenant()
      const [left, right] = [yield* opened(tenant), yield* opened(tenant)]
      const handled = yield* arrived(tenant, hash(1))
      expect(yield* transferRepo.handleTransfer(tenant, handled, person(after(10)))).toBeTrue()
      expect(Option.isNone(yield* repo.settle(yield* settlementOf(left, hash(1))))).toBeTrue()
      expect(yield* claimed(repo, hash(1))).toEqual([0])
      expect(Option.getOrThrow(yield* repo.find(tenant, left.id)).status).toBe("pending")

      const paid = yield* arrived(tenant, hash(2))
      yield* repo.settle(yield* settlementOf(left, hash(2)))
      // Claimed before it was read from the chain.
      yield* repo.settle(yield* settlementOf(right, hash(3)))
      const later = yield* arrived(tenant, hash(3))
      for (const id of [paid, later]) {
        expect(yield* transferRepo.handleTransfer(tenant, id, person(after(11)))).toBeFalse()
        expect(yield* transferRepo.leaseForPayment(tenant, id, left.id, person(after(11)))).toBeFalse()
        expect(yield* transferRepo.findTransfer(tenant, id)).toMatchObject({ value: { handledAt: null } })
      }
    })
  )

  onPostgres("a transfer finds the attempt that it pays among any number of its wallet's attempts", () =>
    Effect.gen(function* () {
      const attemptRepo = yield* AttemptRepo
      const transferRepo = yield* TransferRepo
      const tenant = yield* newTenant()
      const announce = Effect.fnUntraced(function* (payment: Payment, seconds: number) {
        const attempt = yield* attemptOf({ announcedAt: after(seconds) })
        yield* attemptRepo.announce({ ...tenant, paymentId: payment.id, attempt, minedNonce: null })
      })
      const first = yield* opened(tenant)
      yield* announce(first, 1)
      for (let other = 0; other < 101; other++)
        yield* announce(yield* opened(tenant, start, 2_000_000n + BigInt(other)), 2)
      const id = yield* arrived(tenant, hash(1))
      const transfer = Option.getOrThrow(yield* transferRepo.findTransfer(tenant, id))
      const matches = yield* transferRepo.matchesOf(transfer)
      expect(matches.map(({ attempts, payment }) => [payment.id, attempts.length])).toEqual([[first.id, 1]])
    })
  )

  onPostgres("a claimed transfer belongs to its payment's merchant, even if the address has moved", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const transferRepo = yield* TransferRepo
      const [former, present] = [yield* newTenant(), yield* newTenant()]
      const ids = (tenant: Tenant) =>
        Effect.map(
          transferRepo.listTransfers(tenant, { status: "all", limit: 10, startingAfter: undefined }),
          (all) => all.map(({ id }) => id)
        )
      const [early, late] = [yield* opened(former), yield* opened(former)]
      yield* repo.settle(yield* settlementOf(early, hash(1)))
      const claimedFirst = yield* arrived(present, hash(1))
      const readFirst = yield* arrived(present, hash(2))
      expect(yield* ids(present)).toEqual([readFirst])
      yield* repo.settle(yield* settlementOf(late, hash(2)))
      expect([yield* ids(present), (yield* ids(former)).toSorted()]).toEqual([
        [],
        [claimedFirst, readFirst].toSorted()
      ])
    })
  )

  onPostgres("a payment does not expire while it is undecided what a transfer of its exact amount pays", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const transferRepo = yield* TransferRepo
      const random = yield* SecureRandom.SecureRandom
      const tenant = yield* newTenant()
      const waiting = yield* opened(tenant, start, 7_654_321n)
      const other = yield* opened(tenant, start, 7_654_322n)
      const at = (blockNumber: bigint) => ({
        blockNumber,
        blockHash: hash(Number(blockNumber)),
        blockTime: start
      })
      const lease = { id: yield* random.uuidV7(), until: after(90), at: after(10) }
      yield* transferRepo.startCursor("test", at(1_000n))
      const from = Option.getOrThrow(yield* transferRepo.leaseCursor("test", lease))
      const to = at(from.blockNumber + 1n)
      const id = yield* random.uuidV7()
      const brought = {
        ...{ id, merchantId: tenant.merchantId, transactionId: hash(7_654_321), payer, receiver },
        ...{ amount: 7_654_321n, ordinal: 0, ...to }
      }
      expect(
        yield* transferRepo.recordRange({ env: "test", lease, from, to, transfers: [brought], outgoing: [] })
      ).toBeTrue()
      yield* transferRepo.releaseCursor("test", lease.id)
      const cutoff = { openedBefore: before(50), reportedBefore: after(50), at: after(200) }
      const ids = [waiting.id, other.id]
      const failed = () =>
        Effect.map(repo.expire(cutoff), (all) => all.map((one) => one.id).filter((one) => ids.includes(one)))
      expect(yield* failed()).toEqual([other.id])
      yield* transferRepo.recordMatch(id, { kind: "unknown" })
      expect(yield* failed()).toEqual([waiting.id])
    })
  )

  onPostgres("less than a cent raises no alert", () =>
    Effect.gen(function* () {
      const transferRepo = yield* TransferRepo
      const tenant = yield* newTenant()
      const alerts = Effect.map(transferRepo.tenantsToAlert(new Date("2100-01-01")), (all) =>
        all.filter(({ merchantId }) => merchantId === tenant.merchantId).map(({ count }) => count)
      )
      for (const [seed, amount] of [1n, 9_999n].entries())
        yield* transferRepo.recordMatch(yield* arrived(tenant, hash(71_000 + seed), after(5), 0, amount), {
          kind: "unknown"
        })
      expect(yield* alerts).toEqual([])
      yield* transferRepo.recordMatch(yield* arrived(tenant, hash(71_010), after(5), 0, 10_000n), {
        kind: "unknown"
      })
      expect(yield* alerts).toEqual([1])
    })
  )
})
