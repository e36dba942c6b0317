// This process as one of several that share a port: it tells the supervisor once it serves, leaves when it is told
// to or when the supervisor is gone, and leaves without losing what was sent to it.
import { Effect, Layer, Option, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { tables } from "../database/migrations.ts"
import { makeReady } from "../database/ready.ts"
import { Readiness } from "../workers/Readiness.ts"
import { chooseAmongAll, leaveGroup } from "./ListenerGroup.ts"
import { type Notice, orders } from "./messages.ts"

/** As a signal does it: everything is stopped in its order. */
const stop = () => process.kill(process.pid, "SIGTERM")

const ignore = () => undefined

/** Nothing where no supervisor listens. */
export const report = (one: Notice): void => {
  if (process.connected) process.send?.(one)
}

const make = Effect.gen(function* () {
  const config = yield* AppConfig
  if (Option.isNone(config.sibling)) return
  const { replace, replaced } = yield* Readiness
  // One that was killed while it left has told nobody.
  chooseAmongAll(config)
  yield* Effect.addFinalizer(() => Effect.promise(() => leaveGroup(config, replaced())))

  const heard = (message: unknown) => {
    const order = orders(message)
    if (order === "left") chooseAmongAll(config)
    if (order !== "leave") return
    Effect.runSync(replace)
    stop()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      process.on("message", heard)
      process.on("disconnect", stop)
      // Sent to all by whoever means the supervisor.
      process.on("SIGHUP", ignore)
      if (!process.connected) stop()
    }),
    () =>
      Effect.sync(() => {
        process.off("message", heard)
        process.off("disconnect", stop)
        process.off("SIGHUP", ignore)
      })
  )

  const isReady = yield* makeReady(tables)
  yield* isReady.pipe(
    Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (ready) => ready }),
    Effect.andThen(Effect.sync(() => report({ tag: "ready", metrics: Option.getOrNull(config.metrics) }))),
    Effect.forkScoped
  )
})

/** Build it after the listener; nothing where this process is the only one. */
export const layer: Layer.Layer<never, never, AppConfig | SqlClient.SqlClient> = Layer.effectDiscard(make)
