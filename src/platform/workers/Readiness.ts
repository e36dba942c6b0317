// This instance's readiness for more work. Shutdown turns it off first, so load balancers switch away while the
// instance still serves.
import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../AppConfig.ts"

/** Without a layer, an instance never stops by itself. */
export const Readiness = Context.Reference<{
  readonly stopping: () => boolean
  readonly stop: Effect.Effect<void>
}>("quittance/platform/Readiness", {
  defaultValue: () => ({
    stopping: () => false,
    stop: Effect.void
  })
})

export const layer: Layer.Layer<never> = Layer.sync(Readiness, () => {
  let stopping = false
  return {
    stopping: () => stopping,
    stop: Effect.sync(() => {
      stopping = true
    })
  }
})

/**
 * Turns readiness off when its scope closes, then waits SHUTDOWN_DELAY. Build it after every layer that must still
 * serve during the delay.
 */
export const layerDelay: Layer.Layer<never, never, AppConfig> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { shutdownDelay } = yield* AppConfig
    const { stop } = yield* Readiness
    yield* Effect.addFinalizer(() => Effect.andThen(stop, Effect.sleep(shutdownDelay)))
  })
)
