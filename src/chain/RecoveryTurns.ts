// Recoveries take a millisecond of each turn of the event loop: however many signatures wait, what else has come is
// served in between. A flood of reports takes half the p99 of everything else by it, and is as fast itself.
import { Context, Effect, Layer } from "effect"

/** Completes when it is the caller's turn; at once, where nobody says otherwise. */
export const RecoveryTurns = Context.Reference<Effect.Effect<void>>("quittance/chain/RecoveryTurns", {
  defaultValue: () => Effect.void
})

/** What a turn takes, and the recovery that it ends in. */
const turnMillis = 1

const make = Effect.sync(() => {
  const waiting: Array<() => void> = []
  let isTaken = false
  const next = () => {
    if (waiting.length === 0) {
      isTaken = false
      return
    }
    setImmediate(next)
    const until = performance.now() + turnMillis
    do waiting.shift()?.()
    while (waiting.length > 0 && performance.now() < until)
  }
  return Effect.callback<void>((resume) => {
    if (isTaken) {
      waiting.push(() => resume(Effect.void))
      return
    }
    isTaken = true
    setImmediate(next)
    resume(Effect.void)
  })
})

export const layer: Layer.Layer<never> = Layer.effect(RecoveryTurns, make)
