// The contract of every RefundStore: never more than was paid, one log for one purpose.

import { describe, expect } from "bun:test"
import { Effect, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Env, TransactionHash } from "../../../src/domain/Chain.ts"
import type { Tenant } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { networks } from "../../../src/domain/networks.ts"
import { type Payment, PaymentId } from "../../../src/domain/Payment.ts"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import type { NewRefund, RefundProof } from "../../../src/payments/refunds/RefundRepo/RefundStore.ts"
import { RefundRepo } from "../../../src/payments/refunds/RefundRepo.ts"
import { TransferRepo } from "../../../src/payments/TransferRepo.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { onPostgres } from "../repoFixtures.ts"

const start = new Date("2026-05-01T12:00:00.000Z")
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)
let hashes = 0
const newHash = () =>
  TransactionHash.make(`0x${(++hashes + Date.now() * 1000).toString(16).padStart(64, "0")}`)
const usdc = (atomic: bigint) => AtomicUsdc.make(atomic)
const newId = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())

const newMerchant = Effect.gen(function* () {
  const keys = yield* KeyAuth
  const receiver = freshAddress()
  const { merchant } = yield* Effect.orDie(
    keys.createMerchant({ name: "Shop", receivers: { test: receiver, live: receiver } })
  )
  return { merchantId: merchant.id, receiver }
})

/** A payment of 10 USDC to the merchant, which has settled in block 100. */
const paidTo = Effect.fnUntraced(function* (
  { merchantId, receiver }: Effect.Success<typeof newMerchant>,
  env: Env
) {
  const repo = yield* PaymentRepo
  const payer = freshAddress()
  const tenant = { merchantId, env }
  const { payment } = yield* repo.open({
    ...tenant,
    id: PaymentId.make(yield* newId),
    amount: usdc(10_000_000n),
    intentUrl: "https://shop.example.com/1",
    receiver,
    payerType: "human",
    at: start
  })
  const transfer = {
    chainId: networks[env].chainId,
    transactionId: newHash(),
    logPosition: 0,
    ordinal: 0,
    blockNumber: 100n,
    blockHash: newHash()
  }
  const settled = yield* Effect.orDie(
    repo.settle({
      paymentId: payment.id,
      evidence: { transactionId: transfer.transactionId, payer, tokenChanges: [] },
      reportedAt: after(1),
      at: after(2),
      transfer,
      delivery: { id: yield* newId, body: new TextEncoder().encode("{}") },
      watchAt: after(60)
    })
  )
  return { tenant, payment: Option.getOrThrow(settled), payer, receiver, transfer }
})
const paid = Effect.flatMap(newMerchant, (merchant) => paidTo(merchant, "test"))
type Paid = Effect.Success<typeof paid>

const refundOf = Effect.fnUntraced(function* (of: Paid, changes: Partial<NewRefund> = {}) {
  const refund: NewRefund = {
    ...of.tenant,
    id: yield* newId,
    hasOwnId: false,
    of: { paymentId: of.payment.id },
    amount: usdc(4_000_000n),
    recipient: of.payer,
    beyondPaid: false,
    reason: null,
    transactionId: null,
    createdBy: "ann@example.com",
    at: after(10),
    createdBlock: null,
    checkAt: after(12),
    ...changes
  }
  return refund
})

const created = Effect.fnUntraced(function* (of: Paid, changes: Partial<NewRefund> = {}) {
  const refundRepo = yield* RefundRepo
  const made = yield* refundRepo.createRefund(yield* refundOf(of, changes))
  if (made._tag !== "Created") throw new Error(made._tag)
  return made.refund
})

const proofOf = (of: Paid, changes: Partial<RefundProof> = {}): RefundProof => ({
  chainId: 84532,
  transactionId: newHash(),
  logPosition: 3,
  ordinal: 0,
  blockNumber: 120n,
  blockHash: newHash(),
  sender: of.receiver,
  ...changes
})

const shown = (proof: RefundProof) => ({ proof, at: after(30), checkAt: after(90) })

