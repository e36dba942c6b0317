// The daily budgets of a relayer wallet: which transactions count, from the signature to the receipt.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { toHex } from "viem"
import { idOf, OutboxRepo, type OutgoingTransaction } from "../../../src/chain/wallets/OutboxRepo.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { RelayerRepo, type RelayOrder } from "../../../src/x402/Relayer/RelayerRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { liveEffect } from "../../support/run.ts"

const at = new Date("2026-01-02T00:00:00Z")
const later = (hours: number) => new Date(at.getTime() + hours * 3_600_000)
const unbounded = { merchant: 1_000n, payer: 1_000n, total: 1_000n }

const instance = Layer.fresh(RelayerRepo.layer.pipe(Layer.provideMerge(Layer.fresh(OutboxRepo.layer))))

/** A database with one merchant, and two instances on it. */
const world = Effect.gen(function* () {
  const database = yield* Layer.build(testDatabase.layer)
  const sql = Context.get(database, SqlClient.SqlClient)
  const instances = yield* Effect.all([
    Effect.provideContext(Layer.build(instance), database),
    Effect.provideContext(Layer.build(instance), database)
  ])
  const [first] = instances
  const merchantId = MerchantId.make(crypto.randomUUID())
  yield* sql`
    INSERT INTO merchants (id, name, receiver_test, receiver_live, bound_tokens_only, created_at)
    VALUES (${merchantId}, 'Shop', decode(repeat('11', 20), 'hex'), decode(repeat('22', 20), 'hex'), true, now())`
  const wallet = freshAddress()
  const order = (changes: Partial<RelayOrder> = {}): RelayOrder => ({
    purpose: "cancel",
    reference: Bun.randomUUIDv7(),
    merchantId,
    payer: freshAddress(),
    gas: 6n,
    wei: 60n,
    maxFeePerGas: 10n,
    at,
    chainNonce: 0,
    bounds: { ...unbounded, total: 100n },
    onlyReserve: false,
    sign: (nonce) => Effect.succeed(toHex(nonce, { size: 2 })),
    ...changes
  })
  const take = (changes: Partial<RelayOrder> = {}, on = first) =>
    Context.get(on, RelayerRepo).take(wallet, order(changes))
  const created = Effect.fnUntraced(function* (changes: Partial<RelayOrder> = {}) {
    const taken = yield* take(changes)
    if (taken._tag !== "Created") throw new Error(`it was ${taken._tag}`)
    return taken.transaction
  })
  const end = (transaction: OutgoingTransaction, outcome: "moved" | "reverted" | "lost", ended = at) =>
    outbox.end(
      transaction,
      outcome === "lost"
        ? { outcome, transactionId: null, blockNumber: null }
        : { outcome, transactionId: idOf(transaction.versions[0]), blockNumber: 7n },
      ended
    )
  const outbox = Context.get(first, OutboxRepo)
  /** True if this many wei more would be relayed. */
  const fits = (wei: bigint, changes: Partial<RelayOrder> = {}) =>
    Effect.map(
      Context.get(first, RelayerRepo).limitOf(wallet, order({ wei, ...changes })),
      (limit) => limit === undefined
    )
  return { created, end, fits, instances, outbox, sql, take, wallet }
})

describe("two instances that relay at once", () => {
  const payer = Address.make(`0x${"ab".repeat(20)}`)
  for (const bound of ["merchant", "payer", "total"] as const)
    liveEffect(`send as many as the limit of ${bound} has wei for`, () =>
      Effect.gen(function* () {
        const { instances, sql, take } = yield* world
        const taken = yield* Effect.forEach(
          Array.from({ length: 40 }, (_, index) => index),
          (index) =>
            take(
              { wei: 9n, bounds: { ...unbounded, [bound]: 100n }, ...(bound === "payer" ? { payer } : {}) },
              instances[index % 2]
            ),
          { concurrency: "unbounded" }
        )
        expect(taken.filter(({ _tag }) => _tag === "Created")).toHaveLength(11)
        expect(taken.filter((one) => one._tag === "OverBudget" && one.limit === bound)).toHaveLength(29)
        const [row] = yield* sql`SELECT sum(reserved_wei)::int AS reserved FROM wallet_transactions`
        expect(row).toEqual({ reserved: 99 })
      })
    )
})

