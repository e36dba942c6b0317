// A transfer that a stored report names does not pay another payment that its wallet announces.

import { expect } from "bun:test"
import { DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import { PaymentAttempts } from "../../src/payments/PaymentAttempts.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { testDatabase } from "../support/database.ts"
import { newMerchant, openPayment, paid, reportOf, sqlStack, stateOf } from "../support/paymentStack.ts"
import { payer, receiver } from "../support/rawReceipts.ts"
import { liveEffect } from "../support/run.ts"

const stack = sqlStack.pipe(
  Layer.provideMerge(Layer.mergeAll(ChainVerifier.layerMemory, SecureRandom.layerWebCrypto)),
  Layer.provideMerge(testDatabase.layer)
)

liveEffect("a transfer that is reported for one payment does not pay another that its wallet announces", () =>
  Effect.gen(function* () {
    const { principal, tenant } = yield* newMerchant(receiver)
    const payments = yield* Payments
    const attempts = yield* PaymentAttempts
    const transferRepo = yield* TransferRepo
    const chain = yield* MemoryChain
    const reported = yield* openPayment(principal, receiver, 2_000_000n)
    const other = yield* openPayment(principal, receiver, 2_000_000n)
    const hash = yield* paid(payer, reported)
    // The chain has been read: the transfer is stored, and paid no payment known at that time.
    const at = yield* DateTime.nowAsDate
    const block = (yield* chain.head()) - 2n
    const reading = yield* chain.reading("test", block, block)
    if (reading._tag !== "Read") throw new Error("unread")
    const cursor = (blockNumber: bigint, blockHash = reading.blockHash) => ({
      blockNumber,
      blockHash,
      blockTime: at
    })
    yield* transferRepo.startCursor("test", cursor(block - 1n, reading.parentHash))
    const lease = { id: crypto.randomUUID(), at, until: new Date(at.getTime() + 15_000) }
    const from = Option.getOrThrow(yield* transferRepo.leaseCursor("test", lease))
    const id = crypto.randomUUID()
    yield* transferRepo.recordRange({
      ...{ env: "test", lease, from, to: cursor(block), outgoing: [] },
      transfers: reading.transfers.map((one) => ({
        ...one,
        id,
        merchantId: tenant.merchantId,
        blockTime: at
      }))
    })
    yield* transferRepo.recordMatch(id, { kind: "unknown" })
    // The nodes are silent at the report: it is stored, and checked again within five minutes.
    yield* chain.fault("fail")
    yield* Effect.result(payments.report(principal, reported.id, reportOf(reported, payer, hash)))
    yield* chain.fault("none")
    yield* attempts.announce(principal, other.id, {
      ...{ buyerDidToken: `buyer:${payer}:${other.id}`, method: "transfer", client: "" }
    })
    expect((yield* stateOf(other)).status).toBe("pending")
    yield* payments.report(principal, reported.id, reportOf(reported, payer, hash))
    expect((yield* stateOf(reported)).status).toBe("settled")
  }).pipe(Effect.provide(stack))
)