/** Reads blocks in which a transfer arrives at, or leaves, the merchant's receiver. */
const read = Effect.fnUntraced(function* (
  tenant: Tenant,
  side: "transfers" | "outgoing",
  transfer: Pick<RefundProof, "transactionId"> & Record<"payer" | "receiver", Payment["receiver"]>,
  amount = 4_000_000n
) {
  const transferRepo = yield* TransferRepo
  yield* transferRepo.startCursor("test", { blockNumber: 100n, blockHash: newHash(), blockTime: start })
  const lease = { id: yield* newId, at: after(20), until: after(40) }
  const from = Option.getOrThrow(yield* transferRepo.leaseCursor("test", lease))
  const to = { blockNumber: from.blockNumber + 1n, blockHash: newHash(), blockTime: after(20) }
  const id = yield* newId
  const one = { ...transfer, ...to, id, merchantId: tenant.merchantId, amount, ordinal: 0 }
  const found = { transfers: [], outgoing: [], [side]: [one] }
  expect(yield* transferRepo.recordRange({ env: "test", lease, from, to, ...found })).toBeTrue()
  yield* transferRepo.releaseCursor("test", lease.id)
  return id
})

describe("RefundRepo on Postgres", () => {
  onPostgres("refunds a payment in parts, and more than was paid only if the caller says so", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const thing = { paymentId: of.payment.id }
      expect(yield* refundRepo.refundBalance(of.tenant, thing)).toEqual({ paid: 10_000_000n, refunded: 0n })
      expect((yield* created(of)).sinceBlock).toBe(100n)
      yield* created(of, { amount: usdc(6_000_000n) })
      const more = yield* refundRepo.createRefund(yield* refundOf(of, { amount: usdc(1n) }))
      expect(more).toEqual({ _tag: "Exceeds", balance: { paid: 10_000_000n, refunded: 10_000_000n } })
      const meant = yield* refundRepo.createRefund(
        yield* refundOf(of, { amount: usdc(1n), beyondPaid: true })
      )
      expect(meant._tag).toBe("Created")
      expect(yield* refundRepo.refundBalance(of.tenant, thing)).toEqual({
        paid: 10_000_000n,
        refunded: 10_000_001n
      })
    })
  )

  onPostgres("of twenty concurrent refunds of half the payment each, two are created", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const all = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.flatMap(refundOf(of, { amount: usdc(5_000_000n) }), refundRepo.createRefund),
        { concurrency: "unbounded" }
      )
      expect(all.filter(({ _tag }) => _tag === "Created")).toHaveLength(2)
      expect(all.filter(({ _tag }) => _tag === "Exceeds")).toHaveLength(18)
    })
  )

  onPostgres("the same id, and the same transaction for the same payment, return the same refund", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const named = yield* refundOf(of, { transactionId: newHash(), amount: usdc(10_000_000n) })
      const all = yield* Effect.forEach(
        [named, named, { ...named, id: yield* newId }, { ...named, id: yield* newId }],
        (one) => refundRepo.createRefund(one),
        { concurrency: "unbounded" }
      )
      expect(all.map(({ _tag }) => _tag).toSorted()).toEqual(["Created", "Known", "Known", "Known"])
      const ids = all.flatMap((one) => ("refund" in one ? [one.refund.id] : []))
      expect(new Set(ids).size).toBe(1)
    })
  )

  onPostgres("refunds with own ids that name one transaction are distinct, and each has its log", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const { transactionId } = proofOf(of)
      const own = { hasOwnId: true, transactionId }
      const proofs = [0, 1].map((ordinal) => proofOf(of, { transactionId, ordinal, logPosition: ordinal }))
      const refunds = yield* Effect.forEach(proofs, (proof) =>
        Effect.flatMap(refundOf(of, own), (refund) =>
          Effect.as(refundRepo.createRefund(refund, shown({ ...proof, blockHash: transactionId })), refund)
        )
      )
      const list = Option.getOrThrow(yield* refundRepo.listRefunds(of.tenant, { limit: 10 }))
      expect(list.map(({ id, ordinal, status }) => [id, ordinal, status]).toSorted()).toEqual(
        refunds.map(({ id }, ordinal) => [id, ordinal, "proven"]).toSorted()
      )
      const [first] = refunds
      if (first === undefined) throw new Error("there are two")
      expect(yield* refundRepo.createRefund(first)).toMatchObject({
        _tag: "Known",
        refund: { id: first.id }
      })
      expect(yield* refundRepo.refundBalance(of.tenant, first.of)).toMatchObject({ refunded: 8_000_000n })
    })
  )

  onPostgres("a pending payment, another merchant's and an unknown one cannot be refunded", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const refundRepo = yield* RefundRepo
      const [of, other] = [yield* paid, yield* paid]
      const { payment } = yield* repo.open({
        ...of.tenant,
        id: PaymentId.make(yield* newId),
        amount: usdc(1n),
        intentUrl: "https://shop.example.com/1",
        receiver: of.receiver,
        payerType: "human",
        at: start
      })
      const tag = Effect.fnUntraced(function* (paymentId: PaymentId) {
        return (yield* refundRepo.createRefund(yield* refundOf(of, { of: { paymentId } })))._tag
      })
      expect(yield* tag(payment.id)).toBe("Unsettled")
      expect(yield* tag(other.payment.id)).toBe("Unknown")
      expect(yield* tag(PaymentId.make(yield* newId))).toBe("Unknown")
    })
  )

  onPostgres("an id of another merchant's refund is refused, and that refund stays unchanged", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const [of, other] = [yield* paid, yield* paid]
      const refund = yield* created(of)
      expect(yield* refundRepo.createRefund(yield* refundOf(other, { id: refund.id }))).toEqual({
        _tag: "IdTaken"
      })
      expect(yield* refundRepo.findRefund(of.tenant, refund.id)).toEqual(Option.some(refund))
      expect(yield* refundRepo.findRefund(other.tenant, refund.id)).toEqual(Option.none())
    })
  )

  onPostgres("one log proves one refund, however many claim it at once", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const proof = proofOf(of)
      const all = yield* Effect.forEach([1, 2], () => created(of))
      const outcomes = yield* Effect.forEach(
        [...all, ...all],
        ({ id }) => Effect.result(refundRepo.proveRefund(id, proof, after(30), after(90))),
        { concurrency: "unbounded" }
      )
      const proven = outcomes.filter((one) => Result.isSuccess(one) && Option.isSome(one.success))
      expect(proven).toHaveLength(1)
      const [first] = yield* Effect.map(refundRepo.listRefunds(of.tenant, { limit: 10 }), (list) =>
        Option.getOrThrow(list).filter(({ status }) => status === "proven")
      )
      expect(first).toMatchObject({
        transactionId: proof.transactionId,
        sender: of.receiver,
        blockNumber: 120n,
        provenAt: after(30)
      })
    })
  )

  onPostgres("created with its proof a refund is proven, and its log is claimed", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const proof = proofOf(of)
      const refund = yield* refundOf(of, { transactionId: proof.transactionId })
      const made = yield* refundRepo.createRefund(refund, shown(proof))
      const { transactionId } = proof
      const proven = { id: refund.id, status: "proven", transactionId, ordinal: 0, provenAt: after(30) }
      expect(made).toMatchObject({ _tag: "Created", refund: proven })
      expect(Option.getOrThrow(yield* refundRepo.findRefund(of.tenant, refund.id))).toMatchObject(proven)
      expect(yield* refundRepo.createRefund(refund, shown(proof))).toMatchObject({
        _tag: "Known",
        refund: proven
      })
      const taken = yield* repo.unavailableTransfers({
        chainId: 84532,
        evidence: { transactionId, payer: of.receiver, tokenChanges: [] },
        receiver: of.payer,
        amount: refund.amount
      })
      expect(taken).toEqual([{ ordinal: 0, blockHash: proof.blockHash }])
      const isDue = (at: Date) =>
        Effect.map(refundRepo.takeDueRefunds("test", at, after(600), 1_000), (all) =>
          all.some(({ id }) => id === refund.id)
        )
      expect(yield* isDue(after(89))).toBeFalse()
      expect(yield* isDue(after(90))).toBeTrue()
    })
  )

  onPostgres(
    "of several created at once with one proof, one succeeds, and the others leave nothing behind",
    () =>
      Effect.gen(function* () {
        const refundRepo = yield* RefundRepo
        const things = yield* Effect.forEach([1, 2, 3, 4], () => paid)
        const [first] = things
        if (first === undefined) return
        const proof = proofOf(first)
        const asked = yield* Effect.forEach(things, (of) =>
          refundOf(of, { recipient: first.payer, transactionId: proof.transactionId })
        )
        const outcomes = yield* Effect.forEach(
          asked,
          (refund) => Effect.result(refundRepo.createRefund(refund, shown(proof))),
          { concurrency: "unbounded" }
        )
        const lost = asked.filter((_, turn) => {
          const one = outcomes[turn]
          return one !== undefined && Result.isFailure(one) && one.failure._tag === "TransferAlreadyUsed"
        })
        expect(lost).toHaveLength(3)
        for (const [turn, refund] of lost.entries()) {
          expect(yield* refundRepo.findRefund(refund, refund.id)).toEqual(Option.none())
          expect((yield* refundRepo.refundBalance(refund, refund.of)).refunded).toBe(0n)
          // Its id can still be used, for an equal transfer in the transaction.
          const equal = shown({ ...proof, ordinal: turn + 1 })
          expect(yield* refundRepo.createRefund(refund, equal)).toMatchObject({
            refund: { status: "proven" }
          })
        }
      })
  )

  onPostgres("a transfer is unexplained again if its refund lost the log that was to prove it", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const transferRepo = yield* TransferRepo
      const of = yield* paid
      const transfer = { transactionId: newHash(), payer: of.payer, receiver: of.receiver }
      const transferId = yield* read(of.tenant, "transfers", transfer)
      const proof = proofOf(of)
      yield* refundRepo.createRefund(yield* refundOf(of), shown(proof))
      const late = yield* refundOf(of, { of: { transferId } })
      expect(Result.isFailure(yield* Effect.result(refundRepo.createRefund(late, shown(proof))))).toBeTrue()
      const open = yield* transferRepo.listTransfers(of.tenant, {
        status: "open",
        limit: 10,
        startingAfter: undefined
      })
      expect(open.map(({ id }) => id)).toContain(transferId)
    })
  )

  onPostgres(
    "created while claims on its transaction are in another block, a refund waits, unless its own log is among them",
    () =>
      Effect.gen(function* () {
        const refundRepo = yield* RefundRepo
        const of = yield* paid
        const proof = proofOf(of)
        yield* refundRepo.createRefund(yield* refundOf(of), shown(proof))
        const moved = { ...proof, blockNumber: 121n, blockHash: newHash() }
        const own = yield* refundOf(of)
        expect(Result.isFailure(yield* Effect.result(refundRepo.createRefund(own, shown(moved))))).toBeTrue()
        expect(yield* refundRepo.findRefund(of.tenant, own.id)).toEqual(Option.none())
        const other = yield* refundRepo.createRefund(yield* refundOf(of), shown({ ...moved, ordinal: 1 }))
        expect(other).toMatchObject({ _tag: "Created", refund: { status: "pending", provenAt: null } })
      })
  )

  onPostgres("a log that pays a payment proves no refund, and a log that proves a refund pays nothing", () =>
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const refund = yield* created(of, { recipient: of.receiver, amount: usdc(10_000_000n) })
      expect(yield* refundRepo.isReceiver(of.tenant.env, of.receiver)).toBeTrue()
      expect(yield* refundRepo.isReceiver(of.tenant.env, of.payer)).toBeFalse()
      const own = proofOf(of, { ...of.transfer, sender: of.payer })
      const proved = yield* Effect.result(refundRepo.proveRefund(refund.id, own, after(30), after(90)))
      expect(Result.isFailure(proved)).toBeTrue()
      // Another log proves it although its recipient has become a receiver: new refunds to one are refused.
      const elsewhere = proofOf(of, { ...of.transfer, sender: of.payer, transactionId: newHash() })
      expect(
        Option.isSome(yield* refundRepo.proveRefund(refund.id, elsewhere, after(31), after(90)))
      ).toBeTrue()
      const other = yield* paid
      const proof = proofOf(other)
      const back = yield* created(other, { amount: usdc(10_000_000n) })
      expect(Option.isSome(yield* refundRepo.proveRefund(back.id, proof, after(30), after(90)))).toBeTrue()
      const taken = yield* repo.unavailableTransfers({
        chainId: 84532,
        evidence: { transactionId: proof.transactionId, payer: other.receiver, tokenChanges: [] },
        receiver: other.payer,
        amount: usdc(10_000_000n)
      })
      expect(taken).toEqual([{ ordinal: 0, blockHash: proof.blockHash }])
    })
  )

  onPostgres("a check of an earlier transaction does not delay the one named since", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const first = yield* created(of, { transactionId: newHash() })
      const named = newHash()
      expect(yield* refundRepo.reportRefundTransaction(first.id, named, after(20), after(22))).toBeTrue()
      yield* refundRepo.recordRefundCheck(first, after(600))
      const due = () =>
        Effect.map(refundRepo.takeDueRefunds("test", after(25), after(40), 1_000), (all) =>
          all.filter(({ id }) => id === first.id)
        )
      expect(yield* due()).toMatchObject([{ transactionId: named }])
      yield* refundRepo.recordRefundCheck({ id: first.id, transactionId: named }, after(24))
      expect(yield* due()).toHaveLength(1)
    })
  )

  onPostgres(
    "ended refunds no longer count, end only once, and release their log if it had left the chain",
    () =>
      Effect.gen(function* () {
        const refundRepo = yield* RefundRepo
        const of = yield* paid
        const refund = yield* created(of, { amount: usdc(10_000_000n) })
        expect(
          yield* refundRepo.endRefund(
            refund.id,
            { status: "failed", reason: "not_found", transactionId: refund.transactionId },
            after(20)
          )
        ).toBeTrue()
        expect(yield* refundRepo.endRefund(refund.id, { status: "cancelled" }, after(21))).toBeFalse()
        const again = yield* created(of, { amount: usdc(10_000_000n) })
        const proof = proofOf(of)
        yield* refundRepo.proveRefund(again.id, proof, after(30), after(90))
        expect(yield* refundRepo.endRefund(again.id, { status: "cancelled" }, after(31))).toBeFalse()
        yield* refundRepo.recordRefundWatched(
          { id: again.id, leaseUntil: after(90) },
          { droppedAt: after(40), watchAt: after(100) }
        )
        expect(yield* refundRepo.endRefund(again.id, { status: "cancelled" }, after(41))).toBeTrue()
        const third = yield* created(of, { amount: usdc(10_000_000n) })
        const proven = yield* refundRepo.proveRefund(third.id, proof, after(50), after(110))
        expect(Option.isSome(proven)).toBeTrue()
      })
  )

  onPostgres("a check whose lease is over records nothing: a later one counts", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const refund = yield* created(of)
      yield* refundRepo.proveRefund(refund.id, proofOf(of), after(30), after(90))
      const taken = (at: number, until: number) =>
        Effect.flatMap(refundRepo.takeDueRefunds("test", after(at), after(until), 1000), (all) =>
          Effect.fromNullishOr(all.find(({ id }) => id === refund.id))
        )
      const late = yield* taken(90, 150)
      const next = yield* taken(150, 210)
      const dropped = { droppedAt: after(91), watchAt: after(151) }
      expect(yield* refundRepo.recordRefundWatched(late, dropped)).toBeFalse()
      expect(yield* refundRepo.recordRefundWatched(next, { droppedAt: null, watchAt: after(211) })).toBeTrue()
      expect(yield* refundRepo.recordRefundWatched(late, dropped)).toBeFalse()
      // Otherwise it could be cancelled, and the money sent a second time.
      expect(yield* refundRepo.endRefund(refund.id, { status: "cancelled" }, after(160))).toBeFalse()
      const ended = yield* taken(211, 270)
      expect(
        yield* refundRepo.recordRefundWatched(ended, { droppedAt: after(212), watchAt: after(272) })
      ).toBeTrue()
      yield* refundRepo.endRefund(refund.id, { status: "cancelled" }, after(220))
      expect(
        yield* refundRepo.recordRefundWatched(
          { ...ended, leaseUntil: after(272) },
          { droppedAt: null, watchAt: null }
        )
      ).toBeFalse()
    })
  )

  onPostgres("a proven refund moves with its transaction to another block", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const refund = yield* created(of)
      const proof = proofOf(of)
      yield* refundRepo.proveRefund(refund.id, proof, after(30), after(90))
      const moved = { blockNumber: 121n, blockHash: newHash(), logPosition: 5 }
      yield* refundRepo.recordRefundWatched(
        { id: refund.id, leaseUntil: after(90) },
        { moved, droppedAt: null, watchAt: after(100) }
      )
      const second = yield* created(of)
      const other = { ...proof, ordinal: 1 }
      // A claim on the transaction has the new block.
      expect(Option.isNone(yield* refundRepo.proveRefund(second.id, other, after(50), after(110)))).toBeTrue()
      const there = { ...other, blockNumber: 121n, blockHash: moved.blockHash }
      expect(Option.isSome(yield* refundRepo.proveRefund(second.id, there, after(51), after(110)))).toBeTrue()
    })
  )

  onPostgres("a proven refund that was given up as lost is watched again once the chain shows it", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const refund = yield* created(of)
      const proof = proofOf(of)
      yield* refundRepo.proveRefund(refund.id, proof, after(30), after(90))
      const due = (at: number) =>
        Effect.map(refundRepo.takeDueRefunds("test", after(at), after(at + 60), 1000), (all) =>
          all.filter(({ id }) => id === refund.id)
        )
      const note = (leaseUntil: number, droppedAt: Date | null) =>
        refundRepo.recordRefundWatched(
          { id: refund.id, leaseUntil: after(leaseUntil) },
          { droppedAt, watchAt: null }
        )
      expect(yield* note(90, after(40))).toBeTrue()
      const transfer = { payer: of.receiver, receiver: of.payer }
      yield* read(of.tenant, "outgoing", { ...transfer, transactionId: newHash() })
      expect(yield* due(99_999)).toEqual([])
      yield* read(of.tenant, "outgoing", { ...transfer, transactionId: proof.transactionId })
      expect(yield* due(100)).toMatchObject([{ status: "proven", droppedAt: after(40) }])
      expect(yield* note(160, null)).toBeTrue()
      yield* read(of.tenant, "outgoing", { ...transfer, transactionId: proof.transactionId })
      expect(yield* due(99_999)).toEqual([])
    })
  )

  onPostgres(
    "a refund's transfer belongs to its merchant, even if the address has moved, before or after",
    () =>
      Effect.gen(function* () {
        const refundRepo = yield* RefundRepo
        const [of, present] = [yield* paid, yield* paid]
        const transfer = { payer: of.receiver, receiver: of.payer }
        const [early, late] = [proofOf(of), proofOf(of)]
        const isOf = (tenant: Tenant, { transactionId }: RefundProof) =>
          Effect.map(refundRepo.sendersOf(tenant, transactionId), (senders) => senders.has(of.receiver))
        yield* refundRepo.proveRefund((yield* created(of)).id, early, after(30), after(90))
        yield* read(present.tenant, "outgoing", { ...transfer, transactionId: early.transactionId })
        expect([yield* isOf(of.tenant, early), yield* isOf(present.tenant, early)]).toEqual([true, false])
        yield* read(present.tenant, "outgoing", { ...transfer, transactionId: late.transactionId })
        expect([yield* isOf(of.tenant, late), yield* isOf(present.tenant, late)]).toEqual([false, true])
        yield* refundRepo.proveRefund((yield* created(of)).id, late, after(31), after(91))
        expect([yield* isOf(of.tenant, late), yield* isOf(present.tenant, late)]).toEqual([true, false])
      })
  )

  onPostgres("a transfer of the exact amount from a receiver to the recipient is found once", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const refund = yield* created(of)
      expect(yield* refundRepo.transfersMatching(refund)).toEqual([])
      const transactionId = newHash()
      const transfer = { transactionId, payer: of.receiver, receiver: of.payer }
      yield* read(of.tenant, "outgoing", transfer, 4_000_001n)
      expect(yield* refundRepo.transfersMatching(refund)).toEqual([])
      yield* read(of.tenant, "outgoing", transfer)
      const second = newHash()
      yield* read(of.tenant, "outgoing", { ...transfer, transactionId: second })
      expect((yield* refundRepo.transfersMatching(refund)).toSorted()).toEqual(
        [second, transactionId].toSorted()
      )
      yield* refundRepo.proveRefund(refund.id, proofOf(of, { transactionId }), after(30), after(90))
      expect(yield* refundRepo.transfersMatching(yield* created(of))).toEqual([second])
    })
  )

  onPostgres("a transaction named for another merchant, or on the other network, is found all the same", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const merchant = yield* newMerchant
      const of = yield* paidTo(merchant, "test")
      const refund = yield* created(of)
      const transactionId = newHash()
      yield* read(of.tenant, "outgoing", { transactionId, payer: of.receiver, receiver: of.payer })
      yield* created(yield* paid, { transactionId })
      yield* created(yield* paidTo(merchant, "live"), { transactionId })
      expect(yield* refundRepo.transfersMatching(refund)).toEqual([transactionId])
      yield* created(of, { transactionId, amount: usdc(1_000_000n) })
      expect(yield* refundRepo.transfersMatching(refund)).toEqual([])
    })
  )

  onPostgres(
    "a transfer above a refund's announced height may prove it, whatever the service's clock says",
    () =>
      Effect.gen(function* () {
        const refundRepo = yield* RefundRepo
        const transferRepo = yield* TransferRepo
        const of = yield* paid
        expect(yield* refundRepo.settledBlock(of.payment.id)).toEqual(Option.some(100n))
        const transactionId = newHash()
        yield* read(of.tenant, "outgoing", { transactionId, payer: of.receiver, receiver: of.payer })
        const [sent] = [yield* transferRepo.cursor("test")].map(Option.getOrThrow)
        const height = sent?.blockNumber ?? 0n
        const announced = (createdBlock: bigint | null) =>
          Effect.flatMap(
            created(of, { at: after(120), createdBlock, amount: usdc(4_000_000n), beyondPaid: true }),
            refundRepo.transfersMatching
          )
        expect(yield* announced(null)).toEqual([])
        expect(yield* announced(height)).toEqual([])
        expect(yield* announced(height - 1n)).toEqual([transactionId])
      })
  )

  onPostgres(
    "a transfer from long before a refund's announced height is ignored, whatever the clocks say",
    () =>
      Effect.gen(function* () {
        const transferRepo = yield* TransferRepo
        const refundRepo = yield* RefundRepo
        const of = yield* paid
        const transactionId = newHash()
        yield* read(of.tenant, "outgoing", { transactionId, payer: of.receiver, receiver: of.payer })
        const { blockNumber: height } = Option.getOrThrow(yield* transferRepo.cursor("test"))
        // By the chain's clock, which is ahead of the service's, the transfer came later.
        const announced = (createdBlock: bigint | null) =>
          Effect.flatMap(created(of, { createdBlock, beyondPaid: true }), refundRepo.transfersMatching)
        expect(yield* announced(height + 100n)).toEqual([])
        expect(yield* announced(height + 31n)).toEqual([])
        expect(yield* announced(height + 30n)).toEqual([transactionId])
        expect(yield* announced(null)).toEqual([transactionId])
      })
  )

  onPostgres(
    "a transfer being refunded counts as handled; of attaching and refunding it at once, one succeeds",
    () =>
      Effect.gen(function* () {
        const repo = yield* PaymentRepo
        const transferRepo = yield* TransferRepo
        const refundRepo = yield* RefundRepo
        for (const turn of [0, 1, 2, 3]) {
          const of = yield* paid
          const transfer = { transactionId: newHash(), payer: of.payer, receiver: of.receiver }
          const transferId = yield* read(of.tenant, "transfers", transfer)
          const { payment } = yield* repo.open({
            ...of.tenant,
            id: PaymentId.make(yield* newId),
            amount: usdc(4_000_000n),
            intentUrl: "https://shop.example.com/1",
            receiver: of.receiver,
            payerType: "human",
            at: start
          })
          const by = { person: "bob@example.com", note: null, at: after(30) }
          const attach = transferRepo.leaseForPayment(of.tenant, transferId, payment.id, by)
          const refund = Effect.map(
            refundRepo.createRefund(yield* refundOf(of, { of: { transferId }, at: after(30) })),
            ({ _tag }) => _tag === "Created"
          )
          const both = turn % 2 === 0 ? [attach, refund] : [refund, attach]
          const held = yield* Effect.all(both, { concurrency: 2 })
          expect(held.toSorted()).toEqual([false, true])
        }
      })
  )

  onPostgres("a cancelled refund leaves its transfer to be explained, unless another one remains", () =>
    Effect.gen(function* () {
      const transferRepo = yield* TransferRepo
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const transfer = { transactionId: newHash(), payer: of.payer, receiver: of.receiver }
      const transferId = yield* read(of.tenant, "transfers", transfer)
      const part = { of: { transferId }, amount: usdc(2_000_000n) }
      const [first, second] = [yield* created(of, part), yield* created(of, part)]
      const isOpen = Effect.map(
        transferRepo.listTransfers(of.tenant, { status: "open", limit: 10, startingAfter: undefined }),
        (list) => list.some(({ id }) => id === transferId)
      )
      expect(yield* isOpen).toBeFalse()
      yield* refundRepo.endRefund(second.id, { status: "cancelled" }, after(30))
      expect(yield* isOpen).toBeFalse()
      const third = yield* created(of, part)
      yield* refundRepo.endRefund(third.id, { status: "cancelled" }, after(31))
      yield* refundRepo.endRefund(first.id, { status: "cancelled" }, after(32))
      expect(yield* isOpen).toBeTrue()
    })
  )

  onPostgres("does not fail for a transaction that is no longer the named one", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const refund = yield* created(of, { amount: usdc(10_000_000n) })
      const [wrong, right] = [newHash(), newHash()]
      yield* refundRepo.reportRefundTransaction(refund.id, wrong, after(20), after(25))
      yield* refundRepo.reportRefundTransaction(refund.id, right, after(21), after(26))
      const failed = { status: "failed", reason: "amount" } as const
      expect(
        yield* refundRepo.endRefund(refund.id, { ...failed, transactionId: wrong }, after(30))
      ).toBeFalse()
      expect(
        yield* refundRepo.endRefund(refund.id, { ...failed, transactionId: right }, after(31))
      ).toBeTrue()
    })
  )

  onPostgres("is listed newest first, page by page, and taken for checks under a lease", () =>
    Effect.gen(function* () {
      const refundRepo = yield* RefundRepo
      const of = yield* paid
      const all = yield* Effect.forEach([1, 2, 3], (n) =>
        created(of, { amount: usdc(1n), at: after(10 + n), checkAt: after(12 + n) })
      )
      const first = Option.getOrThrow(yield* refundRepo.listRefunds(of.tenant, { limit: 2 }))
      expect(first.map(({ id }) => id)).toEqual([all[2]?.id ?? "", all[1]?.id ?? ""])
      const rest = yield* refundRepo.listRefunds(of.tenant, { limit: 2, startingAfter: all[1]?.id })
      expect(Option.getOrThrow(rest).map(({ id }) => id)).toEqual([all[0]?.id ?? ""])
      const other = yield* paid
      expect(yield* refundRepo.listRefunds(other.tenant, { limit: 2, startingAfter: all[1]?.id })).toEqual(
        Option.none()
      )
      const mine = (taken: ReadonlyArray<{ readonly id: string }>) =>
        taken.filter(({ id }) => all.some((one) => one.id === id))
      expect(mine(yield* refundRepo.takeDueRefunds("test", after(14), after(60), 1000))).toHaveLength(2)
      expect(mine(yield* refundRepo.takeDueRefunds("test", after(14), after(60), 1000))).toHaveLength(0)
    })
  )
})
