// Identifies the session's user for changes whose permission is checked as they are written.
import { Effect } from "effect"
import type { Requester } from "../../merchants/audit/AuditLog.ts"
import { CurrentMember, CurrentSession } from "./Session.ts"

/** The user who requests a change, to check the permission again when the change is made. */
export const currentCaller = Effect.gen(function* () {
  const { hash } = yield* CurrentSession
  const { role, user } = yield* CurrentMember
  const caller: Requester = { id: user.id, name: user.email, role, session: hash }
  return caller
})
