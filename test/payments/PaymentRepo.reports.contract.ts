// The contract of every PaymentRepo for stored reports, their checks, and failed payments.

import { expect } from "bun:test"
import { Effect, Option } from "effect"
import type { Tenant } from "../../src/domain/Merchant.ts"
import type { Evidence, Payment } from "../../src/domain/Payment.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import {
  address,
  after,
  before,
  evidenceOf,
  hash,
  newTenant,
  onLayer,
  opened,
  payer,
  type RepoLayer,
  settlementOf
} from "./repoFixtures.ts"

export const paymentReportsContract = (layer: RepoLayer): void => {
  const it = onLayer(layer)

  it("stores an unverified report without changing the payment, and returns it when due", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      const report = {
        ...tenant,
        paymentId: payment.id,
        evidence: evidenceOf(hash(1)),
        at: after(1),
        payerType: "human" as const,
        nextCheckAt: after(5)
      }
      const kept = Option.getOrThrow(yield* repo.report(report))
      expect(kept).toMatchObject({ payment: { status: "pending", reported: null }, attemptBlock: null })
      expect(yield* repo.takeDueReports("test", after(4), after(60), 10)).toHaveLength(0)
      const [due] = yield* repo.takeDueReports("test", after(5), after(60), 10)
      expect(due).toMatchObject({ checks: 0, evidence: { transactionId: hash(1), payer } })
      expect(due?.payment.id).toBe(payment.id)
      // Taken: hidden from others until the lease ends.
      expect(yield* repo.takeDueReports("test", after(6), after(60), 10)).toHaveLength(0)
      yield* repo.recordCheck(
        payment.id,
        evidenceOf(hash(1)),
        { at: after(3), reason: "not_found" },
        {
          leaseUntil: after(60),
          nextCheckAt: after(10)
        }
      )
      expect((yield* repo.takeDueReports("test", after(10), after(60), 10))[0]?.checks).toBe(1)
      yield* repo.recordCheck(
        payment.id,
        evidenceOf(hash(1)),
        { at: after(3), reason: "amount" },
        {
          leaseUntil: after(60),
          nextCheckAt: null
        }
      )
      expect(yield* repo.takeDueReports("test", after(9999), after(99999), 10)).toHaveLength(0)
    }))

  it("a check does not end a report that was made again, or that another check has taken since", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      const evidence = evidenceOf(hash(1))
      const report = (at: Date, nextCheckAt: Date) =>
        repo.report({ ...tenant, paymentId: payment.id, evidence, at, payerType: "human", nextCheckAt })
      const end = (leaseUntil: Date) =>
        repo.recordCheck(
          payment.id,
          evidence,
          { at: after(3), reason: "not_found" },
          { leaseUntil, nextCheckAt: null }
        )
      yield* report(after(1), after(2))
      const [taken] = yield* repo.takeDueReports("test", after(2), after(60), 10)
      expect(taken?.leaseUntil).toEqual(after(60))
      yield* report(after(4), after(5))
      yield* end(after(60))
      const [again] = yield* repo.takeDueReports("test", after(5), after(65), 10)
      expect(again).toMatchObject({ reportedAt: after(4), checks: 0, leaseUntil: after(65) })
      expect(yield* repo.takeDueReports("test", after(65), after(125), 10)).toHaveLength(1)
      yield* end(after(65))
      expect(yield* repo.takeDueReports("test", after(125), after(185), 10)).toMatchObject([{ checks: 0 }])
      yield* end(after(185))
      expect(yield* repo.takeDueReports("test", after(9999), after(99999), 10)).toHaveLength(0)
    }))

  it("each report is stored by its evidence: none replaces another, and a repeated one is stored once", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      const report = (evidence: Evidence) =>
        repo.report({
          ...tenant,
          paymentId: payment.id,
          evidence,
          at: after(1),
          payerType: "human",
          nextCheckAt: after(2)
        })
      const all = [
        evidenceOf(hash(1)),
        evidenceOf(hash(2)),
        evidenceOf(hash(1), 2_000_000n),
        evidenceOf(hash(3), 1_000_000n, address("d"))
      ]
      for (const evidence of [...all, evidenceOf(hash(1))]) yield* report(evidence)
      // A final mismatch ends the checks of that report only.
      yield* repo.recordCheck(
        payment.id,
        evidenceOf(hash(1), 2_000_000n),
        { at: after(3), reason: "declared_changes" },
        { leaseUntil: after(2), nextCheckAt: null }
      )
      const due = yield* repo.takeDueReports("test", after(3), after(60), 10)
      expect(due.map((one) => one.evidence.transactionId).sort()).toEqual([hash(1), hash(2), hash(3)].sort())
    }))

  it("stores a payer's latest reports: ended ones go first, other payers' stay", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      const report = (evidence: Evidence, seconds: number) =>
        repo.report({
          ...tenant,
          paymentId: payment.id,
          evidence,
          at: after(seconds),
          payerType: "human",
          nextCheckAt: after(100)
        })
      const good = evidenceOf(hash(1))
      yield* report(good, 1)
      yield* report(evidenceOf(hash(99), 1_000_000n, address("d")), 1)
      for (let seed = 2; seed < 30; seed++) {
        const wrong = evidenceOf(hash(seed))
        yield* report(wrong, seed)
        yield* repo.recordCheck(
          payment.id,
          wrong,
          { at: after(3), reason: "amount" },
          { leaseUntil: after(100), nextCheckAt: null }
        )
      }
      const due = yield* repo.takeDueReports("test", after(200), after(300), 100)
      expect(due.map((one) => one.evidence.transactionId).sort()).toEqual([hash(1), hash(99)].sort())
    }))

  it("merchants take turns, however many reports one has; the least checked come first", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const [loud, quiet] = [yield* newTenant(), yield* newTenant()]
      const report = (tenant: Tenant, payment: Payment, seed: number) =>
        repo.report({
          ...tenant,
          paymentId: payment.id,
          evidence: evidenceOf(hash(seed), 1_000_000n, address((seed % 9).toString())),
          at: after(1),
          payerType: "human",
          nextCheckAt: after(2)
        })
      const [noise, honest] = [yield* opened(loud), yield* opened(quiet)]
      for (let seed = 1; seed <= 40; seed++) yield* report(loud, noise, seed)
      yield* report(quiet, honest, 99)
      const first = yield* repo.takeDueReports("test", after(3), after(60), 4)
      expect(first.map(({ payment }) => payment.id)).toContain(honest.id)
      for (const { payment, evidence, leaseUntil } of first)
        yield* repo.recordCheck(
          payment.id,
          evidence,
          { at: after(3), reason: "not_found" },
          { leaseUntil, nextCheckAt: after(2) }
        )
      const second = yield* repo.takeDueReports("test", after(3), after(60), 4)
      expect(
        second.filter(({ payment }) => payment.id === noise.id).every(({ checks }) => checks === 0)
      ).toBe(true)
    }))

  it("deletes ended reports of ended payments, and nothing that is still open", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [failed, pending] = [yield* opened(tenant), yield* opened(tenant, after(100))]
      for (const payment of [failed, pending]) {
        yield* repo.report({
          ...tenant,
          paymentId: payment.id,
          evidence: evidenceOf(hash(1)),
          at: after(1),
          payerType: "human",
          nextCheckAt: after(2)
        })
        yield* repo.recordCheck(
          payment.id,
          evidenceOf(hash(1)),
          { at: after(3), reason: "not_found" },
          { leaseUntil: after(2), nextCheckAt: null }
        )
      }
      yield* repo.expire({ openedBefore: before(50), reportedBefore: after(50), at: after(60) })
      expect(yield* repo.pruneReports(after(1), 10)).toBe(0)
      expect(yield* repo.pruneReports(after(2), 10)).toBe(1)
      expect(yield* repo.pruneReports(after(9999), 10)).toBe(0)
    }))

  it("a live payment stores every report, and stays as it is", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant("live")
      const payment = yield* opened(tenant)
      const report = (evidence: Evidence, at: Date) =>
        repo.report({
          ...tenant,
          paymentId: payment.id,
          evidence,
          at,
          payerType: "human",
          nextCheckAt: after(5)
        })
      for (const seed of [1, 2]) {
        const { payment: now } = Option.getOrThrow(yield* report(evidenceOf(hash(seed)), after(seed)))
        expect(now).toMatchObject({ status: "pending", reported: null })
      }
      expect(yield* repo.takeDueReports("test", after(9999), after(99999), 10)).toHaveLength(0)
    }))

  it("fails unreported payments as expired, and unverified ones as unverified", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const never = yield* opened(tenant)
      const reported = yield* opened(tenant)
      const fresh = yield* opened(tenant, after(100))
      const recent = yield* opened(tenant)
      const report = (payment: Payment, at: Date) =>
        repo.report({
          ...tenant,
          paymentId: payment.id,
          evidence: evidenceOf(hash(1)),
          at,
          payerType: "human",
          nextCheckAt: at
        })
      yield* report(reported, after(10))
      yield* report(recent, after(95))
      const cutoff = { openedBefore: before(50), reportedBefore: after(50), at: after(200) }
      // A report that is still to be checked keeps the payment pending: the chain has the last word.
      expect((yield* repo.expire(cutoff)).map((one) => one.id)).toEqual([never.id])
      yield* repo.recordCheck(
        reported.id,
        evidenceOf(hash(1)),
        { at: after(100), reason: "not_found" },
        { leaseUntil: after(10), nextCheckAt: null }
      )
      const failed = yield* repo.expire(cutoff)
      expect(failed).toEqual([{ id: reported.id, reason: "unverified" }])
      const status = (payment: Payment) =>
        Effect.map(repo.find(tenant, payment.id), (found) => Option.getOrThrow(found))
      expect(yield* status(never)).toMatchObject({
        status: "failed",
        failureReason: "expired",
        settledAt: null
      })
      expect((yield* status(fresh)).status).toBe("pending")
      expect((yield* status(recent)).status).toBe("pending")
      expect(
        yield* repo.expire({ openedBefore: before(50), reportedBefore: after(50), at: after(201) })
      ).toHaveLength(0)
      // Proven late, it settles all the same.
      const late = yield* repo.settle(yield* settlementOf(never, hash(1)))
      expect(Option.getOrThrow(late)).toMatchObject({ status: "settled", failureReason: null })
    }))

  it("live payments with a report do not expire", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant("live")
      const payment = yield* opened(tenant)
      yield* repo.report({
        ...tenant,
        paymentId: payment.id,
        evidence: evidenceOf(hash(1)),
        at: after(1),
        payerType: "human",
        nextCheckAt: after(1)
      })
      expect(
        yield* repo.expire({ openedBefore: before(50), reportedBefore: after(50), at: after(60) })
      ).toHaveLength(0)
    }))
}
