// Payments, settlements, attempts and transfers for the tests of repositories.

import { expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { parseAddress } from "../../src/chain/Address.ts"
import { type Address, TransactionHash } from "../../src/domain/Chain.ts"
import type { Tenant } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { type Evidence, type Payment, PaymentId } from "../../src/domain/Payment.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import type { PaymentAttempt } from "../../src/payments/AttemptRepo/AttemptStore.ts"
import { layerPaymentRepos } from "../../src/payments/layerPaymentRepos.ts"
import type { PaymentSettlement } from "../../src/payments/PaymentRepo/PaymentStore.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { testDatabase } from "../support/database.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { liveEffect } from "../support/run.ts"

export type RepoLayer = Layer.Layer<PaymentRepo | WebhookRepo | KeyAuth | SecureRandom.SecureRandom>

export const address = (digit: string): Address => {
  const parsed = parseAddress(`0x${digit.repeat(40)}`)
  if (parsed === undefined) throw new Error("not an address")
  return parsed
}
export const hash = (seed: number) => TransactionHash.make(`0x${seed.toString(16).padStart(64, "0")}`)
export const receiver = address("b")
export const payer = address("c")
export const start = new Date("2026-05-01T12:00:00.000Z")
export const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)

export const before = (seconds: number) => ({ test: after(seconds), live: after(seconds) })

/** Ordinals of the transaction's equal transfers that payments have claimed. */
export const claimed = (repo: PaymentRepo["Service"], transactionId: TransactionHash) =>
  Effect.map(
    repo.unavailableTransfers({
      chainId: 84532,
      evidence: evidenceOf(transactionId),
      receiver,
      amount: AtomicUsdc.make(1_000_000n)
    }),
    (taken) => taken.map(({ ordinal }) => ordinal)
  )

export const evidenceOf = (
  transactionId: TransactionHash,
  amount = 1_000_000n,
  by: Address = payer
): Evidence => ({
  transactionId,
  payer: by,
  tokenChanges: [{ amountAtomic: amount.toString(), chainId: 84532, receiver, tokenAddress: address("a") }]
})

export const newTenant = (env: Tenant["env"] = "test") =>
  Effect.gen(function* () {
    const keys = yield* KeyAuth
    const own = freshAddress()
    const { merchant } = yield* Effect.orDie(
      keys.createMerchant({ name: "Shop", receivers: { test: own, live: own } })
    )
    return { merchantId: merchant.id, env }
  })

export const newId = Effect.flatMap(SecureRandom.SecureRandom, (random) =>
  Effect.map(random.uuidV7(), (id) => PaymentId.make(id))
)

export const opened = Effect.fnUntraced(function* (
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

export const settlementOf = Effect.fnUntraced(function* (
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
    laterDelivery: { id: yield* random.uuidV7(), body: new TextEncoder().encode('{"later":true}') },
    watchAt: after(60)
  }
  return settlement
})

export const registerEndpoint = Effect.fnUntraced(function* (tenant: Tenant) {
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

export const attemptOf = Effect.fnUntraced(function* (changes: Partial<PaymentAttempt> = {}) {
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

/**
 * Reads a transfer by the payer, of the payment's amount, from the chain; returns its id. `replaced` blocks are read
 * again.
 */
export const arrived = Effect.fnUntraced(function* (
  tenant: Tenant,
  transactionId: TransactionHash,
  at = after(5),
  replaced = 0,
  amount = 1_000_000n
) {
  const transferRepo = yield* TransferRepo
  const random = yield* SecureRandom.SecureRandom
  const cursorAt = (blockNumber: bigint) => ({
    blockNumber,
    blockHash: hash(Number(blockNumber)),
    blockTime: at
  })
  yield* transferRepo.startCursor("test", cursorAt(1_000n))
  const lease = { id: yield* random.uuidV7(), until: after(90), at }
  const read = Option.getOrThrow(yield* transferRepo.leaseCursor("test", lease))
  const from = replaced === 0 ? read : cursorAt(read.blockNumber - BigInt(replaced))
  if (replaced > 0) expect(yield* transferRepo.rewindCursor("test", lease, read, from)).toBeTrue()
  const to = cursorAt(from.blockNumber + 1n)
  const id = yield* random.uuidV7()
  const transfer = {
    ...{ id, merchantId: tenant.merchantId, transactionId, payer, receiver },
    ...{ amount, ordinal: 0, ...to }
  }
  expect(
    yield* transferRepo.recordRange({ env: "test", lease, from, to, transfers: [transfer], outgoing: [] })
  ).toBeTrue()
  yield* transferRepo.releaseCursor("test", lease.id)
  return id
})

export const person = (at: Date) => ({ person: "ann@example.com", note: "by hand", at })

/** Declares tests on a layer that is built for each of them. */
export const onLayer =
  <Services>(layer: Layer.Layer<Services>) =>
  <E>(name: string, effect: () => Effect.Effect<unknown, E, Services>): void =>
    liveEffect(name, () => Effect.provide(effect(), layer))

/** Declares tests on Postgres, with all repositories of payments. */
export const onPostgres = onLayer(
  Layer.mergeAll(layerPaymentRepos, KeyAuth.layer, WebhookRepo.layer).pipe(
    Layer.provide(testDatabase.layer),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
)
