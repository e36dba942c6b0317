// Shows other processes that this one is alive. Ends the leases of killed processes within seconds, instead
// of after the lease's 30 seconds.
import { Clock, Context, Effect, Layer, Queue } from "effect"
import { SecureRandom } from "effect/crypto"
import { startPeriodic } from "../../platform/workers/startWorker.ts"
import { DeliveryWake } from "../DeliveryWake.ts"
import { WebhookRepo } from "../WebhookRepo.ts"
import { leaseSeconds } from "./Attempts.ts"

const everyMillis = 1_100
/** The interval while this process is idle and sees no other. */
const restMillis = 10_000
/** Another process counts as dead after this many of our heartbeats without one of its own. */
const missedBeats = 3
const silenceMillis = (missedBeats - 1) * everyMillis

export class WorkerHeartbeat extends Context.Service<
  WorkerHeartbeat,
  {
    /** This process's id, stored with its leases. */
    readonly id: string
    /**
     * Notes the number of running attempts. From the first attempt on, other instances must see that this worker is
     * alive.
     */
    readonly record: (running: number) => Effect.Effect<void>
  }
>()("quittance/webhooks/WorkerHeartbeat") {
  static readonly layer: Layer.Layer<
    WorkerHeartbeat,
    never,
    WebhookRepo | DeliveryWake | SecureRandom.SecureRandom
  > = Layer.effect(
    WorkerHeartbeat,
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const wake = yield* DeliveryWake
      const id = yield* Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())
      const work = yield* Queue.sliding<void>(1)
      let busy = false
      const seen = new Map<string, { readonly heartbeat: string; readonly missed: number }>()

      const beat = Effect.gen(function* () {
        const others = yield* repo.heartbeat(id)
        for (const id of seen.keys()) if (!others.some((other) => other.id === id)) seen.delete(id)
        for (const other of others) {
          const before = seen.get(other.id)
          const missed = before?.heartbeat === other.heartbeat ? before.missed + 1 : 0
          seen.set(other.id, { heartbeat: other.heartbeat, missed })
          if (missed < missedBeats) continue
          seen.delete(other.id)
          // It is alive if it leased deliveries during its silence: it was idle before and is sending them.
          const now = yield* Clock.currentTimeMillis
          const released = yield* repo.takeOverDead(other, {
            at: new Date(now),
            leasedBefore: new Date(now + leaseSeconds * 1000 - silenceMillis),
            leasedAfter: new Date(now + 2 * leaseSeconds * 1000)
          })
          if (released > 0) {
            yield* Effect.logWarning(
              `Another instance stopped responding; its ${released} deliveries are released and sent now`
            )
            yield* wake.nudge
          }
        }
      }).pipe(
        // While the database is unreachable, missed heartbeats prove nothing about other instances.
        Effect.onError(() => Effect.sync(() => seen.clear()))
      )
      const rest = Effect.suspend(() =>
        busy || seen.size > 0
          ? Effect.sleep(everyMillis)
          : Effect.raceFirst(Effect.sleep(restMillis), Queue.take(work))
      )
      yield* startPeriodic("Storing the heartbeat", rest, beat, "Debug")
      yield* Effect.addFinalizer(() =>
        repo.deregister(id).pipe(Effect.timeout("2 seconds"), Effect.ignoreCause)
      )
      return WorkerHeartbeat.of({
        id,
        record: (running) =>
          Effect.suspend(() => {
            const begins = !busy && running > 0
            busy = running > 0
            return begins ? Effect.asVoid(Queue.offer(work, undefined)) : Effect.void
          })
      })
    })
  )
}
