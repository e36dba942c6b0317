// The times at which the alert of an empty wallet is raised and resolved.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeEmptyAlert } from "../../../src/chain/wallets/makeEmptyAlert.ts"
import { testEffect } from "../../support/run.ts"

const bench = (fails = () => false) => {
  const said: Array<string> = []
  const alert = makeEmptyAlert(
    {
      raise: ({ kind, subject }) => Effect.sync(() => void said.push(`raised ${kind} ${subject}`)),
      resolve: (kind, subject) =>
        Effect.suspend(() =>
          fails() ? Effect.die("away") : Effect.sync(() => void said.push(`resolved ${kind} ${subject}`))
        )
    },
    "relayer_empty",
    "test",
    { address: "0x1" }
  )
  return { alert, said }
}

describe("the alert of an empty wallet", () => {
  testEffect("is resolved by the first payment, once, whichever process has raised it", () =>
    Effect.gen(function* () {
      const { alert, said } = bench()
      yield* alert.paid
      yield* alert.paid
      expect(said).toEqual(["resolved relayer_empty 0x1"])
    })
  )

  testEffect("is resolved a minute after it was last raised, so that the next time raises it again", () =>
    Effect.gen(function* () {
      const { alert, said } = bench()
      yield* alert.raise("Empty.")
      yield* TestClock.adjust("59 seconds")
      yield* alert.paid
      yield* alert.raise("Empty.")
      yield* TestClock.adjust("60 seconds")
      yield* alert.paid
      yield* alert.paid
      yield* alert.raise("Empty.")
      expect(said).toEqual([
        "raised relayer_empty 0x1",
        "raised relayer_empty 0x1",
        "resolved relayer_empty 0x1",
        "raised relayer_empty 0x1"
      ])
    })
  )

  testEffect("is resolved without another payment if one has followed within the minute", () =>
    Effect.gen(function* () {
      const { alert, said } = bench()
      yield* alert.raise("Empty.")
      yield* TestClock.adjust("10 seconds")
      yield* alert.paid
      yield* alert.paid
      yield* TestClock.adjust("49 seconds")
      expect(said).toHaveLength(1)
      yield* TestClock.adjust("1 second")
      expect(said).toEqual(["raised relayer_empty 0x1", "resolved relayer_empty 0x1"])
    })
  )

  testEffect("fails no payment if it cannot be resolved, and is resolved by the next one", () =>
    Effect.gen(function* () {
      let isAway = true
      const { alert, said } = bench(() => isAway)
      yield* alert.paid
      isAway = false
      yield* alert.paid
      expect(said).toEqual(["resolved relayer_empty 0x1"])
    })
  )
})
