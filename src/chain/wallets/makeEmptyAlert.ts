// The alert that a wallet cannot pay. It is resolved once the wallet pays again: as long as it is open, the next time
// that the wallet is empty is told to nobody.
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
  let toldAt: number | undefined = Number.NEGATIVE_INFINITY
  return {
    tell: (message: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        toldAt = now
        return alerts.raise({ kind, tenant: Option.none(), env, subject: wallet.address, message })
      }),
    /** The wallet has paid for something. Never fails: what is paid is paid, and the next time resolves it. */
    paid: Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const told = toldAt
      if (told === undefined || now - told < steadyMillis) return Effect.void
      toldAt = undefined
      return alerts.resolve(kind, wallet.address).pipe(
        Effect.catchCause((cause) => {
          toldAt ??= told
          return Effect.logWarning("Resolving the alert of an empty wallet failed", cause)
        })
      )
    })
  }
}
