// The contract of every PaymentRepo for openings, look-ups and lists.

import { expect } from "bun:test"
import { Effect, Option } from "effect"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import type { PaymentId, PaymentSummary } from "../../src/domain/Payment.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { after, newId, newTenant, onLayer, opened, type RepoLayer, receiver, start } from "./repoFixtures.ts"

export const paymentOpeningsContract = (layer: RepoLayer): void => {
  const it = onLayer(layer)

  it("opens a payment once: the same id again returns the same payment", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const input = {
        ...tenant,
        id: yield* newId,
        amount: AtomicUsdc.make(99_999_999_999_999_999_999n),
        intentUrl: "https://shop.example.com/1",
        receiver,
        payerType: "human" as const,
        at: start
      }
      const all = yield* Effect.forEach(Array.from({ length: 100 }), () => repo.open(input), {
        concurrency: "unbounded"
      })
      expect(all.filter((one) => one.created)).toHaveLength(1)
      expect(new Set(all.map((one) => one.payment.refCode)).size).toBe(1)
      expect(all[0]?.payment).toMatchObject({
        status: "pending",
        amount: 99_999_999_999_999_999_999n,
        receiver
      })
      expect(all[0]?.payment.refCode).toMatch(/^PAY-[A-Z0-9]{8}$/)
      const page = yield* repo.list(tenant, { limit: 100, startingAfter: undefined })
      expect(Option.getOrThrow(page).payments).toHaveLength(1)
    }))

  it("an expired token replays only an existing payment", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      expect((yield* repo.openExpired(tenant, payment.id)).id).toBe(payment.id)
      const error = yield* Effect.flip(repo.openExpired(tenant, yield* newId))
      expect(error.code).toBe("INTENT_TOKEN_EXPIRED")
    }))

  it("finds a payment only for its own merchant and environment", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      expect(Option.isSome(yield* repo.find(tenant, payment.id))).toBe(true)
      expect(Option.isNone(yield* repo.find({ ...tenant, env: "live" }, payment.id))).toBe(true)
      expect(Option.isNone(yield* repo.find(yield* newTenant(), payment.id))).toBe(true)
    }))

  it("lists newest first, in pages", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      // Two have the same millisecond, so that the order cannot depend on the time only.
      for (const seconds of [1, 2, 2, 3, 4]) yield* opened(tenant, after(seconds))
      yield* opened(yield* newTenant(), after(9))
      const pages: Array<PaymentSummary> = []
      let startingAfter: PaymentId | undefined
      for (let page = 0; page < 3; page++) {
        const { payments, hasMore } = Option.getOrThrow(yield* repo.list(tenant, { limit: 2, startingAfter }))
        expect(hasMore).toBe(page < 2)
        pages.push(...payments)
        startingAfter = payments.at(-1)?.id
      }
      expect(pages.map((one) => one.createdAt.getTime())).toEqual(
        [4, 3, 2, 2, 1].map((seconds) => after(seconds).getTime())
      )
      expect(new Set(pages.map((one) => one.id)).size).toBe(5)
      expect(Option.isNone(yield* repo.list(tenant, { limit: 2, startingAfter: yield* newId }))).toBe(true)
    }))

  it("concurrent reads of several merchants return each merchant's own payments", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenants = [yield* newTenant(), yield* newTenant(), yield* newTenant()]
      const payments = yield* Effect.forEach(tenants.slice(0, 2), (tenant) =>
        Effect.forEach([0, 1, 2], (second) => opened(tenant, after(second)))
      )
      const together = { concurrency: "unbounded" } as const
      const asked = tenants.flatMap((tenant) => [1, 2, 3].map((limit) => ({ tenant, limit })))
      const pages = yield* Effect.forEach(
        asked,
        ({ limit, tenant }) =>
          Effect.map(repo.list(tenant, { limit, startingAfter: undefined }), Option.getOrThrow),
        together
      )
      for (const [index, { limit, tenant }] of asked.entries()) {
        const own = (payments[tenants.indexOf(tenant)] ?? []).toReversed()
        expect(pages[index]).toMatchObject({
          payments: own.slice(0, limit).map(({ id }) => ({ id })),
          hasMore: own.length > limit
        })
      }

      const found = yield* Effect.forEach(
        tenants.flatMap((tenant) => payments.flat().map(({ id }) => ({ tenant, id }))),
        ({ id, tenant }) => Effect.map(repo.find(tenant, id), (one) => ({ tenant, id, one })),
        together
      )
      for (const { id, one, tenant } of found) {
        const own = payments[tenants.indexOf(tenant)]?.find((payment) => payment.id === id)
        expect(one).toEqual(Option.fromUndefinedOr(own))
      }
    }))

  it("lists the payments of one order, in pages, and reads several by id", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const mine = [yield* opened(tenant, after(1)), yield* opened(tenant, after(2))]
      const { intentUrl } = mine[0] ?? { intentUrl: "" }
      yield* repo.open({
        payerType: "human",
        ...tenant,
        id: yield* newId,
        amount: AtomicUsdc.make(1n),
        intentUrl: `${intentUrl}/other`,
        receiver: mine[0]?.receiver ?? receiver,
        at: after(3)
      })
      const foreign = yield* opened(yield* newTenant(), after(4))
      const page = { limit: 1, intentUrl, startingAfter: undefined }
      const first = Option.getOrThrow(yield* repo.list(tenant, page))
      expect(first.payments.map((one) => one.id)).toEqual([mine[1]?.id ?? foreign.id])
      expect(first.hasMore).toBe(true)
      const next = yield* repo.list(tenant, { ...page, startingAfter: mine[1]?.id })
      expect(Option.getOrThrow(next)).toMatchObject({ payments: [{ id: mine[0]?.id }], hasMore: false })
      const found = yield* repo.findMany(tenant, [...mine.map((one) => one.id), foreign.id])
      expect(found.map((one) => one.id).toSorted()).toEqual(mine.map((one) => one.id).toSorted())
      expect(yield* repo.findMany(tenant, [])).toEqual([])
    }))
}
