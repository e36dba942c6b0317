import { Effect } from "effect"
import type { Asker } from "../../merchants/audit/AuditLog.ts"
import { CurrentMember, CurrentSession } from "./Session.ts"

/** The requester of a change, to check the permission again when the change is made. */
export const currentAsker = Effect.gen(function* () {
  const { hash } = yield* CurrentSession
  const { role, user } = yield* CurrentMember
  const asker: Asker = { id: user.id, name: user.email, role, session: hash }
  return asker
})
