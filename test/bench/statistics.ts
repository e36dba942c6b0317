// The few numbers that samples are told by.

/** Least, middle and greatest of several rounds. */
export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** Milliseconds. */
export interface Quantiles {
  readonly p50: number
  readonly p99: number
}

/** The smallest value that at least `share` of all are not above (nearest rank); NaN of nothing. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN

/** The middle value, or the mean of the two in the middle. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2
}

export const spread = (values: ReadonlyArray<number>): Spread => ({
  min: quantile(values, 0),
  median: median(values),
  max: quantile(values, 1)
})

export const quantiles = (values: ReadonlyArray<number>): Quantiles => ({
  p50: quantile(values, 0.5),
  p99: quantile(values, 0.99)
})

/** Of each round its own ratio, as what disturbs a round disturbs both. */
export const ratios = (of: ReadonlyArray<number>, to: ReadonlyArray<number>): Spread => {
  if (of.length !== to.length) throw new Error(`${of.length} rounds against ${to.length}`)
  return spread(of.map((value, round) => value / (to[round] ?? Number.NaN)))
}
