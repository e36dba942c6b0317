// A stand-in for an OpenTelemetry collector: accepts OTLP over HTTP in JSON and stores it.
import { Effect, type Scope } from "effect"

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

const attributesOf = (all: ReadonlyArray<KeyValue> = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]]))

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface CollectedLog {
  readonly body: unknown
  readonly severity: string
  readonly traceId: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface Collector {
  readonly url: string
  /** Everything received, as text. */
  readonly text: () => string
  readonly headers: () => ReadonlyArray<Headers>
  readonly spans: () => ReadonlyArray<CollectedSpan>
  readonly logs: () => ReadonlyArray<CollectedLog>
  readonly metricNames: () => ReadonlySet<string>
  readonly resources: () => ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** Listens on a free port, for the scope. */
export const collector: Effect.Effect<Collector, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const bodies: Array<string> = []
      const headers: Array<Headers> = []
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          headers.push(request.headers)
          bodies.push(await request.text())
          return Response.json({})
        }
      })
      return { bodies, headers, server }
    }),
    ({ server }) => Effect.promise(() => server.stop(true))
  ),
  ({ bodies, headers, server }) => {
    // biome-ignore lint/suspicious/noExplicitAny: OTLP as it came, looked into by tests
    const all = (): ReadonlyArray<any> => bodies.map((body) => JSON.parse(body))
    const groups = (kind: string) => all().flatMap((body) => body[kind] ?? [])
    return {
      url: `http://127.0.0.1:${server.port}`,
      text: () => bodies.join("\n"),
      headers: () => headers,
      spans: () =>
        groups("resourceSpans")
          .flatMap((one) => one.scopeSpans)
          .flatMap((one) => one.spans)
          .map((span) => ({ ...span, attributes: attributesOf(span.attributes) })),
      logs: () =>
        groups("resourceLogs")
          .flatMap((one) => one.scopeLogs)
          .flatMap((one) => one.logRecords)
          .map((log) => ({
            body: Object.values(log.body)[0],
            severity: log.severityText,
            traceId: log.traceId,
            attributes: attributesOf(log.attributes)
          })),
      metricNames: () =>
        new Set(
          groups("resourceMetrics")
            .flatMap((one) => one.scopeMetrics)
            .flatMap((one) => one.metrics)
            .map((metric) => metric.name)
        ),
      resources: () =>
        ["resourceSpans", "resourceLogs", "resourceMetrics"]
          .flatMap(groups)
          .map((one) => attributesOf(one.resource.attributes))
    }
  }
)
