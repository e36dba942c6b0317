// `/metrics` for Prometheus (text exposition 0.0.4), on a separate listener, because its figures are for the
// operator and not for the public.
import { Data, Effect, Layer, Option } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { AppConfig } from "../../platform/AppConfig.ts"
import { registerProcessMetrics } from "./registerProcessMetrics.ts"

/** The metrics listener cannot listen. `message` is the whole sentence for the operator. */
export class MetricsRefusal extends Data.TaggedError("MetricsRefusal")<{ readonly message: string }> {}

const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" }

const listen = ({ host, port }: { readonly host: string; readonly port: number }) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    registerProcessMetrics()
    yield* Effect.acquireRelease(
      Effect.try({
        try: () =>
          Bun.serve({
            hostname: host,
            port,
            routes: {
              "/metrics": {
                GET: () => new Response(PrometheusMetrics.formatUnsafe(context), { headers })
              }
            },
            fetch: () => new Response("Metrics are at /metrics.\n", { status: 404 })
          }),
        catch: () =>
          new MetricsRefusal({
            message: `METRICS_PORT must be a free port on METRICS_HOST, followed by a free port for each further process of WORKERS; ${host}:${port} is not available.`
          })
      }),
      (server) => Effect.promise(() => server.stop(true))
    )
  })

/** Listens if METRICS_PORT is set. Each of several processes has its own port, counted up from there. */
export const layer: Layer.Layer<never, MetricsRefusal, AppConfig> = Layer.effectDiscard(
  Effect.flatMap(AppConfig, ({ metrics, processSlot }) =>
    Option.match(metrics, {
      onNone: () => Effect.void,
      onSome: ({ host, port }) =>
        listen({
          host,
          port: port + Option.match(processSlot, { onNone: () => 0, onSome: ({ number }) => number - 1 })
        })
    })
  )
)
