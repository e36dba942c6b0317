// What every PaymentRepo does, whatever it stands on.

import { expect } from "bun:test"
import { Effect, type Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { parseAddress } from "../../src/chain/Address.ts"
import { type Address, TransactionHash } from "../../src/domain/Chain.ts"
import type { Tenant } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { type Evidence, type Payment, PaymentId, type PaymentSummary } from "../../src/domain/Payment.ts"
import { KeyAuth } from "../../src/keys/KeyAuth.ts"
import type { PaymentAttempt } from "../../src/payments/PaymentRepo/AttemptStore.ts"
import { PaymentRepo, type PaymentSettlement, type WatchNote } from "../../src/payments/PaymentRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { liveEffect } from "../support/run.ts"

export type RepoLayer = Layer.Layer<PaymentRepo | WebhookRepo | KeyAuth | SecureRandom.SecureRandom>

const address = (digit: string): Address => {
  const parsed = parseAddress(`0x${digit.repeat(40)}`)
  if (parsed === undefined) throw new Error("not an address")
  return parsed
}
const hash = (seed: number) => TransactionHash.make(`0x${seed.toString(16).padStart(64, "0")}`)
const receiver = address("b")
const payer = address("c")
const start = new Date("2026-05-01T12:00:00.000Z")
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)

const before = (seconds: number) => ({ test: after(seconds), live: after(seconds) })

/** Ordinals that payments have claimed of the transaction's equal transfers. */
const claimed = (repo: PaymentRepo["Service"], transactionId: TransactionHash) =>
  Effect.map(
    repo.takenTransfers({
      chainId: 84532,
      evidence: evidenceOf(transactionId),
      receiver,
      amount: AtomicUsdc.make(1_000_000n)
    }),
    (taken) => taken.map(({ ordinal }) => ordinal)
  )

const evidenceOf = (transactionId: TransactionHash, amount = 1_000_000n, by: Address = payer): Evidence => ({
  transactionId,
  payer: by,
  tokenChanges: [{ amountAtomic: amount.toString(), chainId: 84532, receiver, tokenAddress: address("a") }]
})

const newTenant = (env: Tenant["env"] = "test") =>
  Effect.gen(function* () {
    const keys = yield* KeyAuth
    const own = freshAddress()
    const { merchant } = yield* Effect.orDie(
      keys.createMerchant({ name: "Shop", receivers: { test: own, live: own } })
    )
    return { merchantId: merchant.id, env }
  })

const newId = Effect.flatMap(SecureRandom.SecureRandom, (random) =>
  Effect.map(random.uuidV7(), (id) => PaymentId.make(id))
)

const opened = Effect.fnUntraced(function* (
  tenant: Tenant,
  at = start,
  amount = 1_000_000n,
  openedBlock?: bigint
) {
  const repo = yield* PaymentRepo
  const { payment } = yield* repo.open({
    payerType: "human",
    ...tenant,
    id: yield* newId,
    amount: AtomicUsdc.make(amount),
    intentUrl: "https://shop.example.com/1",
    receiver,
    at,
    ...(openedBlock === undefined ? {} : { openedBlock })
  })
  return payment
})

const settlementOf = Effect.fnUntraced(function* (
  payment: Payment,
  transactionId: TransactionHash,
  ordinal = 0
) {
  const random = yield* SecureRandom.SecureRandom
  const settlement: PaymentSettlement = {
    paymentId: payment.id,
    evidence: evidenceOf(transactionId),
    reportedAt: after(5),
    at: after(6),
    transfer: {
      chainId: 84532,
      transactionId,
      logPosition: 4,
      ordinal,
      blockNumber: 100n,
      blockHash: hash(7)
    },
    delivery: { id: yield* random.uuidV7(), body: new TextEncoder().encode("{}") },
    watchAt: after(60)
  }
  return settlement
})

