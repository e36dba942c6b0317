// A run's settings. The defaults are those of published results, except for growth and year, published with
// BENCH_GROWTH=10000000 and BENCH_YEAR=10000000; smaller numbers try a change.
const count = (name: string, fallback: number) => {
  const value = Number(process.env[name] ?? fallback)
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be an integer from 1`)
  return value
}

export const settings = {
  /** Timed rounds of every comparison, after one that does not count. */
  rounds: count("BENCH_ROUNDS", 5),
  /** Seconds of load on one server in one round. */
  seconds: count("BENCH_SECONDS", 3),
  /** Due deliveries that a drain sends. */
  drain: count("BENCH_DRAIN", 10_000),
  /** The largest table of the growth, 1,000 at least. */
  growth: count("BENCH_GROWTH", 1_000_000),
  /** Payments of the one merchant whose year is read; published with 3,000,000 and 10,000,000. */
  year: count("BENCH_YEAR", 1_000_000)
}
