// Two instances on one Postgres, a pending payment, and a transfer that would pay it.

import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { AttemptRepo } from "../../../src/payments/AttemptRepo.ts"
import { ClaimRepo } from "../../../src/payments/ClaimRepo.ts"
import { layerPaymentRepos } from "../../../src/payments/layerPaymentRepos.ts"
import type { PaymentSettlement } from "../../../src/payments/PaymentRepo/PaymentStore.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import { RefundRepo } from "../../../src/payments/refunds/RefundRepo.ts"
import { TransferRepo } from "../../../src/payments/TransferRepo.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const amount = AtomicUsdc.make(3_000_000n)
const payer = Address.make("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045")
const hash = (seed: number) => TransactionHash.make(`0x${seed.toString(16).padStart(64, "0")}`)
const start = new Date("2026-05-01T12:00:00.000Z")
export const person = { person: "ann@example.com", note: "sent back by hand", at: start }

const instance = (url: string) =>
  Effect.map(
    Layer.build(
      Layer.fresh(Layer.merge(layerPaymentRepos, KeyAuth.layer)).pipe(
        Layer.provideMerge(PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })),
        Layer.provideMerge(SecureRandom.layerWebCrypto)
      )
    ),
    (context) => ({
      keys: Context.get(context, KeyAuth),
      repo: Context.get(context, PaymentRepo),
      attemptRepo: Context.get(context, AttemptRepo),
      claimRepo: Context.get(context, ClaimRepo),
      transferRepo: Context.get(context, TransferRepo),
      refundRepo: Context.get(context, RefundRepo),
      sql: Context.get(context, SqlClient.SqlClient)
    })
  )

export const twoInstances = Effect.gen(function* () {
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
  yield* one.transferRepo.startCursor("test", from)
  yield* one.transferRepo.leaseCursor("test", lease)
  const id = Bun.randomUUIDv7()
  const transfer = { payer, receiver, amount, ordinal: 0, transactionId: hash(1), ...to }
  const read = (merchantId = merchant.id) =>
    other.transferRepo.recordRange({
      ...{ env: "test", lease, from, to },
      transfers: [{ ...transfer, id, merchantId }],
      outgoing: []
    })
  const settlement: PaymentSettlement = {
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
    other,
    id,
    tenant,
    paymentId,
    /** Reads the transfer from the chain, for the merchant that has the receiver. */
    read,
    watch,
    settlement,
    settle: one.repo.settle(settlement),
    handle: other.transferRepo.handleTransfer(tenant, id, person),
    transfer: Effect.map(other.transferRepo.findTransfer(tenant, id), Option.getOrThrow),
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