const registerEndpoint = Effect.fnUntraced(function* (tenant: Tenant) {
  const webhooks = yield* WebhookRepo
  const random = yield* SecureRandom.SecureRandom
  yield* webhooks.createEndpoint(
    tenant,
    {
      id: yield* random.uuidV7(),
      url: "https://shop.example.com/hook",
      secret: { kid: "k", ciphertext: new Uint8Array([1]) },
      secretLastFour: "abcd"
    },
    start
  )
})

const attemptOf = Effect.fnUntraced(function* (changes: Partial<PaymentAttempt> = {}) {
  const random = yield* SecureRandom.SecureRandom
  const attempt: PaymentAttempt = {
    id: yield* random.uuidV7(),
    payer,
    method: "transfer",
    blockNumber: 100n,
    nonce: null,
    announcedAt: after(1),
    ...changes
  }
  return attempt
})

/** Reads a transfer of the payer's from the chain, of the payment's amount; its id. */
const arrived = Effect.fnUntraced(function* (tenant: Tenant, transactionId: TransactionHash, at = after(5)) {
  const repo = yield* PaymentRepo
  const random = yield* SecureRandom.SecureRandom
  const cursorAt = (blockNumber: bigint) => ({
    blockNumber,
    blockHash: hash(Number(blockNumber)),
    blockTime: at
  })
  yield* repo.startCursor("test", cursorAt(1_000n))
  const lease = { id: yield* random.uuidV7(), until: after(90), at }
  const from = Option.getOrThrow(yield* repo.leaseCursor("test", lease))
  const to = cursorAt(from.blockNumber + 1n)
  const id = yield* random.uuidV7()
  const transfer = {
    ...{ id, merchantId: tenant.merchantId, transactionId, payer, receiver },
    ...{ amount: 1_000_000n, ordinal: 0, ...to }
  }
  expect(
    yield* repo.recordRange({ env: "test", lease, from, to, transfers: [transfer], outgoing: [] })
  ).toBeTrue()
  yield* repo.releaseCursor("test", lease.id)
  return id
})

const person = (at: Date) => ({ person: "ann@example.com", note: "by hand", at })

