// The real clock, moved ahead as a test says: time passes, sleeps are real, and a window of a day can be crossed at
// once.
import { Clock, Effect, Layer } from "effect"

export const makeShiftedClock = () => {
  let aheadMillis = 0
  const real = Clock.Clock.defaultValue()
  const now = () => real.currentTimeMillisUnsafe() + aheadMillis
  const nanos = () => real.currentTimeNanosUnsafe() + BigInt(aheadMillis) * 1_000_000n
  const shifted: Clock.Clock = {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration)
  }
  return {
    layer: Layer.succeed(Clock.Clock, shifted),
    run: Effect.provideService(Clock.Clock, shifted),
    /** Moves the clock ahead. */
    pass: (seconds: number) =>
      Effect.sync(() => {
        aheadMillis += seconds * 1000
      })
  }
}
