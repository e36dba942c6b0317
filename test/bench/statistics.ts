// The few numbers that samples are told by.

/** Least, middle and greatest of several rounds. */
export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2
}

export const spread = (values: ReadonlyArray<number>): Spread => ({
  min: Math.min(...values),
  median: median(values),
  max: Math.max(...values)
})

/** Of each round its own ratio, as what disturbs a round disturbs both. */
export const ratios = (of: ReadonlyArray<number>, to: ReadonlyArray<number>): Spread =>
  spread(of.map((value, round) => value / (to[round] ?? Number.NaN)))
