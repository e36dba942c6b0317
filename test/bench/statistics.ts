// The few numbers that summarise samples.

/** Lowest, median and highest of several rounds. */
export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** The median, or the mean of the two middle values; NaN for none. */
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

/** A ratio for each round, because a disturbance affects both values of a round. */
export const ratios = (of: ReadonlyArray<number>, to: ReadonlyArray<number>): Spread =>
  spread(of.map((value, round) => value / (to[round] ?? Number.NaN)))
