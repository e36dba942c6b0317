// A wallet's signed transactions at rest: a reorganisation reopens everything that it removed from a block.
import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { idOf, OutboxRepo } from "../../../src/chain/wallets/OutboxRepo.ts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

const wallet = Address.make("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
const at = new Date("2026-01-02T00:00:00Z")
const raw = (text: string) => `0x${Buffer.from(text).toString("hex")}` as const

liveEffect(
  "ended transactions above the chain's next nonce are reopened from the lowest on, mined ones first",
  () =>
    Effect.gen(function* () {
      const repo = yield* OutboxRepo
      const signed = yield* repo.locked(
        wallet,
        repo.append(
          wallet,
          5,
          Array.from({ length: 130 }, (_, index) => ({
            purpose: "settle" as const,
            reference: `01a1fc34-7205-710e-9410-${index.toString().padStart(12, "0")}`,
            merchantId: null,
            payer: null,
            gas: 21_000n,
            wei: 42_000n,
            at,
            sign: (nonce: number) => Effect.succeed(raw(`first of ${nonce}`))
          }))
        )
      )
      const [lowest] = signed
      if (lowest === undefined) throw new Error("nothing was appended")
      const newer = yield* repo.addVersion(lowest, raw("second of 5"), at, 0n)
      const mined = idOf(raw("first of 5"))
      for (const one of signed)
        yield* repo.end(
          one,
          {
            outcome: "moved",
            transactionId: one === lowest ? mined : TransactionHash.make(idOf(one.versions[0])),
            blockNumber: 7n
          },
          at
        )
      expect(newer?.versions[0]).toBe(raw("second of 5"))
      expect(yield* repo.hasEndedSince(wallet, new Date(at.getTime() - 1))).toBe(true)
      expect(yield* repo.hasEndedSince(wallet, at)).toBe(false)

      expect(yield* repo.endedFrom(wallet, 135)).toEqual([])
      const left = yield* repo.endedFrom(wallet, 5)
      expect(left.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 100 }, (_, index) => 5 + index))
      const [first] = left
      if (first === undefined) throw new Error("nothing has ended")
      yield* repo.reopen(first, [raw("first of 5"), raw("second of 5")])
      expect(yield* repo.open(wallet)).toMatchObject([
        { nonce: 5, outcome: null, transactionId: null, versions: [raw("first of 5"), raw("second of 5")] }
      ])
      // Another instance that has read the same end comes too late.
      yield* repo.end(
        first,
        { outcome: "reverted", transactionId: idOf(raw("second of 5")), blockNumber: 9n },
        at
      )
      yield* repo.reopen(first, [raw("first of 5")])
      expect(yield* repo.find(wallet, 5)).toMatchObject({ outcome: "reverted" })
    }).pipe(Effect.provide(OutboxRepo.layer.pipe(Layer.provide(testDatabase.layer))))
)

liveEffect(
  "the next nonce follows the last one, unless the gap before it is larger than is ever filled",
  () =>
    Effect.gen(function* () {
      const repo = yield* OutboxRepo
      const own = Address.make("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
      const append = (chainNonce: number) =>
        repo
          .locked(
            own,
            repo.append(
              own,
              chainNonce,
              Array.from({ length: 2 }, () => ({
                ...{
                  purpose: "settle" as const,
                  reference: Bun.randomUUIDv7(),
                  merchantId: null,
                  payer: null
                },
                ...{
                  gas: 21_000n,
                  wei: 42_000n,
                  at,
                  sign: (nonce: number) => Effect.succeed(raw(`of ${nonce}`))
                }
              }))
            )
          )
          .pipe(Effect.map((stored) => stored.map(({ nonce }) => nonce)))
      expect(yield* append(3)).toEqual([3, 4])
      // Nodes lag, or have not seen the last transactions yet.
      expect(yield* append(1)).toEqual([5, 6])
      // Others have sent in between; so few are filled if they are lost.
      expect(yield* append(71)).toEqual([71, 72])
      expect(yield* append(7)).toEqual([73, 74])
      // A nonce that nothing has reached.
      expect(yield* append(1_000)).toEqual([1_000, 1_001])
      expect(yield* append(75)).toEqual([75, 76])
      expect(yield* append(75)).toEqual([77, 78])
      expect(yield* append(76)).toEqual([79, 80])
      expect(yield* append(935)).toEqual([935, 936])
      expect(yield* append(937)).toEqual([1_002, 1_003])
      expect(yield* append(2_000)).toEqual([2_000, 2_001])
    }).pipe(Effect.provide(OutboxRepo.layer.pipe(Layer.provide(testDatabase.layer))))
)
