// Raises an alert if work waits too long, or if a worker keeps failing. Waiting work is read from the
// database, so a worker that never started counts as stopped.
import { Clock, DateTime, Effect, Layer, Option, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { haltMillis } from "../../chain/ChainHeights.ts"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { Alerts } from "../../platform/alerts/Alerts.ts"
import { Networks } from "../../platform/Networks.ts"
import { queues } from "../../platform/workers/DueWork.ts"
import { startPeriodic } from "../../platform/workers/startWorker.ts"
import { WorkerProgress } from "../../platform/workers/WorkerProgress.ts"
import { type Backlog, BacklogRepo } from "./BacklogRepo.ts"
import { stalledQueues, unreadNetworks } from "./stalledWork.ts"

const checkInterval = "30 seconds"
/**
 * A worker or a measurement that fails, or a reading of blocks that does not gain on the chain, raises an alert after
 * this long.
 */
const failingMillis = 5 * 60_000

/** The subject of the alert while the backlog cannot be read. */
const measuring = "measuring"

interface Stalled {
  readonly message: string
  /** The network of the work; absent for work of all networks. */
  readonly env?: Env
}

/** How far the transfers of a network were read when the reading was first seen, or last gained on the chain. */
interface Reading {
  readonly until: Date | undefined
  readonly lag: number
  readonly at: number
}

const make = Effect.gen(function* () {
  const repo = yield* BacklogRepo
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts
  const progress = yield* WorkerProgress
  const { executing } = yield* Networks
  let measuredAt = yield* Clock.currentTimeMillis
  /** Subjects whose alert may be open, because an earlier process may have raised it. */
  const open = new Set<string>([measuring, ...queues, ...executing.map((env) => `transfers ${env}`)])

  const readings = new Map<Env, Reading>()
  const halts = new Set<string>(executing.map((env) => `chain ${env}`))

  /** This instance runs, so the cause is an error. */
  const troubleOf = (worker: string | undefined) => {
    const troubles = progress
      .failures()
      .filter((trouble) => worker === undefined || trouble.worker === worker)
    return troubles.length === 0
      ? "Look for errors in the service's log."
      : `In this instance: ${troubles.map(({ reason, worker: name }) => `${name}: ${reason}`).join("; ")}.`
  }

  /** Near the chain's end the lag varies, so any new block is a gain there. */
  const noteReading = (env: Env, until: Date | undefined, now: number) => {
    const last = readings.get(env)
    const lag = until === undefined ? Number.POSITIVE_INFINITY : now - until.getTime()
    const hasGained =
      last === undefined ||
      (until?.getTime() !== last.until?.getTime() && lag < Math.max(last.lag, failingMillis))
    if (hasGained) readings.set(env, { until, lag, at: now })
  }

  /** If the chain has no block newer than what was read, the chain has halted; otherwise the reading is behind. */
  const whyUnread = Effect.fnUntraced(function* (env: Env, until: Date | undefined) {
    const head = yield* Effect.option(chain.headBlock(env))
    if (Option.isNone(head)) return { _tag: "Behind", cause: "Too few of its nodes answer." } as const
    const newest = new Date(Number(head.value.time) * 1_000)
    const isNewer = until === undefined || newest.getTime() - until.getTime() > haltMillis
    return isNewer
      ? ({ _tag: "Behind", cause: troubleOf(`transfers ${env}`) } as const)
      : ({ _tag: "Halted", newest } as const)
  })

  const alertHalt = Effect.fnUntraced(function* (env: Env, newest: Date | undefined) {
    const subject = `chain ${env}`
    if (newest === undefined) {
      if (halts.delete(subject)) yield* alerts.resolve("chain_halted", subject)
      return
    }
    halts.add(subject)
    yield* alerts.raise({
      kind: "chain_halted",
      tenant: Option.none(),
      env,
      subject,
      message: `A majority of the nodes of ${networks[env].name} shows no block after ${newest.toISOString()}. Nothing settles there, and no payment expires, until the chain produces blocks again. Nothing is lost.`
    })
  })

  const lookAt = Effect.fnUntraced(function* (backlog: Backlog, now: Date, stalled: Map<string, Stalled>) {
    for (const { cause, message, queue } of stalledQueues(backlog, now))
      stalled.set(queue, { message: `${message} ${cause ?? troubleOf(undefined)}` })
    const halted = new Map<Env, Date>()
    for (const [env, until] of backlog.readUntil) noteReading(env, until, now.getTime())
    /** The reading is behind, and may be catching up: that raises no alert, and closes none. */
    const undecided = new Set<string>()
    for (const { env, message, until } of unreadNetworks(backlog, now)) {
      const why = yield* whyUnread(env, until)
      const idleMillis = now.getTime() - (readings.get(env)?.at ?? now.getTime())
      if (why._tag === "Halted") halted.set(env, why.newest)
      else if (idleMillis >= failingMillis)
        stalled.set(`transfers ${env}`, { env, message: `${message} ${why.cause}` })
      else undecided.add(`transfers ${env}`)
    }
    for (const env of executing) yield* alertHalt(env, halted.get(env))
    return undecided
  })

  const look = Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    const stalled = new Map<string, Stalled>()
    const backlog = yield* Effect.result(repo.read(now))
    // Without a backlog, no open alert is closed.
    let undecided: ReadonlySet<string> = open
    if (Result.isSuccess(backlog)) {
      measuredAt = now.getTime()
      undecided = yield* lookAt(backlog.success, now, stalled)
    } else if (now.getTime() - measuredAt >= failingMillis) {
      // The reading may have moved unseen.
      readings.clear()
      stalled.set(measuring, {
        message: `Waiting work has not been measured since ${new Date(measuredAt).toISOString()}: ${backlog.failure.message}. Until it is measured again, no alert about a queue or about unread blocks is raised or closed.`
      })
    }
    for (const { since, reason, worker } of progress.failures()) {
      if (now.getTime() - since < failingMillis || stalled.has(worker)) continue
      const env = executing.find((network) => worker === `transfers ${network}`)
      const message = `${worker} has failed since ${new Date(since).toISOString()}: ${reason}`
      stalled.set(worker, env === undefined ? { message } : { env, message })
    }

    for (const [subject, problem] of stalled) {
      open.add(subject)
      yield* alerts.raise({ kind: "work_stalled", tenant: Option.none(), subject, ...problem })
    }
    for (const subject of open) {
      if (stalled.has(subject) || undecided.has(subject)) continue
      yield* alerts.resolve("work_stalled", subject)
      open.delete(subject)
    }
    yield* Effect.fromResult(backlog)
  })

  yield* startPeriodic("Looking for work that has stopped", Effect.sleep(checkInterval), look, "Warn")
})

export const layer: Layer.Layer<never, never, ChainVerifier | Alerts | SqlClient.SqlClient> =
  Layer.effectDiscard(make).pipe(Layer.provide(BacklogRepo.layer))
