// Tells the other processes that this one lives, and gives free what a process has claimed that was
// killed: within seconds, where the lease alone would hold it for half a minute.
import { Clock, Context, Effect, Layer, Queue } from "effect"
import { SecureRandom } from "effect/crypto"
import { periodic } from "../../platform/workers/supervised.ts"
import { DeliveryWake } from "../DeliveryWake.ts"
import { WebhookRepo } from "../WebhookRepo.ts"
import { leaseSeconds } from "./Attempts.ts"

const everyMillis = 1_100
/** Alone, and with nothing on its way, it looks seldom whether another has come. */
const restMillis = 10_000
/** Beats of ours, without a failure between them, in which another one has not moved. */
const missedBeats = 3
const silenceMillis = (missedBeats - 1) * everyMillis

export class WorkerHeartbeat extends Context.Service<
  WorkerHeartbeat,
  {
    /** This process's, on what it claims. */
    readonly id: string
    /**
     * Notes the number of running attempts. From the first attempt on, other instances must see that this worker is
     * alive.
     */
    readonly note: (running: number) => Effect.Effect<void>
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
      const seen = new Map<string, { readonly beat: string; readonly missed: number }>()

      const beat = Effect.gen(function* () {
        const others = yield* repo.heartbeat(id)
        for (const known of seen.keys()) if (!others.some((other) => other.id === known)) seen.delete(known)
        for (const other of others) {
          const before = seen.get(other.id)
          const missed = before?.beat === other.beat ? before.missed + 1 : 0
          seen.set(other.id, { beat: other.beat, missed })
          if (missed < missedBeats) continue
          seen.delete(other.id)
          // What it has claimed within its silence it is sending: it lives, and had nothing to do before.
          const now = yield* Clock.currentTimeMillis
          const freed = yield* repo.takeOverDead(other, {
            at: new Date(now),
            leasedBefore: new Date(now + leaseSeconds * 1000 - silenceMillis),
            leasedAfter: new Date(now + 2 * leaseSeconds * 1000)
          })
          if (freed > 0) {
            yield* Effect.logWarning(
              `Another instance stopped responding; its ${freed} deliveries are released and sent now`
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
      yield* periodic("Storing the heartbeat", rest, beat, "Debug")
      yield* Effect.addFinalizer(() =>
        repo.deregister(id).pipe(Effect.timeout("2 seconds"), Effect.ignoreCause)
      )
      return WorkerHeartbeat.of({
        id,
        note: (running) =>
          Effect.suspend(() => {
            const begins = !busy && running > 0
            busy = running > 0
            return begins ? Effect.asVoid(Queue.offer(work, undefined)) : Effect.void
          })
      })
    })
  )
}
