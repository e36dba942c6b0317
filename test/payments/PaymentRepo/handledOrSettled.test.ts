// A person handles a transfer on one instance while another one settles a payment by it: one of them does.

import { describe, expect } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { KeyAuth } from "../../../src/keys/KeyAuth.ts"
import { PaymentRepo, type Settlement } from "../../../src/payments/PaymentRepo.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { liveEffect } from "../../support/run.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const amount = AtomicUsdc.make(3_000_000n)
const payer = Address.make("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045")
const hash = (seed: number) => TransactionHash.make(`0x${seed.toString(16).padStart(64, "0")}`)
const start = new Date("2026-05-01T12:00:00.000Z")
const person = { person: "ann@example.com", note: "sent back by hand", at: start }

const instance = (url: string) =>
  Effect.map(
    Layer.build(
      Layer.fresh(Layer.merge(PaymentRepo.layer, KeyAuth.layer)).pipe(
        Layer.provideMerge(PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })),
        Layer.provideMerge(SecureRandom.layerWebCrypto)
      )
    ),
    (context) => ({
      keys: Context.get(context, KeyAuth),
      repo: Context.get(context, PaymentRepo),
      sql: Context.get(context, SqlClient.SqlClient)
    })
  )

/** Two instances, a pending payment, and a transfer that would pay it and that a person may handle. */
const scene = Effect.gen(function* () {
  const template = yield* Effect.promise(() => templateDatabase(postgresUrl))
  const url = yield* ownDatabase({ template })
  const [one, other] = [yield* instance(url), yield* instance(url)]
  const receiver = freshAddress()
  const { merchant } = yield* one.keys.createMerchant({
    name: "Shop",
    receivers: { test: receiver, live: receiver }
  })
  const tenant = { merchantId: merchant.id, env: "test" as const }
  const paymentId = PaymentId.make(Bun.randomUUIDv7())
  yield* one.repo.open({
    ...{ ...tenant, id: paymentId, amount, receiver, payerType: "human", at: start },
    intentUrl: "https://shop.example.com/1"
  })
  const from = { blockNumber: 100n, blockHash: hash(100), blockTime: start }
  const to = { blockNumber: 101n, blockHash: hash(101), blockTime: start }
  const lease = { id: Bun.randomUUIDv7(), at: start, until: new Date(start.getTime() + 60_000) }
  yield* one.repo.startCursor("test", from)
  yield* one.repo.leaseCursor("test", lease)
  const id = Bun.randomUUIDv7()
  const transfer = { payer, receiver, amount, ordinal: 0, transactionId: hash(1), ...to }
  yield* one.repo.recordRange({
    ...{ env: "test", lease, from, to },
    transfers: [{ ...transfer, id, merchantId: merchant.id }]
  })
  const settlement: Settlement = {
    paymentId,
    evidence: { transactionId: hash(1), payer, tokenChanges: [] },
    reportedAt: start,
    at: start,
    transfer: { ...transfer, chainId: 84532, logPosition: 0 },
    delivery: { id: Bun.randomUUIDv7(), body: new TextEncoder().encode("{}") },
    watchAt: start
  }
  const watch = yield* Effect.acquireRelease(
    Effect.sync(() => new SQL(url, { max: 2 })),
    (opened) => Effect.promise(() => opened.close())
  )
  return {
    one,
    paymentId,
    watch,
    settle: one.repo.settle(settlement),
    handle: other.repo.handleTransfer(tenant, id, person),
    transfer: Effect.map(other.repo.findTransfer(tenant, id), Option.getOrThrow),
    payment: Effect.map(other.repo.find(tenant, paymentId), Option.getOrThrow),
    untilOneWaits: async () => {
      for (const end = Date.now() + 5_000; Date.now() < end; await Bun.sleep(10)) {
        const waiting = await watch`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        if (waiting.length > 0) return
      }
      throw new Error("no statement waits for a lock")
    }
  }
})

describe("A transfer on Postgres is handled or settles a payment", () => {
  const failed = (sql: SQL, id: string) => sql`
    UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired' WHERE id = ${id}`

  for (const [name, hold] of [
    ["waits for", (sql: SQL, id: string) => sql`SELECT 1 FROM payments WHERE id = ${id} FOR NO KEY UPDATE`],
    ["waits for a change of", failed]
  ] as const)
    liveEffect(`handled while the settlement ${name} its payment's row: nothing settles`, () =>
      Effect.gen(function* () {
        const { handle, payment, paymentId, settle, transfer, untilOneWaits, watch } = yield* scene
        const { before, handled, waiting } = yield* Effect.promise(() =>
          watch.begin(async (transaction) => {
            await hold(transaction, paymentId)
            const settling = Effect.runPromise(settle)
            await untilOneWaits()
            const before = (await Effect.runPromise(payment)).status
            return { before, waiting: { settling }, handled: await Effect.runPromise(handle) }
          })
        )
        expect([before, handled]).toEqual(["pending", true])
        expect(Option.isNone(yield* Effect.promise(() => waiting.settling))).toBeTrue()
        expect((yield* payment).status).toBe(hold === failed ? "failed" : "pending")
        expect(yield* transfer).toMatchObject({
          paymentId: null,
          handledBy: person.person,
          note: person.note
        })
      })
    )

  liveEffect("a payment that fails while its settlement waits for the row settles all the same", () =>
    Effect.gen(function* () {
      const { payment, paymentId, settle, transfer, untilOneWaits, watch } = yield* scene
      const { settling } = yield* Effect.promise(() =>
        watch.begin(async (transaction) => {
          await failed(transaction, paymentId)
          const settling = Effect.runPromise(settle)
          await untilOneWaits()
          return { settling: () => settling }
        })
      )
      expect(Option.isSome(yield* Effect.promise(settling))).toBeTrue()
      expect(yield* payment).toMatchObject({ status: "settled", failureReason: null })
      expect(yield* transfer).toMatchObject({ paymentId })
    })
  )

  liveEffect("handled while the settlement that has it is not committed: nobody handles it", () =>
    Effect.gen(function* () {
      const { handle, one, payment, paymentId, settle, transfer, untilOneWaits } = yield* scene
      const handling = yield* one.sql.withTransaction(
        Effect.gen(function* () {
          expect(Option.isSome(yield* settle)).toBeTrue()
          const handled = Effect.runPromise(handle)
          yield* Effect.promise(untilOneWaits)
          return { handled }
        })
      )
      expect(yield* Effect.promise(() => handling.handled)).toBeFalse()
      expect((yield* payment).status).toBe("settled")
      expect(yield* transfer).toMatchObject({ paymentId, handledBy: null, note: null })
    })
  )
})
