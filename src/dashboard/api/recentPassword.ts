// Guards sensitive changes by a recent confirmation of the user's identity.
import { Clock, Effect } from "effect"
import { PasswordRequired } from "../../domain/Errors.ts"
import { CurrentSession } from "./Session.ts"

/** A session without a recent confirmation, such as a stolen one, cannot change where money goes or who may change that. */
const recentMillis = 5 * 60_000

/** Fails unless the session's user has confirmed their identity, by password or passkey, within five minutes. */
export const recentPassword = Effect.gen(function* () {
  const { confirmedAt } = yield* CurrentSession
  const now = yield* Clock.currentTimeMillis
  if (now - confirmedAt.getTime() > recentMillis) return yield* new PasswordRequired()
})
