// The contract of every PaymentRepo for paying wallets.

import { describe, expect } from "bun:test"
import { Effect, Option } from "effect"
import type { Address } from "../../src/domain/Chain.ts"
import type { Tenant } from "../../src/domain/Merchant.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { AttemptRepo } from "../../src/payments/AttemptRepo.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import {
  address,
  after,
  arrived,
  attemptOf,
  before,
  evidenceOf,
  hash,
  newTenant,
  onPostgres,
  opened,
  payer,
  settlementOf,
  start
} from "./repoFixtures.ts"

describe("AttemptRepo on Postgres", () => {
  onPostgres("an attempt gets no nonce that is already mined, and an authorization none at all", () =>
    Effect.gen(function* () {
      const attemptRepo = yield* AttemptRepo
      const tenant = yield* newTenant()
      const cases = [
        { nonce: 0n, minedNonce: 2n, kept: 2n },
        { nonce: 3n, minedNonce: 2n, kept: 3n },
        { nonce: 0n, minedNonce: null, kept: 0n },
        { nonce: null, minedNonce: null, kept: null },
        { nonce: null, minedNonce: 2n, kept: null, method: "authorization" as const }
      ]
      for (const { kept, method = "transfer", minedNonce, nonce } of cases) {
        const { id } = yield* opened(tenant)
        const attempt = yield* attemptOf({ nonce, method })
        const announced = yield* attemptRepo.announce({ ...tenant, paymentId: id, attempt, minedNonce })
        expect(Option.getOrThrow(announced).nonce).toBe(kept)
        expect(Option.getOrThrow(yield* attemptRepo.openAttempt(id, payer)).nonce).toBe(kept)
      }
    })
  )

  onPostgres(
    "a transfer above the block of the wallet's open attempt is unclaimed, whatever the service's clock says",
    () =>
      Effect.gen(function* () {
        const attemptRepo = yield* AttemptRepo
        const tenant = yield* newTenant()
        // A clock that is two minutes ahead has opened it.
        const payment = yield* opened(tenant, after(120))
        yield* arrived(tenant, hash(1))
        expect(yield* attemptRepo.unclaimedTransfer(payment, payer)).toEqual(Option.none())
        const attempt = yield* attemptOf()
        const announcement = { ...tenant, paymentId: payment.id, attempt, minedNonce: null }
        expect(Option.isSome(yield* attemptRepo.announce(announcement))).toBeTrue()
        expect(yield* attemptRepo.unclaimedTransfer(payment, payer)).toEqual(Option.some(hash(1)))
        yield* attemptRepo.closeAttempt(payment.id, attempt.id, "declined", after(130))
        expect(yield* attemptRepo.unclaimedTransfer(payment, payer)).toEqual(Option.none())
      })
  )

  onPostgres(
    "a transfer above a payment's opening height came after it, whatever the service's clock says",
    () =>
      Effect.gen(function* () {
        const attemptRepo = yield* AttemptRepo
        const tenant = yield* newTenant()
        // `arrived` puts the transfer into block 1,001.
        const lower = yield* opened(tenant, after(120), 1_000_000n, 1_000n)
        const equal = yield* opened(tenant, after(120), 1_000_000n, 1_001n)
        yield* arrived(tenant, hash(1))
        expect(yield* attemptRepo.unclaimedTransfer(lower, payer)).toEqual(Option.some(hash(1)))
        expect(yield* attemptRepo.unclaimedTransfer(equal, payer)).toEqual(Option.none())
        for (const [payment, seen] of [[lower, 1] as const, [equal, 0] as const]) {
          const known = yield* attemptRepo.attempts(tenant, payment.id, { payer, only: true })
          expect(Option.getOrThrow(known).attempts).toHaveLength(seen)
          const announcement = {
            ...tenant,
            paymentId: payment.id,
            attempt: yield* attemptOf(),
            minedNonce: null
          }
          expect(Option.isNone(yield* attemptRepo.announce(announcement))).toBe(seen === 1)
        }
      })
  )

  onPostgres(
    "a wallet's transfer may be meant for another payment that it reports, by its hash or within half an hour",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const attemptRepo = yield* AttemptRepo
        const tenant = yield* newTenant()
        const [reported, other, dearer] = [
          yield* opened(tenant),
          yield* opened(tenant),
          yield* opened(tenant, start, 2_000_000n)
        ]
        const report = {
          ...tenant,
          paymentId: reported.id,
          evidence: evidenceOf(hash(1)),
          payerType: "human" as const
        }
        yield* repo.report({ ...report, at: start, nextCheckAt: after(60) })
        const isForAnother = (of: Payment, by: Address, sent: number, seconds: number) =>
          attemptRepo.mayPayAnotherPayment(of, by, hash(sent), after(seconds))
        expect(yield* isForAnother(other, payer, 2, 1799)).toBeTrue()
        expect(yield* isForAnother(other, payer, 2, 1800)).toBeFalse()
        expect(yield* isForAnother(other, payer, 1, 86_400)).toBeTrue()
        for (const one of [reported, dearer]) expect(yield* isForAnother(one, payer, 1, 1)).toBeFalse()
        expect(yield* isForAnother(other, address("d"), 1, 1)).toBeFalse()
        yield* repo.recordCheck(
          reported.id,
          report.evidence,
          { reason: "no_transfer", at: start },
          { leaseUntil: after(60), nextCheckAt: null }
        )
        expect(yield* isForAnother(other, payer, 1, 1)).toBeFalse()
      })
  )

  onPostgres(
    "a wallet that has reported is not asked to pay again for half an hour; the newest attempt comes first",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const attemptRepo = yield* AttemptRepo
        const tenant = yield* newTenant()
        const { id } = yield* opened(tenant)
        const now = new Date()
        const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
        const evidence = evidenceOf(hash(1))
        yield* repo.report({
          ...tenant,
          paymentId: id,
          evidence,
          payerType: "human",
          at: now,
          nextCheckAt: now
        })
        const announce = (by: Address, announcedAt: Date) =>
          Effect.flatMap(attemptOf({ announcedAt, payer: by }), (attempt) =>
            attemptRepo.announce({ ...tenant, paymentId: id, attempt, minedNonce: null })
          )
        expect(Option.isNone(yield* announce(payer, later(1799)))).toBeTrue()
        expect(Option.isSome(yield* announce(address("d"), later(60)))).toBeTrue()
        const payers = (by?: Address) =>
          Effect.map(
            attemptRepo.attempts(tenant, id, by === undefined ? undefined : { payer: by, only: false }),
            (known) => Option.getOrThrow(known).attempts.map((one) => one.payer)
          )
        expect(yield* payers()).toEqual([address("d"), payer])
        expect(yield* payers(payer)).toEqual([payer, address("d")])
        expect(Option.isSome(yield* announce(payer, later(1800)))).toBeTrue()
      })
  )

  const confirmingOf = (tenant: Tenant, payment: Payment) =>
    Effect.flatMap(AttemptRepo, (repo) =>
      Effect.map(repo.attempts(tenant, payment.id), (known) => Option.getOrThrow(known).confirming)
    )

  onPostgres(
    "a report confirms only once the chain shows that it pays; a refusal ends that, a node's failure does not",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const tenant = yield* newTenant()
        const payment = yield* opened(tenant)
        const evidence = evidenceOf(hash(1))
        const report = { ...tenant, paymentId: payment.id, payerType: "human" as const }
        yield* repo.report({ ...report, evidence, at: start, nextCheckAt: after(60) })
        yield* repo.report({ ...report, evidence: evidenceOf(hash(2)), at: start, nextCheckAt: after(60) })
        expect(yield* confirmingOf(tenant, payment)).toBeNull()
        const verdicts = [
          ["not_found", null],
          ["rpc_unavailable", null],
          ["confirmations", hash(1)],
          ["finalized", hash(1)],
          ["disagreement", hash(1)],
          ["spreading", hash(1)],
          ["amount", null],
          ["rpc_unavailable", null],
          ["safe", hash(1)],
          ["denied", null],
          ["finalized", hash(1)]
        ] as const
        for (const [index, [reason, confirming]] of verdicts.entries()) {
          yield* repo.recordVerdict(payment.id, evidence, { reason, at: after(index + 1) })
          expect([reason, yield* confirmingOf(tenant, payment)]).toEqual([reason, confirming])
        }
        yield* repo.settle(yield* settlementOf(payment, hash(1)))
        expect(yield* confirmingOf(tenant, payment)).toBeNull()
      })
  )

  onPostgres(
    "a transfer read from the chain counts as confirming for the payment that its wallet announced",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const attemptRepo = yield* AttemptRepo
        const transferRepo = yield* TransferRepo
        const tenant = yield* newTenant()
        const [announced, later, never] = [
          yield* opened(tenant),
          yield* opened(tenant),
          yield* opened(tenant)
        ]
        const announce = (payment: Payment, blockNumber: bigint) =>
          Effect.flatMap(attemptOf({ blockNumber }), (attempt) =>
            attemptRepo.announce({ ...tenant, paymentId: payment.id, attempt, minedNonce: null })
          )
        yield* announce(announced, 1_000n)
        // `arrived` puts the transfer into block 1,001.
        yield* announce(later, 1_001n)
        const id = yield* arrived(tenant, hash(1))
        expect(yield* confirmingOf(tenant, announced)).toBe(hash(1))
        for (const other of [later, never]) expect(yield* confirmingOf(tenant, other)).toBeNull()
        // Its wallet reports which payment it is for.
        const report = { ...tenant, paymentId: later.id, evidence: evidenceOf(hash(1)) }
        yield* repo.report({ ...report, payerType: "human", at: after(6), nextCheckAt: after(60) })
        expect(yield* confirmingOf(tenant, announced)).toBeNull()
        yield* repo.recordCheck(
          later.id,
          report.evidence,
          { reason: "too_old", at: after(7) },
          { leaseUntil: after(60), nextCheckAt: null }
        )
        expect(yield* confirmingOf(tenant, announced)).toBe(hash(1))
        yield* transferRepo.recordMatch(id, { kind: "unknown" })
        expect(yield* confirmingOf(tenant, announced)).toBeNull()
      })
  )

  onPostgres("an address is shown only of a pending payment", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const attemptRepo = yield* AttemptRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      expect(yield* attemptRepo.recordAddressShown(payment.id, after(1))).toBeTrue()
      yield* repo.expire({ openedBefore: before(50), reportedBefore: after(50), at: after(60) })
      expect(yield* attemptRepo.recordAddressShown(payment.id, after(61))).toBeFalse()
    })
  )
})
