// The supervised fiber that sends due deliveries. Polling alone guarantees delivery; a wake-up only makes it
// prompt.
import { Clock, DateTime, Effect, Exit, Fiber, FiberSet, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { plusMillis } from "../domain/plusMillis.ts"
import { DueWork } from "../platform/workers/DueWork.ts"
import { Readiness } from "../platform/workers/Readiness.ts"
import { startWorker } from "../platform/workers/startWorker.ts"
import { DeliveryWake } from "./DeliveryWake.ts"
import { Attempts, leaseSeconds } from "./DeliveryWorker/Attempts.ts"
import { initialWindow, makeEndpointPacing } from "./DeliveryWorker/EndpointPacing.ts"
import { makeQueueStarts } from "./DeliveryWorker/QueueStarts.ts"
import { WorkerHeartbeat } from "./DeliveryWorker/WorkerHeartbeat.ts"
import type { LeasedDelivery } from "./WebhookRepo/WebhookStore.ts"
import { WebhookRepo } from "./WebhookRepo.ts"

/** Attempts in flight in this process, over all endpoints. */
const maxInFlight = 1024
/**
 * The maximum number of attempts to unproven endpoints. Even if all hang, the rest is free for proven ones.
 */
const maxUnproven = 512
/** From this number of attempts on, an endpoint gets no second attempt in parallel. */
const maxRunningForParallel = 768
/** With fewer unanswered attempts than this, deliveries may be leased ahead. */
const maxUnansweredForLeasingAhead = 512
/** A delivery that waits longer is released: its lease runs out, and its endpoint may have changed. */
const maxAheadMillis = 2_000
const batchSize = 256
/** The time running attempts may take after the service stops; longer than any attempt. */
const stopSeconds = 20

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

const make = Effect.gen(function* () {
  const repo = yield* WebhookRepo
  const due = yield* DueWork
  const attempts = yield* Attempts
  const wake = yield* DeliveryWake
  const random = yield* SecureRandom.SecureRandom
  const heartbeat = yield* WorkerHeartbeat
  const running = new Map<string, LeasedDelivery>()
  let unproven = 0
  let unanswered = 0
  const pacing = makeEndpointPacing()
  const queueStarts = makeQueueStarts()
  const { stopping } = yield* Readiness
  let stopped = false

  /** Releases leased deliveries. Deliveries that it does not release are sent after their lease expires. */
  const release = Effect.fnUntraced(function* (deliveries: ReadonlyArray<LeasedDelivery>) {
    yield* repo
      .release(deliveries, yield* DateTime.nowAsDate)
      .pipe(Effect.timeout("5 seconds"), Effect.ignoreCause)
  })

  const clock = yield* Clock.Clock
  const fibers = yield* FiberSet.make<unknown>()
  /** Takes a slot and returns the attempt to start. */
  const admit = (delivery: LeasedDelivery) => {
    const { endpointId } = delivery.target
    running.set(delivery.leaseId + delivery.id, delivery)
    const isProven = pacing.accepts(endpointId) ?? delivery.isProven
    if (!isProven) unproven++
    unanswered++
    const turn = pacing.enter(endpointId)
    return Effect.suspend(() => {
      const started = clock.currentTimeMillisUnsafe()
      let sentFrom = started
      let hasLeft = false
      /** Frees the endpoint's slot once it has answered; recording the answer needs no slot. */
      const leave = (ok: boolean) => {
        if (hasLeft) return Effect.void
        hasLeft = true
        unanswered--
        const durationMs = clock.currentTimeMillisUnsafe() - sentFrom
        return pacing.leave(endpointId, { ok, durationMs }) ? wake.nudge : Effect.void
      }
      const giveBack = () => {
        hasLeft = true
        unanswered--
        pacing.leave(endpointId, undefined)
        return Effect.as(release([delivery]), false)
      }
      const send = attempts.run(delivery, leave)
      const inTurn =
        turn === undefined
          ? send
          : Effect.flatMap(turn, () => {
              sentFrom = clock.currentTimeMillisUnsafe()
              const isLate = sentFrom > started + maxAheadMillis
              return isLate || stopped || stopping() || !pacing.isFast(endpointId) ? giveBack() : send
            })
      return Effect.onExit(inTurn, (exit) => {
        // Leases that found no capacity in the process wait for this event.
        const full = running.size >= maxInFlight
        running.delete(delivery.leaseId + delivery.id)
        if (!isProven) unproven--
        const leaving = leave(Exit.isSuccess(exit) && exit.value)
        return full ? Effect.andThen(leaving, wake.nudge) : leaving
      })
    })
  }

  /** Leases and starts due deliveries within capacity. True if the limit or a capacity may have left some. */
  const leaseBatch = Effect.gen(function* () {
    const limit = Math.min(batchSize, maxInFlight - running.size)
    if (limit <= 0 || stopped || stopping()) return false
    const at = yield* DateTime.nowAsDate
    const begun = yield* monotonicMillis
    const room =
      running.size >= maxRunningForParallel
        ? "none"
        : unanswered >= maxUnansweredForLeasingAhead
          ? "some"
          : "ample"
    const capacities = pacing.capacities(room)
    const deliveries = yield* repo
      .leaseDue({
        leaseId: yield* random.uuidV4(),
        leasedBy: heartbeat.id,
        at,
        leaseUntil: plusMillis(at, leaseSeconds * 1000),
        limit,
        limitUnproven: Math.max(0, maxUnproven - unproven),
        perEndpoint: initialWindow,
        capacities,
        queueStarts: queueStarts.of(begun)
      })
      // A half-open connection to the database must not hold the worker.
      .pipe(Effect.timeout("10 seconds"))
    queueStarts.recordLease(begun, yield* monotonicMillis, deliveries)
    const attempted = deliveries.map(admit)
    const startAll = Effect.forEach(attempted, (attempt) => FiberSet.run(fibers, attempt), { discard: true })
    yield* FiberSet.run(fibers, startAll)
    yield* heartbeat.record(running.size)
    // While these are sent, the next deliveries of a fast endpoint are leased.
    const counts = Map.groupBy(deliveries, ({ target }) => target.endpointId)
    const isFilled = capacities.some(
      ({ capacity, endpointId }) =>
        counts.get(endpointId)?.length === capacity && pacing.takesMore(endpointId)
    )
    return deliveries.length >= limit || isFilled
  })

  /** Starts the next lease before the last one's deliveries are sent: `repeat` would yield to them. */
  const leaseUntilEmpty = Effect.gen(function* () {
    let isMore = true
    while (isMore) isMore = yield* leaseBatch
    return false
  })
  // A lease finishes apart from the loop, so that a stop releases what it leased.
  const leaseInOwnFiber = Effect.flatMap(FiberSet.run(fibers, leaseUntilEmpty), Fiber.join)

  yield* startWorker(
    "Leasing webhook deliveries",
    Effect.race(wake.wait, due.next("deliveries", "1 second")),
    leaseInOwnFiber
  )

  // On stop: leases nothing more, waits for running attempts, releases the rest.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      stopped = true
      yield* FiberSet.awaitEmpty(fibers).pipe(
        Effect.interruptible,
        Effect.timeoutOption(`${stopSeconds} seconds`)
      )
      const unfinished = [...running.values()]
      if (unfinished.length > 0) yield* release(unfinished)
    })
  )
})

/** Sends due deliveries until its scope closes. */
export const layer: Layer.Layer<
  never,
  never,
  WebhookRepo | Attempts | DeliveryWake | SecureRandom.SecureRandom
> = Layer.effectDiscard(make).pipe(Layer.provide(WorkerHeartbeat.layer))
