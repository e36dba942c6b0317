// Metrics with a fixed set of series. The code or the configuration bounds the values of labels: never an id, an
// address or a URL.
import { Context, Effect, Metric } from "effect"

/** A counter without labels, exported from the start, so that the first increase is visible. */
export const counterOf = (name: string, description: string): Metric.Counter<number> => {
  const counter = Metric.counter(name, { description, incremental: true })
  counter.updateUnsafe(0, Context.empty())
  return counter
}

/** A counter with one series for each value of its label, exported from the start. */
export const counterBy = <const V extends string>(
  name: string,
  description: string,
  label: string,
  values: ReadonlyArray<V>
): ((value: V) => Effect.Effect<void>) => {
  const increments = new Map<V, Effect.Effect<void>>()
  for (const value of values) {
    const series = Metric.counter(name, { description, incremental: true, attributes: { [label]: value } })
    series.updateUnsafe(0, Context.empty())
    increments.set(value, Metric.update(series, 1))
  }
  return (value) => increments.get(value) ?? Effect.void
}

/** A gauge with one series for each value of its label. */
export const gaugeBy =
  (name: string, description: string) =>
  (attributes: Readonly<Record<string, string>>): Metric.Gauge<number> =>
    Metric.gauge(name, { description, attributes })

/** Upper bounds in seconds, from a database round trip to a request that gave up. */
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/** A histogram of seconds; each series is created when its labels are first seen. */
export const secondsBy =
  (name: string, description: string) =>
  (attributes: Readonly<Record<string, string>>): Metric.Histogram<number> =>
    Metric.histogram(name, { description, boundaries: seconds, attributes })
