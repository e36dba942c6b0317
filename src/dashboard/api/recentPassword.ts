import { Clock, Effect } from "effect"
import { PasswordRequired } from "../../domain/Errors.ts"
import { CurrentSession } from "./Session.ts"

/** A session alone, such as a stolen one, changes neither where money goes nor who may change it. */
const recentMillis = 5 * 60_000

/** The session's person has given the password within five minutes. */
export const recentPassword = Effect.gen(function* () {
  const { confirmedAt } = yield* CurrentSession
  const now = yield* Clock.currentTimeMillis
  if (now - confirmedAt.getTime() > recentMillis) return yield* new PasswordRequired()
})
