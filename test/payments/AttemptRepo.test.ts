// What every PaymentRepo knows of wallets that pay.

import { describe, expect } from "bun:test"
import { Effect, Option } from "effect"
import type { Address } from "../../src/domain/Chain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { AttemptRepo } from "../../src/payments/AttemptRepo.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
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
  start
} from "./repoFixtures.ts"

describe("AttemptRepo on Postgres", () => {
  onPostgres("an attempt takes no nonce that is mined already, and an authorization none at all", () =>
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
    "a transfer above the block of the wallet's open attempt is unclaimed, whatever our clock says",
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
    "a transfer above the height at which a payment opened came since then, whatever our clock says",
    () =>
      Effect.gen(function* () {
        const attemptRepo = yield* AttemptRepo
        const tenant = yield* newTenant()
        // `arrived` puts it into block 1,001.
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
    "what a wallet has sent may be for another payment that it reports, by that transaction or within half an hour",
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
          attemptRepo.paysAnEqual(of, by, hash(sent), after(seconds))
        expect(yield* isForAnother(other, payer, 2, 1799)).toBeTrue()
        expect(yield* isForAnother(other, payer, 2, 1800)).toBeFalse()
        expect(yield* isForAnother(other, payer, 1, 86_400)).toBeTrue()
        for (const one of [reported, dearer]) expect(yield* isForAnother(one, payer, 1, 1)).toBeFalse()
        expect(yield* isForAnother(other, address("d"), 1, 1)).toBeFalse()
        yield* repo.noteCheck(
          reported.id,
          report.evidence,
          { reason: "no_transfer", at: start },
          { heldUntil: after(60), nextCheckAt: null }
        )
        expect(yield* isForAnother(other, payer, 1, 1)).toBeFalse()
      })
  )

  onPostgres(
    "a wallet that has reported is not asked again for half an hour; the newest attempt is told first",
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

  onPostgres("an address is shown of a pending payment alone", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const attemptRepo = yield* AttemptRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      expect(yield* attemptRepo.noteAddressShown(payment.id, after(1))).toBeTrue()
      yield* repo.expire({ openedBefore: before(50), reportedBefore: after(50), at: after(60) })
      expect(yield* attemptRepo.noteAddressShown(payment.id, after(61))).toBeFalse()
    })
  )
})
