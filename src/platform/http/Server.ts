// The listening socket, and how paths are read on it.
import { BunHttpServer } from "@effect/platform-bun"
import { Effect, Fiber, Layer, Option } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { Starting } from "./Starting.ts"

/** Strict paths: no trailing slash, no doubled slashes, letter case counts. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 200
}

/** The body rules limit body sizes, because their refusal uses the envelope. */
export const layerOf = (options: {
  readonly port: number
  readonly hostname: string
  readonly reusePort?: boolean
}) =>
  BunHttpServer.layerServer({
    ...options,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: 30,
    gracefulShutdownTimeout: "12 seconds"
  })

/** Completes a request that has begun, even if its client disconnects and interrupts the request. */
export const runToEnd = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.scope, (server) => Effect.flatMap(Effect.forkIn(request, server), Fiber.join))

/** Listens on HOST and PORT, with the other processes of the instance, after `Starting` has left the port. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { port, host: hostname, processSlot } = yield* AppConfig
    yield* (yield* Starting).leave
    return layerOf(Option.isNone(processSlot) ? { port, hostname } : { port, hostname, reusePort: true })
  })
)
