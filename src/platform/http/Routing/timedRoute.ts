// Rate, latency and errors of requests by route: the contract's `group.endpoint`, or
// `unrouted`, and the class of the status.
import { Clock, Effect, type Metric } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { AppConfig } from "../../AppConfig.ts"
import { secondsBy } from "../../metrics/series.ts"

const duration = secondsBy("quittance_http_request_duration_seconds", "Requests by route and class of status")

type Timed = <E, R>(
  handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

const untimed: Timed = (handled) => handled

/** Times a route's requests; returns the effect unchanged while metrics are off. */
export const timedRoute = ({ metrics, otlp }: typeof AppConfig.Service, route: string): Timed => {
  if (metrics._tag === "None" && otlp._tag === "None") return untimed
  const byClass: Array<Metric.Histogram<number> | undefined> = []
  return (handled) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      return Effect.map(handled, (response) => {
        const digit = Math.floor(response.status / 100)
        const series = byClass[digit] ?? duration({ route, status: `${digit}xx` })
        byClass[digit] = series
        series.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - start) / 1e9, fiber.context)
        return response
      })
    })
}
