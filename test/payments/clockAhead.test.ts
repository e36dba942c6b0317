// The chain's clock is ahead of the service's: a wallet's transfer from before the payment opened does not stop it from
// paying.

import { expect } from "bun:test"
import { DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { PaymentId } from "../../src/domain/Payment.ts"
import { PaymentAttempts } from "../../src/payments/PaymentAttempts.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { testDatabase } from "../support/database.ts"
import { newMerchant, sqlStack } from "../support/paymentStack.ts"
import { payer, receiver } from "../support/rawReceipts.ts"
import { testEffect } from "../support/run.ts"

const stack = sqlStack.pipe(
  Layer.provideMerge(Layer.mergeAll(ChainVerifier.layerMemory, SecureRandom.layerWebCrypto)),
  Layer.provideMerge(testDatabase.layer)
)

for (const aheadSeconds of [0, 300])
  testEffect(`a wallet's stray transfer from before the payment, ${aheadSeconds} s ahead`, () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 day")
      const { principal, tenant } = yield* newMerchant(receiver)
      const attempts = yield* PaymentAttempts
      const repo = yield* PaymentRepo
      const transferRepo = yield* TransferRepo
      const chain = yield* MemoryChain
      yield* chain.fund(payer, { usdcAtomic: 10_000_000n })
      yield* chain.transfer({ from: payer, to: receiver, amount: 1_000_000n })
      const sentIn = yield* chain.head()
      const readAt = Effect.fnUntraced(function* (height: bigint) {
        const reading = yield* chain.reading("test", height, height)
        if (reading._tag !== "Read") throw new Error("unread")
        return reading
      })
      const reading = yield* readAt(sentIn)
      const blockTime = new Date((yield* DateTime.nowAsDate).getTime() + aheadSeconds * 1000)
      yield* chain.mine(60)
      // Two minutes and sixty blocks later.
      yield* TestClock.adjust("2 minutes")
      const { payment } = yield* repo.open({
        ...tenant,
        id: PaymentId.make(crypto.randomUUID()),
        amount: AtomicUsdc.make(1_000_000n),
        intentUrl: "https://shop.example.com/1",
        receiver,
        payerType: "human",
        openedBlock: yield* chain.head(),
        at: yield* DateTime.nowAsDate
      })
      const lease = Effect.map(DateTime.nowAsDate, (at) => ({
        id: crypto.randomUUID(),
        at,
        until: new Date(at.getTime() + 15_000)
      }))
      const cursor = Effect.fnUntraced(function* (blockNumber: bigint, blockTime: Date) {
        const { blockHash } = yield* readAt(blockNumber)
        return { blockNumber, blockHash, blockTime }
      })
      const id = crypto.randomUUID()
      yield* transferRepo.startCursor("test", yield* cursor(0n, blockTime))
      const read = Effect.fnUntraced(function* (
        to: Effect.Success<ReturnType<typeof cursor>>,
        transfers: Parameters<TransferRepo["Service"]["recordRange"]>[0]["transfers"]
      ) {
        const by = yield* lease
        const from = Option.getOrThrow(yield* transferRepo.leaseCursor("test", by))
        expect(
          yield* transferRepo.recordRange({ env: "test", lease: by, from, to, outgoing: [], transfers })
        ).toBeTrue()
        yield* transferRepo.releaseCursor("test", by.id)
      })
      yield* read(
        yield* cursor(sentIn, blockTime),
        reading.transfers.map((one) => ({ ...one, id, merchantId: tenant.merchantId, blockTime }))
      )
      yield* transferRepo.recordMatch(id, { kind: "unknown" })
      const announce = attempts.announce(principal, payment.id, {
        ...{ buyerDidToken: `buyer:${payer}:${payment.id}`, method: "transfer", client: "" }
      })
      // The wallet's prompt stays open, and its browser is closed.
      expect((yield* announce)._tag).toBe("AttemptAnnounced")
      yield* TestClock.adjust("40 minutes")
      const later = new Date((yield* DateTime.nowAsDate).getTime() + aheadSeconds * 1000)
      yield* read(yield* cursor(sentIn + 59n, later), [])
      expect((yield* announce)._tag).toBe("AttemptAnnounced")
    }).pipe(Effect.provide(stack))
  )
