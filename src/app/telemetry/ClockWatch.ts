// Compares this machine's clock with the database's and with the chain's newest blocks. A wrong clock raises
// an alert; the service itself uses the database's clock.
import { Clock, Effect, Layer, Option } from "effect"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { Alert } from "../../platform/alerts/Alert.ts"
import { Alerts } from "../../platform/alerts/Alerts.ts"
import { ClockRepo } from "../../platform/database/ClockRepo.ts"
import { clockOf, maxClockSkewSeconds, secondsAhead } from "../../platform/database/DatabaseClock.ts"
import { Networks } from "../../platform/Networks.ts"
import { startPeriodic } from "../../platform/workers/startWorker.ts"

const checkInterval = "30 seconds"
/**
 * Instances share the alert. An instance with a correct clock closes an alert of this age, because the
 * instance that raised it may have been replaced; an instance that is still wrong raises it again.
 */
const staleAlertMillis = 6 * 3_600_000
/** How often an instance with a correct clock looks for such an alert. */
const recheckMillis = 600_000
/** Longer than a wrong instance takes to raise it again: the alert then reopens without a notification. */
const reopenMillis = 300_000

const make = Effect.gen(function* () {
  const chain = yield* ChainVerifier
  const database = yield* ClockRepo
  const alerts = yield* Alerts
  const { executing } = yield* Networks
  /** Each chain's newest block at the last check. */
  const seen = new Map<Env, { readonly number: bigint; readonly at: number }>()

  /**
   * The time at which the alert of a correct clock was last resolved, so that not every reading resolves it
   * again.
   */
  const resolvedAt = new Map<string, number>()

  /** Alerts always use the database's time: a wrong clock would make them look old, or date them ahead. */
  const byDatabase = <A>(work: (now: Date) => Effect.Effect<A>) =>
    Effect.gen(function* () {
      const machine = yield* Clock.Clock
      const now = yield* database.now
      const millis = () => now.getTime()
      const clock = clockOf(machine, millis, () => BigInt(millis()) * 1_000_000n)
      return yield* Effect.provideService(work(now), Clock.Clock, clock)
    })

  const judge = Effect.fnUntraced(function* (subject: string, what: string, ahead: number) {
    if (Math.abs(ahead) > maxClockSkewSeconds) {
      resolvedAt.delete(subject)
      const alert: Alert = {
        kind: "clock_skew",
        tenant: Option.none(),
        subject,
        message: `This machine's clock is ${Math.round(Math.abs(ahead))} s ${ahead > 0 ? "ahead of" : "behind"} ${what}. Synchronise both with NTP.`
      }
      return yield* byDatabase((at) =>
        alerts.raise({ ...alert, resumesSince: plusMillis(at, -reopenMillis) })
      )
    }
    const now = yield* Clock.currentTimeMillis
    const last = resolvedAt.get(subject)
    if (last !== undefined && now - last < recheckMillis) return
    yield* byDatabase((at) =>
      alerts.resolve(
        "clock_skew",
        subject,
        last === undefined ? undefined : plusMillis(at, -staleAlertMillis)
      )
    )
    resolvedAt.set(subject, now)
  })

  const withDatabase = Effect.gen(function* () {
    const before = yield* Clock.currentTimeMillis
    const now = yield* database.now
    yield* judge(
      "database",
      "the database's",
      secondsAhead(before, yield* Clock.currentTimeMillis, now.getTime())
    )
  })

  /** A stalled chain says nothing about clocks: only a block newer than the last check counts. */
  const withChain = Effect.fnUntraced(function* (env: Env) {
    const head = yield* Effect.option(chain.headBlock(env))
    if (Option.isNone(head)) return
    const now = yield* Clock.currentTimeMillis
    const last = seen.get(env)
    seen.set(env, { number: head.value.number, at: now })
    const mined = Number(head.value.time) * 1000
    const fresh = last !== undefined && head.value.number > last.number
    if (!fresh && mined <= now) return
    yield* judge(
      `chain ${env}`,
      `${networks[env].name}'s newest block`,
      secondsAhead(last?.at ?? now, now, mined)
    )
  })

  yield* startPeriodic(
    "Checking the clocks",
    Effect.sleep(checkInterval),
    Effect.all([withDatabase, ...executing.map(withChain)], { discard: true }),
    "Warn"
  )
})

export const layer: Layer.Layer<never, never, ChainVerifier | ClockRepo | Alerts> = Layer.effectDiscard(make)
