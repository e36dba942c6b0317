// Latency and errors of JSON-RPC exchanges by node. A node's label is its host, which the configuration bounds; its
// path and credentials never are.
import { Clock, Effect, type Metric } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { secondsBy } from "../../platform/metrics/series.ts"
import type { NodeFailure } from "./NodeFailure.ts"

const duration = secondsBy("quittance_rpc_request_duration_seconds", "JSON-RPC exchanges by node and outcome")

/** Times the exchanges with one node. */
export const timedExchange = (env: Env, node: string) => {
  const byOutcome = new Map<string, Metric.Histogram<number>>()
  const note = (outcome: NodeFailure["kind"] | "ok", started: bigint) =>
    Effect.withFiber<void>((fiber) => {
      const series = byOutcome.get(outcome) ?? duration({ env, node, outcome })
      byOutcome.set(outcome, series)
      const took = fiber.getRef(Clock.Clock).monotonicTimeNanosUnsafe() - started
      series.updateUnsafe(Number(took) / 1e9, fiber.context)
      return Effect.void
    })
  return <A, R>(exchange: Effect.Effect<A, NodeFailure, R>): Effect.Effect<A, NodeFailure, R> =>
    Effect.flatMap(Clock.monotonicTimeNanos, (started) =>
      exchange.pipe(
        Effect.tap(() => note("ok", started)),
        Effect.tapError(({ kind }) => note(kind, started))
      )
    )
}
