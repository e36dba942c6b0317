// The service uses the database's time, which all instances share: leases, due times and tokens are the same even on a
// machine whose own clock is wrong.
import { Clock, Context, Effect, Layer } from "effect"
import { startPeriodic } from "../workers/startWorker.ts"
import { ClockRepo } from "./ClockRepo.ts"

const checkInterval = "15 seconds"
/** Smaller differences are ignored, so that time does not jump back and forth. */
const ignoredSeconds = 0.5
/** Seconds by which two clocks may differ. A greater difference is reported to the operator. */
export const maxClockSkewSeconds = 20

/** The seconds by which this machine is ahead of another clock, which was read between two readings of ours. */
export const secondsAhead = (beforeMillis: number, afterMillis: number, otherMillis: number): number => {
  if (otherMillis > afterMillis) return (afterMillis - otherMillis) / 1000
  return otherMillis < beforeMillis ? (beforeMillis - otherMillis) / 1000 : 0
}

/** The machine's clock with a corrected current time. Durations and sleeps are still the machine's. */
export const clockOf = (machine: Clock.Clock, millis: () => number, nanos: () => bigint): Clock.Clock => ({
  currentTimeMillisUnsafe: millis,
  currentTimeMillis: Effect.sync(millis),
  currentTimeNanosUnsafe: nanos,
  currentTimeNanos: Effect.sync(nanos),
  monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: machine.monotonicTimeNanos,
  sleep: (duration) => machine.sleep(duration)
})

const make = Effect.gen(function* () {
  const machine = yield* Clock.Clock
  const database = yield* ClockRepo
  let aheadMillis = 0

  const measure = Effect.gen(function* () {
    const before = machine.currentTimeMillisUnsafe()
    const now = yield* database.now
    const ahead = secondsAhead(before, machine.currentTimeMillisUnsafe(), now.getTime())
    const difference = Math.abs(ahead * 1000 - aheadMillis)
    if (difference > ignoredSeconds * 1000) aheadMillis = Math.abs(ahead) > ignoredSeconds ? ahead * 1000 : 0
  })
  yield* measure
  yield* startPeriodic(
    "Reading the database's clock",
    Effect.void,
    Effect.delay(measure, checkInterval),
    "Warn"
  )

  return clockOf(
    machine,
    () => machine.currentTimeMillisUnsafe() - aheadMillis,
    () => machine.currentTimeNanosUnsafe() - BigInt(Math.round(aheadMillis)) * 1_000_000n
  )
})

/** Provides the database's time as `Clock`. */
export const layer = Layer.effect(Clock.Clock, make).pipe(Layer.provide(ClockRepo.layer))

/** Provides this machine's own time as `Clock`, for what must not use the database's. */
export const layerMachine = Layer.succeed(Clock.Clock, Context.get(Context.empty(), Clock.Clock))
