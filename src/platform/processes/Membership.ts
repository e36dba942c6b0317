// This process as one of several that share a port: it notifies the supervisor once it serves, and stops when the
// supervisor is gone.
import { Effect, Layer, Option, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { tables } from "../database/migrations.ts"
import { makeReady } from "../database/ready.ts"
import { readyMessage } from "./supervise.ts"

/** Stops everything in order, like a signal. */
const stop = () => process.kill(process.pid, "SIGTERM")

const ignore = () => undefined

const make = Effect.gen(function* () {
  const config = yield* AppConfig
  if (Option.isNone(config.processSlot)) return
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      process.on("disconnect", stop)
      // A closing terminal sends SIGHUP to every process; the supervisor stops them.
      process.on("SIGHUP", ignore)
      if (!process.connected) stop()
    }),
    () =>
      Effect.sync(() => {
        process.off("disconnect", stop)
        process.off("SIGHUP", ignore)
      })
  )

  const isReady = yield* makeReady(tables)
  yield* isReady.pipe(
    Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (ready) => ready }),
    Effect.andThen(Effect.sync(() => process.connected && process.send?.(readyMessage))),
    Effect.forkScoped
  )
})

/** Build it after the listener. Does nothing if this process is the only one. */
export const layer: Layer.Layer<never, never, AppConfig | SqlClient.SqlClient> = Layer.effectDiscard(make)
