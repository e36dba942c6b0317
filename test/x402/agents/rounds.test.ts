// The short form of `bun run test:long`'s rounds.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { liveEffect } from "../../support/run.ts"
import { capRounds } from "./capRounds.ts"
import { doublePaymentRounds } from "./doublePayment.ts"

describe(`Caps over three instances`, () => {
  liveEffect("50 signings at once, an instance killed and restarted: overshoot 0", () =>
    Effect.gen(function* () {
      const seed = Math.floor(Math.random() * 2 ** 31)
      console.log(`seed ${seed}`)
      const run = yield* capRounds(10, seed, () => {})
      expect(run.overshoot).toBe(0n)
      expect(run.kills).toBe(1)
      expect(run.signed).toBeGreaterThan(10)
    })
  )
})

describe("Settlements under failure", () => {
  liveEffect(
    "time-outs, lost answers, nodes down, a service killed around the broadcast: everybody pays once",
    () =>
      Effect.gen(function* () {
        const run = yield* doublePaymentRounds(5, () => {})
        expect(run.wrong).toEqual([])
        expect(run.kills).toBe(2)
      })
  )
})
