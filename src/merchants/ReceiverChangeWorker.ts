// Applies changes of receiving addresses when they are due.
import { DateTime, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { DueWork } from "../platform/workers/DueWork.ts"
import { startWorker } from "../platform/workers/startWorker.ts"
import { AuditLog, type Change, service } from "./audit/AuditLog.ts"
import { ReceiverChangeRepo, type WaitingChange } from "./ReceiverChangeRepo.ts"

const batch = 50

export const layer: Layer.Layer<never, never, SqlClient.SqlClient | AuditLog> = Layer.effectDiscard(
  Effect.gen(function* () {
    const repo = yield* ReceiverChangeRepo
    const audit = yield* AuditLog
    const due = yield* DueWork

    const apply = (change: WaitingChange, at: Date) =>
      audit.recording(
        change.merchantId,
        service,
        repo.apply(change, at),
        (outcome): Option.Option<Change> => {
          const { address, env, requestedBy } = change
          switch (outcome._tag) {
            case "Gone":
              return Option.none()
            case "Lost":
              return Option.some({
                action: "receiver.change_lost",
                env,
                summary: `did not apply ${requestedBy}'s change of the receiving address to ${address}: the address now belongs to another merchant`
              })
            case "Applied":
              return Option.some({
                action: "receiver.changed",
                env,
                summary: `changed the receiving address from ${outcome.before} to ${address}, as ${requestedBy} requested`
              })
          }
        }
      )

    yield* startWorker(
      "Changing receiving addresses",
      due.next("receiver changes", "30 seconds"),
      Effect.gen(function* () {
        const at = yield* DateTime.nowAsDate
        const dueChanges = yield* repo.due(at, batch)
        yield* Effect.forEach(
          dueChanges,
          (change) =>
            apply(change, at).pipe(
              Effect.catchCause((cause) =>
                Effect.logError("Applying a receiving address change failed; retrying", cause)
              ),
              Effect.annotateLogs({ merchant: change.merchantId })
            ),
          { discard: true }
        )
        return false
      })
    )
  })
).pipe(Layer.provide(ReceiverChangeRepo.layer))
