// Alerts about nodes, for operators. An alert names a node only by its host, because its URL may contain an access key.
import { Context, Effect } from "effect"
import type { Env } from "../domain/Chain.ts"

export type ChainAlertKind =
  /** Two nodes report different facts: one of them lies or is on a fork. */
  | "disagreement"
  /** The node serves another chain than its environment's. */
  | "wrong_chain"
  /** The node's response is one that no honest node gives. */
  | "malformed_answer"
  /** The node does not respond. */
  | "unreachable"
  /** The node responds with errors that say nothing about the chain, such as a rate limit. */
  | "refusing"

export interface ChainAlert {
  readonly kind: ChainAlertKind
  readonly env: Env
  readonly host: string
  readonly message: string
}

/** A node that was in trouble responds correctly again. */
export type ChainRecovery = Pick<ChainAlert, "kind" | "env" | "host">

/** Receives each recovery: once for each alert that this process raised, and once for each node's first response. */
export const ChainRecoveries = Context.Reference<(recovery: ChainRecovery) => Effect.Effect<void>>(
  "quittance/chain/ChainRecoveries",
  { defaultValue: () => () => Effect.void }
)

/** Receives each alert; logs a warning by default. The same alert comes at most once a minute. */
export const ChainAlerts = Context.Reference<(alert: ChainAlert) => Effect.Effect<void>>(
  "quittance/chain/ChainAlerts",
  {
    defaultValue: () => (alert) =>
      Effect.logWarning(alert.message).pipe(
        Effect.annotateLogs({ chainAlert: alert.kind, env: alert.env, host: alert.host })
      )
  }
)