describe("a transaction counts", () => {
  liveEffect("at its highest possible cost until a receipt shows the real cost, however it ended", () =>
    Effect.gen(function* () {
      const { created, end, fits, outbox, wallet } = yield* world
      const transaction = yield* created()
      expect([yield* fits(40n), yield* fits(41n)]).toEqual([true, false])
      // As if the process died between the two writes.
      yield* end(transaction, "reverted")
      expect([yield* fits(40n), yield* fits(41n)]).toEqual([true, false])
      const mined = idOf(transaction.versions[0])
      expect(yield* outbox.withoutCost(wallet, new Date(0))).toEqual([{ nonce: 0, transactionId: mined }])
      yield* outbox.recordCost(wallet, 0, mined, 25n)
      expect(yield* outbox.withoutCost(wallet, new Date(0))).toEqual([])
      expect([yield* fits(75n), yield* fits(76n)]).toEqual([true, false])
      // A reorganisation removes it from its block: it may cost the full amount again.
      const ended = yield* outbox.find(wallet, 0)
      if (ended === undefined) throw new Error("it is gone")
      yield* outbox.reopen(ended, ended.versions)
      yield* outbox.recordCost(wallet, 0, mined, 25n)
      expect([yield* fits(40n), yield* fits(41n)]).toEqual([true, false])
    })
  )

  liveEffect("for a day after its end, and for as long as it is open", () =>
    Effect.gen(function* () {
      const { created, end, fits } = yield* world
      const transaction = yield* created()
      expect(yield* fits(41n, { at: later(100) })).toBe(false)
      yield* end(transaction, "moved", later(100))
      expect(yield* fits(41n, { at: later(123) })).toBe(false)
      expect(yield* fits(41n, { at: later(125) })).toBe(true)
    })
  )

  liveEffect("not at all once another transaction has its nonce, and for no other merchant or payer", () =>
    Effect.gen(function* () {
      const { created, end, fits } = yield* world
      const payer = freshAddress()
      const transaction = yield* created({ payer })
      const bounds = { ...unbounded, payer: 100n }
      expect([yield* fits(41n, { bounds, payer }), yield* fits(41n, { bounds })]).toEqual([false, true])
      const other = { merchantId: MerchantId.make(crypto.randomUUID()) }
      const ofMerchant = { ...unbounded, merchant: 100n }
      expect(yield* fits(41n, { bounds: ofMerchant })).toBe(false)
      expect(yield* fits(41n, { bounds: ofMerchant, ...other })).toBe(true)
      yield* end(transaction, "lost")
      expect(yield* fits(100n)).toBe(true)
    })
  )

  liveEffect("with the added cost of a replacement, which no budget stops", () =>
    Effect.gen(function* () {
      const { created, fits, outbox } = yield* world
      const transaction = yield* created()
      expect((yield* outbox.addVersion(transaction, "0xff", at, 500n))?.versions[0]).toBe("0xff")
      // Another instance was first with its own version: nothing is added twice.
      expect(yield* outbox.addVersion(transaction, "0xfe", at, 500n)).toBeUndefined()
      const bounds = { ...unbounded, total: 600n }
      expect([yield* fits(40n, { bounds }), yield* fits(41n, { bounds })]).toEqual([true, false])
    })
  )

  liveEffect("at the present price if an earlier release signed it", () =>
    Effect.gen(function* () {
      const { created, fits, sql } = yield* world
      yield* created()
      yield* sql`UPDATE wallet_transactions SET reserved_wei = NULL`
      expect([yield* fits(40n), yield* fits(41n)]).toEqual([true, false])
      expect(yield* fits(11n, { maxFeePerGas: 15n })).toBe(false)
    })
  )
})

liveEffect("a wallet's days are counted from its first transaction, a week at most", () =>
  Effect.gen(function* () {
    const { created, end, outbox, wallet } = yield* world
    const spent = (hours: number) => outbox.spentADay(wallet, later(hours - 168), later(hours))
    expect(yield* spent(0)).toBeUndefined()
    const transaction = yield* created()
    yield* end(transaction, "moved")
    yield* outbox.recordCost(wallet, 0, idOf(transaction.versions[0]), 42n)
    expect(yield* Effect.forEach([1, 48, 167], spent)).toEqual([42n, 21n, 6n])
    expect(yield* spent(169)).toBeUndefined()
  })
)
