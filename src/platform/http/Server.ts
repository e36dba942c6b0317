// The listening socket, and how paths are read on it.
import { BunHttpServer } from "@effect/platform-bun"
import { Effect, Fiber, Layer, Option, Schedule } from "effect"
import { AppConfig } from "../AppConfig.ts"

/** Strict paths: no trailing slash, no doubled slashes, letter case counts. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 200
}

/** Body sizes are the business of the body rules, whose refusal carries the envelope. */
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

/** What a request has begun is done though its client goes away, which interrupts the request alone. */
export const runToEnd = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.scope, (server) => Effect.flatMap(Effect.forkIn(request, server), Fiber.join))

/** How long the first of several processes waits for those of a supervisor that was killed, which leave. */
const leftBehind = { times: 100, schedule: Schedule.spaced("100 millis") }

/** A port that several processes share is no other program's: whoever holds it alone, or shares it, is in the way. */
const free = ({ hostname, port }: { readonly port: number; readonly hostname: string }) => {
  const taken = (reusePort: boolean) =>
    Effect.try({
      try: () => Bun.serve({ hostname, port, reusePort, fetch: () => new Response() }).stop(true),
      catch: (error) => error
    })
  return Effect.orDie(Effect.andThen(taken(true), Effect.retry(taken(false), leftBehind)))
}

/** On HOST and PORT, with the other processes of the instance. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { port, host: hostname, sibling } = yield* AppConfig
    if (Option.isNone(sibling)) return layerOf({ port, hostname })
    if (sibling.value.isFirst) yield* free({ port, hostname })
    return layerOf({ port, hostname, reusePort: true })
  })
)
