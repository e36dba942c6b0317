// Makes the changes of receiving addresses whose time has come.
import { DateTime, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { DueWork } from "../platform/workers/DueWork.ts"
import { supervised } from "../platform/workers/supervised.ts"
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
                summary: `left the receiving address as it is: ${address}, which ${requestedBy} asked for, has become another merchant's`
              })
            case "Applied":
              return Option.some({
                action: "receiver.changed",
                env,
                summary: `changed the receiving address from ${outcome.before} to ${address}, as ${requestedBy} asked`
              })
          }
        }
      )

    yield* supervised(
      "Changing receiving addresses",
      due.next("receiver changes", "30 seconds"),
      Effect.gen(function* () {
        const at = yield* DateTime.nowAsDate
        const found = yield* repo.due(at, batch)
        yield* Effect.forEach(
          found,
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
