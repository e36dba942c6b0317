// Recovers signers without blocking requests: caches repeated signatures, works in short turns of the event loop, and
// uses a separate thread under load.
import { Clock, Context, Effect, Layer } from "effect"
import type { Hex } from "viem"
import { BoundedMap } from "../domain/BoundedMap.ts"
import type { Address } from "../domain/Chain.ts"
import { LoopTurns } from "../platform/workers/LoopTurns.ts"
import { addressOfKey, recoverAddress, recoverableOf } from "./recoverAddress.ts"
import { RecoveryThread } from "./SignatureRecovery/RecoveryThread.ts"
import type { Recoverable } from "./SignatureRecovery/secp256k1.ts"

type Recover = (hash: Hex, signature: Hex) => Effect.Effect<Address | undefined>

/** Recovers a signer's address. The default is `recoverAddress`. */
export const SignatureRecovery = Context.Reference<Recover>("quittance/chain/SignatureRecovery", {
  defaultValue: () => recoverAddress
})

/** The number of signatures whose signer is cached: a checkout sends its buyer's token with each request. */
const maxSigners = 5_000
/** The thread starts if this many recoveries wait for a turn. */
const threadThreshold = 16
/** A thread without work for this long is ended, because it holds about 30 MB. */
const idle = "30 seconds"

export const make = (program?: string) =>
  Effect.gen(function* () {
    const signers = new BoundedMap<string, Address | undefined>(maxSigners)
    const turns = new LoopTurns()
    const clock = yield* Clock.Clock
    const scope = yield* Effect.scope
    const context = yield* Effect.context()
    let thread: RecoveryThread | undefined
    let ready: RecoveryThread | undefined
    /** After a thread failed, no thread starts before this time. */
    let notBefore = 0

    const endWhenIdle = (idleThread: RecoveryThread): Effect.Effect<void> =>
      Effect.suspend(() => {
        const before = idleThread.taken
        return Effect.andThen(
          Effect.sleep(idle),
          Effect.suspend(() => {
            if (thread !== idleThread) return Effect.void
            if (idleThread.taken !== before) return endWhenIdle(idleThread)
            idleThread.end()
            return Effect.void
          })
        )
      })
    const start = () => {
      if (thread !== undefined || clock.currentTimeMillisUnsafe() < notBefore) return
      const newThread = new RecoveryThread(
        {
          ready: () => {
            ready = newThread
            Effect.runForkWith(context)(Effect.forkIn(endWhenIdle(newThread), scope))
          },
          ended: () => {
            if (ready !== newThread) notBefore = clock.currentTimeMillisUnsafe() + 60_000
            thread = undefined
            ready = undefined
          }
        },
        program
      )
      thread = newThread
    }
    yield* Effect.addFinalizer(() => Effect.sync(() => thread?.end()))

    const here: Recover = (hash, signature) => {
      if (turns.waiting >= threadThreshold) start()
      return Effect.andThen(turns.take, recoverAddress(hash, signature))
    }
    const recover = (hash: Hex, signature: Hex, recoverable: Recoverable) => {
      const readyThread = ready
      if (readyThread === undefined) return here(hash, signature)
      return Effect.callback<Address | undefined>((resume) =>
        readyThread.recover(recoverable, (answer) => {
          if (answer === undefined) return resume(here(hash, signature))
          resume(Effect.sync(() => (answer.key === undefined ? undefined : addressOfKey(answer.key))))
        })
      )
    }
    const remembered: Recover = (hash, signature) =>
      Effect.suspend(() => {
        const name = `${hash} ${signature}`
        if (signers.has(name)) return Effect.succeed(signers.get(name))
        const recoverable = recoverableOf(hash, signature)
        // Not cached, because it may be as long as a request body.
        if (recoverable === undefined) return Effect.succeed(undefined)
        return Effect.map(recover(hash, signature, recoverable), (signer) => {
          signers.set(name, signer)
          return signer
        })
      })
    return remembered
  })

export const layer: Layer.Layer<never> = Layer.effect(SignatureRecovery, make())
