// `bun run test:long`: 500 rounds of capped signings, 100 of settlements under failure.
import { expect } from "bun:test"
import { Effect } from "effect"
import { liveEffect } from "../../support/run.ts"
import { capRounds } from "./capRounds.ts"
import { doublePaymentRounds } from "./doublePayment.ts"

liveEffect(
  "500 rounds of 50 signings over three instances with kills: overshoot 0 (needs TEST_DATABASE_URL)",
  () =>
    Effect.gen(function* () {
      const seed = Math.floor(Math.random() * 2 ** 31)
      console.log(`seed ${seed}`)
      const run = yield* capRounds(500, seed, console.log)
      console.log(run)
      expect(run.overshoot).toBe(0n)
    }),
  3_600_000
)

liveEffect(
  "100 settlements under failure: everybody pays once",
  () =>
    Effect.gen(function* () {
      const run = yield* doublePaymentRounds(100, console.log)
      console.log(run)
      expect(run.wrong).toEqual([])
    }),
  3_600_000
)
