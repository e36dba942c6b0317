// A member's change of the merchant, recorded in the audit log.
import { Effect, type Option } from "effect"
import { AuditLog, type Change } from "../../merchants/audit/AuditLog.ts"
import { currentCaller } from "./currentCaller.ts"
import { CurrentMember } from "./Session.ts"

/** Fails if the member has lost the session, the membership or the role since the request was allowed. */
export const makeRecording = Effect.map(AuditLog, (audit) =>
  Effect.fnUntraced(function* <A, E, R>(
    change: Effect.Effect<A, E, R>,
    changeOf: (outcome: A) => Option.Option<Change>
  ) {
    const { merchantId } = (yield* CurrentMember).tenant
    const caller = yield* currentCaller
    return yield* audit.recording(merchantId, caller, audit.permitted(merchantId, caller, change), changeOf)
  })
)
