// The port while the service starts: alive but not ready, with what it waits for. A probe that killed a process during
// a migration would start the migration again.
import { Context, Effect, Layer, Option } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { checkPortIsFree } from "./checkPortIsFree.ts"

export const Starting = Context.Reference<{
  /** Reports the part of start-up that `/readyz` waits for. */
  readonly waitsFor: (what: string) => Effect.Effect<void>
  /** Leaves the port to the service. */
  readonly leave: Effect.Effect<void>
}>("quittance/platform/Starting", {
  defaultValue: () => ({ waitsFor: () => Effect.void, leave: Effect.void })
})

/** Seconds. */
const retryAfter = 1

const answer = (path: string, what: string) => {
  const headers = { "cache-control": "no-store", "x-request-id": crypto.randomUUID() }
  return path === "/healthz"
    ? Response.json({ status: "ok" }, { headers })
    : path === "/readyz"
      ? Response.json(
          { status: "starting", waitsFor: what },
          { status: 503, headers: { ...headers, "retry-after": String(retryAfter) } }
        )
      : Response.json(
          {
            error: {
              code: "SERVICE_UNAVAILABLE",
              message: `The service is starting. Repeat the request in ${retryAfter} second.`,
              requestId: headers["x-request-id"],
              retryable: true
            }
          },
          { status: 503, headers: { ...headers, "retry-after": String(retryAfter) } }
        )
}

/**
 * Listens on HOST and PORT until the service does. Only the first of several processes does so: a replacement process
 * would take connections from those that serve.
 */
export const layer: Layer.Layer<never, never, AppConfig> = Layer.effect(
  Starting,
  Effect.gen(function* () {
    const { host: hostname, port, processSlot } = yield* AppConfig
    let what = "the database"
    const isAlone = Option.isNone(processSlot)
    const isFirst = Option.exists(processSlot, (own) => own.isFirst)
    if (isFirst) yield* checkPortIsFree({ port, hostname })
    const server =
      isAlone || isFirst
        ? yield* Effect.acquireRelease(
            Effect.orDie(
              Effect.try({
                try: () =>
                  Bun.serve({
                    hostname,
                    port,
                    reusePort: isFirst,
                    fetch: ({ url }) => answer(new URL(url).pathname, what)
                  }),
                catch: (error) => error
              })
            ),
            (running) => Effect.promise(() => running.stop(true))
          )
        : undefined
    return {
      waitsFor: (next) =>
        Effect.sync(() => {
          what = next
        }),
      leave: server === undefined ? Effect.void : Effect.promise(() => server.stop(true))
    }
  })
)
