// Sends traces, metrics and logs to an OpenTelemetry collector (OTLP over HTTP, JSON), if one is configured.
// While the collector is down, only its data is lost.
import { Effect, Layer, Option, Redacted, References, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient, HttpMiddleware } from "effect/http"
import { Otlp } from "effect/observability"
import { version } from "../../../package.json"
import { AppConfig } from "../../platform/AppConfig.ts"

/** Repositories and statements outside of any request or job: workers poll several times a second. */
const isPolling = ({ kind, name, parent }: Parameters<Tracer.Tracer["span"]>[0]) =>
  Option.isNone(parent) && (kind === "client" || /^\w+Repo\./.test(name))

/** Attributes that may contain a key from the caller's URL; `http.route` identifies the endpoint. */
const callersWords: ReadonlySet<string> = new Set(["url.full", "url.path", "url.query"])

const withoutCallersWords = (span: Tracer.Span): Tracer.Span => {
  const note = span.attribute.bind(span)
  return Object.assign(span, {
    attribute: (key: string, value: unknown) => {
      if (!callersWords.has(key)) note(key, value)
    }
  })
}

const tracer = Layer.effect(
  Tracer.Tracer,
  Effect.map(Tracer.Tracer, (exporter) =>
    Tracer.make({
      ...(exporter.context === undefined ? {} : { context: exporter.context }),
      span: (options) => {
        if (isPolling(options)) return exporter.span({ ...options, sampled: false })
        const span = exporter.span(options)
        return options.kind === "server" ? withoutCallersWords(span) : span
      }
    })
  )
)

const nameOfRequests = Layer.succeed(HttpMiddleware.SpanNameGenerator, ({ method }) => `HTTP ${method}`)

/** The exporters and the tracer; nothing if OTEL_EXPORTER_OTLP_ENDPOINT is unset. */
export const layer: Layer.Layer<never, never, AppConfig | SecureRandom.SecureRandom> = Layer.unwrap(
  Effect.gen(function* () {
    const { otlp, environment } = yield* AppConfig
    // Spans cost a sixth of a request, even if they are not exported.
    if (Option.isNone(otlp)) return Layer.succeed(References.TracerEnabled, false)
    const random = yield* SecureRandom.SecureRandom
    const { url, headers } = otlp.value
    return Layer.merge(tracer, nameOfRequests).pipe(
      Layer.provideMerge(
        Otlp.layerJson({
          baseUrl: url,
          headers: Object.entries(headers).map(([name, value]) => [name, Redacted.value(value)] as const),
          resource: {
            serviceName: "quittance",
            serviceVersion: version,
            attributes: {
              "service.instance.id": yield* random.uuidV4(),
              "deployment.environment.name": environment
            }
          },
          loggerExcludeLogSpans: true,
          // For each of the three exporters, within the total time limit of a stop.
          shutdownTimeout: "1 second"
        })
      ),
      Layer.provide(FetchHttpClient.layer)
    )
  })
)
