// The cursor of the chain's reader between two instances: blocks that are read and not stored are read again by the
// next reader, and a reader presumed dead stores nothing more.

import { expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { TransactionHash } from "../../../src/domain/Chain.ts"
import type { ChainCursor } from "../../../src/payments/TransferRepo/TransferStore.ts"
import { TransferRepo } from "../../../src/payments/TransferRepo.ts"
import { makeCursorLease } from "../../../src/payments/TransferWatch/cursorLease.ts"
import { testDatabase } from "../../support/database.ts"
import { testEffect } from "../../support/run.ts"

const block = (height: number): ChainCursor => ({
  blockNumber: BigInt(height),
  blockHash: TransactionHash.make(`0x${height.toString(16).padStart(64, "0")}`),
  blockTime: new Date(height * 1_000)
})
const nothing = { transfers: [], outgoing: [] }
const heightOf = Option.map(({ blockNumber }: ChainCursor) => Number(blockNumber))

const store = TransferRepo.layer.pipe(Layer.provide(testDatabase.layer))

testEffect(
  "empty blocks are stored with the lease's renewal, or if somebody waits; a killed reader's are read again",
  () =>
    Effect.gen(function* () {
      const transferRepo = yield* TransferRepo
      const stored = Effect.map(transferRepo.cursor("test"), heightOf)
      yield* transferRepo.startCursor("test", block(1))
      const one = makeCursorLease(transferRepo, "test", "01a1fc34-7205-710e-9410-874fee9a4991")
      const two = makeCursorLease(transferRepo, "test", "01a1fc34-7205-710e-9410-874fee9a4992")
      expect(heightOf(yield* one.take(false))).toEqual(Option.some(1))
      expect(yield* one.advance(block(2), nothing, false)).toBe(true)
      expect(heightOf(yield* one.take(false))).toEqual(Option.some(2))
      expect(yield* stored).toEqual(Option.some(1))
      expect(yield* two.take(false)).toEqual(Option.none())
      yield* TestClock.adjust("8 seconds")
      expect(heightOf(yield* one.take(false))).toEqual(Option.some(2))
      expect(yield* stored).toEqual(Option.some(2))

      expect(yield* one.advance(block(3), nothing, false)).toBe(true)
      expect(heightOf(yield* one.take(true))).toEqual(Option.some(3))
      expect(yield* stored).toEqual(Option.some(3))

      expect(yield* one.advance(block(6), nothing, false)).toBe(true)
      // It hangs for longer than its lease.
      yield* TestClock.adjust("16 seconds")
      expect(heightOf(yield* two.take(false))).toEqual(Option.some(3))
      expect(yield* two.advance(block(4), nothing, true)).toBe(true)
      expect(yield* one.take(false)).toEqual(Option.none())
      expect(yield* one.advance(block(7), nothing, true)).toBe(false)
      expect(yield* stored).toEqual(Option.some(4))
    }).pipe(Effect.provide(store))
)