/** Runs the contract on a layer that is rebuilt for each test. */
export const paymentRepoContract = (layer: RepoLayer): void => {
  const it = <E>(
    name: string,
    effect: () => Effect.Effect<unknown, E, PaymentRepo | WebhookRepo | KeyAuth | SecureRandom.SecureRandom>
  ) => liveEffect(name, () => Effect.provide(effect(), layer))

  it("opens a payment once: the same id again answers the same payment", () =>
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

  it("a chain is read by one under a lease, which is over at its end and where the clock was ahead", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const [one, other] = [yield* newId, yield* newId]
      const lease = (id: string, seconds: number) => ({ id, at: after(seconds), until: after(seconds + 15) })
      const takes = (id: string, seconds: number) =>
        Effect.map(repo.leaseCursor("live", lease(id, seconds)), Option.isSome)
      yield* repo.startCursor("live", { blockNumber: 1n, blockHash: hash(1), blockTime: start })
      expect(yield* takes(one, 100)).toBeTrue()
      expect(yield* takes(other, 114)).toBeFalse()
      expect(yield* takes(other, 115)).toBeTrue()
      // Of a clock that was set back by a lease it holds, and of one that was further ahead it does not.
      expect(yield* takes(one, 101)).toBeFalse()
      expect(yield* takes(one, 99)).toBeTrue()
      expect(yield* takes(one, 40_000)).toBeTrue()
      expect(yield* takes(other, 110)).toBeTrue()
      yield* repo.releaseCursor("live", other)
    }))

  it("a transfer that pays nothing is told what it may be meant for: its merchant's alone, the likeliest first", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
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
      // What names the payer comes before what names the price alone, however old it is.
      const reported = yield* opened(tenant, start)
      yield* repo.report({
        ...{ ...tenant, paymentId: reported.id, evidence: evidenceOf(hash(31_002)), payerType: "human" },
        ...{ at: after(1), nextCheckAt: after(2) }
      })
      const announced = yield* opened(tenant, start)
      yield* repo.announce({
        ...{ ...tenant, paymentId: announced.id, attempt: yield* attemptOf(), minedNonce: null }
      })
      const paid = yield* settled(tenant, start, 31_001)
      const waiting = yield* opened(tenant, after(2))
      yield* opened(tenant, after(3), 2_000_000n)
      const id = yield* arrived(tenant, hash(31_002), after(20))
      const transfer = Option.getOrThrow(yield* repo.findTransfer(tenant, id))
      const likely = yield* repo.likelyPayments(transfer)
      expect(likely.map(({ payment, reasons }) => [payment.id, reasons.toSorted()])).toEqual([
        [reported.id, ["amount", "reported"]],
        [announced.id, ["amount", "announced"]],
        [paid, ["paid_before"]],
        [waiting.id, ["amount"]]
      ])
      // The ten of them that matter, of however many the wallet has paid.
      for (let seed = 0; seed < 12; seed++) yield* settled(tenant, after(4), 31_010 + seed)
      expect(yield* repo.likelyPayments(transfer)).toHaveLength(10)
    }))

  it("an expired token replays only a payment that exists", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      expect((yield* repo.openExpired(tenant, payment.id)).id).toBe(payment.id)
      const error = yield* Effect.flip(repo.openExpired(tenant, yield* newId))
      expect(error.code).toBe("INTENT_TOKEN_EXPIRED")
    }))

  it("finds a payment for its own merchant and environment alone", () =>
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
      // Two share a millisecond, so that the order must not rest on time alone.
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

  it("what tenants ask for at once, each gets its own of", () =>
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

  it("lists the payments of one order, in pages, and reads several by their ids", () =>
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

  it("keeps an unverified report without touching the payment, and hands it out when due", () =>
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
      expect(yield* repo.takeDueReports(after(4), after(60), 10)).toHaveLength(0)
      const [due] = yield* repo.takeDueReports(after(5), after(60), 10)
      expect(due).toMatchObject({ checks: 0, evidence: { transactionId: hash(1), payer } })
      expect(due?.payment.id).toBe(payment.id)
      // Taken: out of others' sight until the lease ends.
      expect(yield* repo.takeDueReports(after(6), after(60), 10)).toHaveLength(0)
      yield* repo.noteCheck(
        payment.id,
        evidenceOf(hash(1)),
        { at: after(3), reason: "not_found" },
        {
          heldUntil: after(60),
          nextCheckAt: after(10)
        }
      )
      expect((yield* repo.takeDueReports(after(10), after(60), 10))[0]?.checks).toBe(1)
      yield* repo.noteCheck(
        payment.id,
        evidenceOf(hash(1)),
        { at: after(3), reason: "amount" },
        {
          heldUntil: after(60),
          nextCheckAt: null
        }
      )
      expect(yield* repo.takeDueReports(after(9999), after(99999), 10)).toHaveLength(0)
    }))

  it("a check ends nothing of a report that was made again, or that another has taken since", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      const evidence = evidenceOf(hash(1))
      const report = (at: Date, nextCheckAt: Date) =>
        repo.report({ ...tenant, paymentId: payment.id, evidence, at, payerType: "human", nextCheckAt })
      const end = (heldUntil: Date) =>
        repo.noteCheck(
          payment.id,
          evidence,
          { at: after(3), reason: "not_found" },
          { heldUntil, nextCheckAt: null }
        )
      yield* report(after(1), after(2))
      const [taken] = yield* repo.takeDueReports(after(2), after(60), 10)
      expect(taken?.heldUntil).toEqual(after(60))
      yield* report(after(4), after(5))
      yield* end(after(60))
      const [again] = yield* repo.takeDueReports(after(5), after(65), 10)
      expect(again).toMatchObject({ reportedAt: after(4), checks: 0, heldUntil: after(65) })
      expect(yield* repo.takeDueReports(after(65), after(125), 10)).toHaveLength(1)
      yield* end(after(65))
      expect(yield* repo.takeDueReports(after(125), after(185), 10)).toMatchObject([{ checks: 0 }])
      yield* end(after(185))
      expect(yield* repo.takeDueReports(after(9999), after(99999), 10)).toHaveLength(0)
    }))

  it("every report is kept by its own evidence: none displaces another, the same again is one", () =>
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
      // A final mismatch of one ends the looking at that one alone.
      yield* repo.noteCheck(
        payment.id,
        evidenceOf(hash(1), 2_000_000n),
        { at: after(3), reason: "declared_changes" },
        { heldUntil: after(2), nextCheckAt: null }
      )
      const due = yield* repo.takeDueReports(after(3), after(60), 10)
      expect(due.map((one) => one.evidence.transactionId).sort()).toEqual([hash(1), hash(2), hash(3)].sort())
    }))

  it("keeps a payer's last reports: the ended go first, other payers' stay", () =>
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
        yield* repo.noteCheck(
          payment.id,
          wrong,
          { at: after(3), reason: "amount" },
          { heldUntil: after(100), nextCheckAt: null }
        )
      }
      const due = yield* repo.takeDueReports(after(200), after(300), 100)
      expect(due.map((one) => one.evidence.transactionId).sort()).toEqual([hash(1), hash(99)].sort())
    }))

  it("merchants take turns, however many reports one of them has; the least checked come first", () =>
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
      const first = yield* repo.takeDueReports(after(3), after(60), 4)
      expect(first.map(({ payment }) => payment.id)).toContain(honest.id)
      for (const { payment, evidence, heldUntil } of first)
        yield* repo.noteCheck(
          payment.id,
          evidence,
          { at: after(3), reason: "not_found" },
          { heldUntil, nextCheckAt: after(2) }
        )
      const second = yield* repo.takeDueReports(after(3), after(60), 4)
      expect(
        second.filter(({ payment }) => payment.id === noise.id).every(({ checks }) => checks === 0)
      ).toBe(true)
    }))

  it("forgets ended reports of ended payments, and nothing of what is still open", () =>
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
        yield* repo.noteCheck(
          payment.id,
          evidenceOf(hash(1)),
          { at: after(3), reason: "not_found" },
          { heldUntil: after(2), nextCheckAt: null }
        )
      }
      yield* repo.expire({ openedBefore: before(50), reportedBefore: after(50), at: after(60) })
      expect(yield* repo.pruneReports(after(1), 10)).toBe(0)
      expect(yield* repo.pruneReports(after(2), 10)).toBe(1)
      expect(yield* repo.pruneReports(after(9999), 10)).toBe(0)
    }))

  it("an address is shown of a pending payment alone", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      expect(yield* repo.noteAddressShown(payment.id, after(1))).toBeTrue()
      yield* repo.expire({ openedBefore: before(50), reportedBefore: after(50), at: after(60) })
      expect(yield* repo.noteAddressShown(payment.id, after(61))).toBeFalse()
    }))

  it("a live payment keeps every report and freezes none: it stays as it is", () =>
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
      expect(yield* repo.takeDueReports(after(9999), after(99999), 10)).toHaveLength(0)
    }))

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

  it("fails what was never reported as expired, and what never verified as unverified", () =>
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
      // A report that is still to be checked keeps its payment: the chain has the last word.
      expect((yield* repo.expire(cutoff)).map((one) => one.id)).toEqual([never.id])
      yield* repo.noteCheck(
        reported.id,
        evidenceOf(hash(1)),
        { at: after(100), reason: "not_found" },
        { heldUntil: after(10), nextCheckAt: null }
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

  it("does not expire while it is undecided what money of its exact amount pays", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
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
      yield* repo.startCursor("test", at(1_000n))
      const from = Option.getOrThrow(yield* repo.leaseCursor("test", lease))
      const to = at(from.blockNumber + 1n)
      const id = yield* random.uuidV7()
      const brought = {
        ...{ id, merchantId: tenant.merchantId, transactionId: hash(7_654_321), payer, receiver },
        ...{ amount: 7_654_321n, ordinal: 0, ...to }
      }
      expect(
        yield* repo.recordRange({ env: "test", lease, from, to, transfers: [brought], outgoing: [] })
      ).toBeTrue()
      yield* repo.releaseCursor("test", lease.id)
      const cutoff = { openedBefore: before(50), reportedBefore: after(50), at: after(200) }
      const ids = [waiting.id, other.id]
      const failed = () =>
        Effect.map(repo.expire(cutoff), (all) => all.map((one) => one.id).filter((one) => ids.includes(one)))
      expect(yield* failed()).toEqual([other.id])
      yield* repo.noteMatch(id, { kind: "unknown" })
      expect(yield* failed()).toEqual([waiting.id])
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

  it("an attempt takes no nonce that is mined already, and an authorization none at all", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
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
        const announced = yield* repo.announce({ ...tenant, paymentId: id, attempt, minedNonce })
        expect(Option.getOrThrow(announced).nonce).toBe(kept)
        expect(Option.getOrThrow(yield* repo.openAttempt(id, payer)).nonce).toBe(kept)
      }
    }))

  it("a transfer above the block of the wallet's open attempt is unclaimed, whatever our clock says", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      // A clock that is two minutes ahead has opened it.
      const payment = yield* opened(tenant, after(120))
      yield* arrived(tenant, hash(1))
      expect(yield* repo.unclaimedTransfer(payment, payer)).toEqual(Option.none())
      const attempt = yield* attemptOf()
      const announcement = { ...tenant, paymentId: payment.id, attempt, minedNonce: null }
      expect(Option.isSome(yield* repo.announce(announcement))).toBeTrue()
      expect(yield* repo.unclaimedTransfer(payment, payer)).toEqual(Option.some(hash(1)))
      yield* repo.closeAttempt(payment.id, attempt.id, "declined", after(130))
      expect(yield* repo.unclaimedTransfer(payment, payer)).toEqual(Option.none())
    }))

  it("a transfer above the height at which a payment opened came since then, whatever our clock says", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      // `arrived` puts it into block 1,001.
      const lower = yield* opened(tenant, after(120), 1_000_000n, 1_000n)
      const equal = yield* opened(tenant, after(120), 1_000_000n, 1_001n)
      yield* arrived(tenant, hash(1))
      expect(yield* repo.unclaimedTransfer(lower, payer)).toEqual(Option.some(hash(1)))
      expect(yield* repo.unclaimedTransfer(equal, payer)).toEqual(Option.none())
      for (const [payment, seen] of [[lower, 1] as const, [equal, 0] as const]) {
        const known = yield* repo.attempts(tenant, payment.id, { payer, only: true })
        expect(Option.getOrThrow(known).attempts).toHaveLength(seen)
        const announcement = {
          ...tenant,
          paymentId: payment.id,
          attempt: yield* attemptOf(),
          minedNonce: null
        }
        expect(Option.isNone(yield* repo.announce(announcement))).toBe(seen === 1)
      }
    }))

  it("what a wallet has sent may be for another payment that it reports, by that transaction or within half an hour", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
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
        repo.paysAnEqual(of, by, hash(sent), after(seconds))
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
    }))

  it("a wallet that has reported is not asked again for half an hour; the newest attempt is told first", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
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
          repo.announce({ ...tenant, paymentId: id, attempt, minedNonce: null })
        )
      expect(Option.isNone(yield* announce(payer, later(1799)))).toBeTrue()
      expect(Option.isSome(yield* announce(address("d"), later(60)))).toBeTrue()
      const payers = (by?: Address) =>
        Effect.map(
          repo.attempts(tenant, id, by === undefined ? undefined : { payer: by, only: false }),
          (known) => Option.getOrThrow(known).attempts.map((one) => one.payer)
        )
      expect(yield* payers()).toEqual([address("d"), payer])
      expect(yield* payers(payer)).toEqual([payer, address("d")])
      expect(Option.isSome(yield* announce(payer, later(1800)))).toBeTrue()
    }))

  it("what a person attaches is in somebody's hands: seen by its wallet, for a minute nobody else's", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [attached, own] = [yield* opened(tenant), yield* opened(tenant)]
      const id = yield* arrived(tenant, hash(1))
      yield* repo.noteMatch(id, { kind: "unknown" })
      expect(yield* repo.takeForPayment(tenant, id, attached.id, person(after(10)))).toBeTrue()

      expect(Option.getOrThrow(yield* repo.unclaimedTransfer(own, payer))).toBe(hash(1))
      const known = Option.getOrThrow(yield* repo.attempts(tenant, own.id, { payer, only: true }))
      expect(known.attempts).toMatchObject([{ payer, transactionId: hash(1) }])
      const announce = (attempt: PaymentAttempt) =>
        repo.announce({ ...tenant, paymentId: own.id, attempt, minedNonce: null })
      expect(Option.isNone(yield* announce(yield* attemptOf()))).toBeTrue()
      expect(yield* repo.handleTransfer(tenant, id, person(after(69)))).toBeFalse()
      expect(yield* repo.takeUnmatched(after(69), after(99), 10)).toHaveLength(0)
      const settlement = yield* settlementOf(own, hash(1))
      expect(Option.isNone(yield* repo.settle({ ...settlement, at: after(69) }))).toBeTrue()

      // Whoever took it was killed: the reader of the chain matches it again.
      expect(yield* repo.takeUnmatched(after(70), after(99), 10)).toMatchObject([{ id, handledAt: null }])
      expect(Option.isSome(yield* repo.settle({ ...settlement, at: after(71) }))).toBeTrue()
      expect(Option.getOrThrow(yield* repo.findTransfer(tenant, id))).toMatchObject({
        ...{ paymentId: own.id, handledAt: null, handledBy: null, note: null }
      })
    }))

  it("a report settles its payment by what a person took for another one more than a minute ago", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [attached, own] = [yield* opened(tenant), yield* opened(tenant)]
      const id = yield* arrived(tenant, hash(1))
      yield* repo.takeForPayment(tenant, id, attached.id, person(after(10)))
      const settlement = yield* settlementOf(own, hash(1))
      expect(Option.isSome(yield* repo.settle({ ...settlement, at: after(70) }))).toBeTrue()
      expect(Option.getOrThrow(yield* repo.findTransfer(tenant, id))).toMatchObject({
        ...{ paymentId: own.id, handledAt: null, handledBy: null, note: null }
      })
      expect(yield* repo.takeForPayment(tenant, id, attached.id, person(after(71)))).toBeFalse()
    }))

  it("what is attached settles its payment in the person's name; given back, it is matched again", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [wrong, right] = [yield* opened(tenant), yield* opened(tenant)]
      const id = yield* arrived(tenant, hash(1))
      yield* repo.takeForPayment(tenant, id, wrong.id, person(after(10)))
      // The reader of the chain ends a matching that it began before.
      yield* repo.noteMatch(id, { kind: "unknown" })
      yield* repo.giveBack(id, wrong.id, after(10))
      expect(yield* repo.takeUnmatched(after(11), after(40), 10)).toMatchObject([{ id, handledAt: null }])
      yield* repo.takeForPayment(tenant, id, right.id, person(after(12)))
      const settlement = yield* settlementOf(right, hash(1))
      expect(Option.isSome(yield* repo.settle({ ...settlement, at: after(13) }))).toBeTrue()
      expect(Option.getOrThrow(yield* repo.findTransfer(tenant, id))).toMatchObject({
        ...{ paymentId: right.id, handledAt: after(12), handledBy: "ann@example.com", note: "by hand" }
      })
      expect(yield* repo.takeUnmatched(after(999), after(9999), 10)).toHaveLength(0)
    }))

  it("whose minute is over gives back nothing that another person has taken since, for the same payment", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const payment = yield* opened(tenant)
      const id = yield* arrived(tenant, hash(1))
      expect(yield* repo.takeForPayment(tenant, id, payment.id, person(after(10)))).toBeTrue()
      expect(yield* repo.takeForPayment(tenant, id, payment.id, person(after(70)))).toBeTrue()
      yield* repo.giveBack(id, payment.id, after(10))
      expect(yield* repo.takeUnmatched(after(71), after(100), 10)).toEqual([])
      expect(Option.getOrThrow(yield* repo.findTransfer(tenant, id)).handledAt).toEqual(after(70))
      yield* repo.giveBack(id, payment.id, after(70))
      expect(yield* repo.takeUnmatched(after(71), after(100), 10)).toMatchObject([{ id, handledAt: null }])
    }))

  it("what a person has handled pays nothing, and what a payment has claimed nobody handles", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const [left, right] = [yield* opened(tenant), yield* opened(tenant)]
      const handled = yield* arrived(tenant, hash(1))
      expect(yield* repo.handleTransfer(tenant, handled, person(after(10)))).toBeTrue()
      expect(Option.isNone(yield* repo.settle(yield* settlementOf(left, hash(1))))).toBeTrue()
      expect(yield* claimed(repo, hash(1))).toEqual([0])
      expect(Option.getOrThrow(yield* repo.find(tenant, left.id)).status).toBe("pending")

      const paid = yield* arrived(tenant, hash(2))
      yield* repo.settle(yield* settlementOf(left, hash(2)))
      // Claimed before it was read from the chain.
      yield* repo.settle(yield* settlementOf(right, hash(3)))
      const later = yield* arrived(tenant, hash(3))
      for (const id of [paid, later]) {
        expect(yield* repo.handleTransfer(tenant, id, person(after(11)))).toBeFalse()
        expect(yield* repo.takeForPayment(tenant, id, left.id, person(after(11)))).toBeFalse()
        expect(yield* repo.findTransfer(tenant, id)).toMatchObject({ value: { handledAt: null } })
      }
    }))

  it("a transfer finds the attempt that it pays among any number of others of its wallet", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const tenant = yield* newTenant()
      const announce = Effect.fnUntraced(function* (payment: Payment, seconds: number) {
        const attempt = yield* attemptOf({ announcedAt: after(seconds) })
        yield* repo.announce({ ...tenant, paymentId: payment.id, attempt, minedNonce: null })
      })
      const first = yield* opened(tenant)
      yield* announce(first, 1)
      for (let other = 0; other < 101; other++)
        yield* announce(yield* opened(tenant, start, 2_000_000n + BigInt(other)), 2)
      const id = yield* arrived(tenant, hash(1))
      const transfer = Option.getOrThrow(yield* repo.findTransfer(tenant, id))
      const matches = yield* repo.matchesOf(transfer)
      expect(matches.map(({ attempts, payment }) => [payment.id, attempts.length])).toEqual([[first.id, 1]])
    }))

  it("what a payment claims is its merchant's, whoever receives there when it is read", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const [former, present] = [yield* newTenant(), yield* newTenant()]
      const ids = (tenant: Tenant) =>
        Effect.map(
          repo.listTransfers(tenant, { status: "all", limit: 10, startingAfter: undefined }),
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
      expect(yield* repo.takeWatched(after(80), after(110), 10)).toMatchObject([
        { paymentId: payment.id, droppedAt: after(61) }
      ])
      yield* repo.noteWatched(
        { paymentId: payment.id, heldUntil: after(110) },
        { droppedAt: null, watchAt: null }
      )
      // What is final is not.
      yield* arrived(tenant, hash(1), after(85))
      expect(yield* repo.takeWatched(after(99999), after(999999), 10)).toHaveLength(0)
    }))
}
