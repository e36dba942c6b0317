// When the alert of an empty wallet is told and resolved.
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
  testEffect("is resolved by the first payment, once, whichever process has told it", () =>
    Effect.gen(function* () {
      const { alert, said } = bench()
      yield* alert.paid
      yield* alert.paid
      expect(said).toEqual(["resolved relayer_empty 0x1"])
    })
  )

  testEffect("is resolved a minute after it was told last, so that the next time is told again", () =>
    Effect.gen(function* () {
      const { alert, said } = bench()
      yield* alert.tell("Empty.")
      yield* TestClock.adjust("59 seconds")
      yield* alert.paid
      yield* alert.tell("Empty.")
      yield* TestClock.adjust("60 seconds")
      yield* alert.paid
      yield* alert.paid
      yield* alert.tell("Empty.")
      expect(said).toEqual([
        "raised relayer_empty 0x1",
        "raised relayer_empty 0x1",
        "resolved relayer_empty 0x1",
        "raised relayer_empty 0x1"
      ])
    })
  )

  testEffect("costs no payment where it cannot be resolved, and is resolved by the next", () =>
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
