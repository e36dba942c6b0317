// The alert that a wallet cannot pay. It is resolved once the wallet pays again; while it is open, further failures
// notify nobody.
import { Clock, Effect, Option } from "effect"
import type { Env } from "../../domain/Chain.ts"
import type { Alerts } from "../../platform/alerts/Alerts.ts"

/** An alert raised again within this time stays open. */
const steadyMillis = 60_000

export const makeEmptyAlert = (
  alerts: Alerts["Service"],
  kind: "faucet_empty" | "relayer_empty",
  env: Env,
  wallet: { readonly address: string }
) => {
  /** The time of the last alert, if it may be open: an earlier process may have raised it. */
  let alertedAt: number | undefined = Number.NEGATIVE_INFINITY
  /** The time of an alert that a timer resolves. */
  let resolving: number | undefined
  const resolve = (last: number) =>
    Effect.suspend(() => {
      if (alertedAt !== last) return Effect.void
      alertedAt = undefined
      return alerts.resolve(kind, wallet.address).pipe(
        Effect.catchCause((cause) => {
          alertedAt ??= last
          return Effect.logWarning(
            `Resolving the alert ${kind} of the wallet ${wallet.address} failed; its next payment tries again`,
            cause
          )
        })
      )
    })
  return {
    raise: (message: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        alertedAt = now
        return alerts.raise({ kind, tenant: Option.none(), env, subject: wallet.address, message })
      }),
    /**
     * The wallet has paid for something. An alert that was raised within a minute is resolved when the minute is over,
     * unless it is raised again. Never fails: if resolving fails, the next payment tries again.
     */
    paid: Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const last = alertedAt
      if (last === undefined) return Effect.void
      const wait = last + steadyMillis - now
      if (wait <= 0) return resolve(last)
      if (resolving === last) return Effect.void
      resolving = last
      return Effect.asVoid(Effect.forkDetach(Effect.delay(resolve(last), wait)))
    })
  }
}
