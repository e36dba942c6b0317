// Alerts about nodes that fail, contradict each other or lag, and their recovery.
import { Clock, Effect, type Scope } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { envs, networks } from "../../domain/networks.ts"
import type { ChainAlertKind, ChainAlerts, ChainRecoveries } from "../ChainAlerts.ts"
import type { NodeFailure } from "./NodeFailure.ts"
import { type RpcNode, refusingAfter } from "./RpcNode.ts"

const alertEveryMillis = 60_000
/** A node has recovered after this long without trouble. The alert about a flapping node stays open. */
const recoveredAfterMillis = 10_000

export const makeNodeAlerts = (
  nodes: { readonly [E in Env]: ReadonlyArray<RpcNode> },
  notify: typeof ChainAlerts.Service,
  notifyRecovery: typeof ChainRecoveries.Service,
  scope: Scope.Scope
) => {
  const lastAlert = new Map<string, number>()
  const alert = Effect.fnUntraced(function* (
    kind: ChainAlertKind,
    env: Env,
    host: string,
    message: string
  ): Effect.fn.Return<void> {
    const now = yield* Clock.currentTimeMillis
    const key = `${kind} ${env} ${host}`
    lastTrouble.set(key, now)
    const last = lastAlert.get(key)
    if (last !== undefined && now - last < alertEveryMillis) return
    lastAlert.set(key, now)
    // An alert that cannot be stored does not change the answer; the next alert tries again.
    yield* notify({ kind, env, host, message: `RPC node ${host} of ${networks[env].name}: ${message}` }).pipe(
      Effect.catchCause((cause) => {
        lastAlert.delete(key)
        return Effect.logError(
          `Raising the alert ${kind} about the RPC node ${host} failed; the next response like this tries again`,
          cause
        )
      })
    )
  })

  // A previous process may have raised this alert; the node's first good response resolves it.
  const lastTrouble = new Map<string, number>(
    envs
      .flatMap((env) => nodes[env].map(({ host }) => `${env} ${host}`))
      .flatMap((node) =>
        (["unreachable", "refusing", "malformed_answer", "disagreement", "wrong_chain"] as const).map(
          (kind) => [`${kind} ${node}`, Number.NEGATIVE_INFINITY]
        )
      )
  )
  const resolveAlert = (kind: ChainAlertKind, env: Env, host: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const key = `${kind} ${env} ${host}`
      const trouble = lastTrouble.get(key)
      if (trouble === undefined) return Effect.void
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - trouble < recoveredAfterMillis) return Effect.void
        lastTrouble.delete(key)
        lastAlert.delete(key)
        // The answer does not wait for this. If it fails, it is reported again.
        return notifyRecovery({ kind, env, host }).pipe(
          Effect.onError(() => Effect.sync(() => lastTrouble.set(key, now))),
          Effect.forkIn(scope),
          Effect.asVoid
        )
      })
    })
  const answeredWell = (env: Env, node: RpcNode) =>
    Effect.andThen(
      Effect.andThen(
        resolveAlert("unreachable", env, node.host),
        resolveAlert("malformed_answer", env, node.host)
      ),
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        node.isRefusing(now) ? Effect.void : resolveAlert("refusing", env, node.host)
      )
    )

  const alertFailure = (
    env: Env,
    { host }: RpcNode,
    { kind, message, consecutiveDeclines = 0, nodeMessage }: NodeFailure
  ) => {
    switch (kind) {
      case "transport":
        return alert(
          "unreachable",
          env,
          host,
          nodeMessage === undefined ? message : `${message}: ${nodeMessage}`
        )
      case "malformed":
        return alert("malformed_answer", env, host, message)
      case "wrong_chain":
        return alert("wrong_chain", env, host, message)
      case "declined":
        return consecutiveDeclines < refusingAfter
          ? Effect.void
          : alert(
              "refusing",
              env,
              host,
              `${message}, ${consecutiveDeclines} times in a row: ${nodeMessage ?? "no reason given"}`
            )
      // Verdicts about the request itself: the node works.
      case "reverted":
      case "too_wide":
      case "pruned":
      case "known":
      case "nonce_used":
      case "no_funds":
      case "invalid":
        return Effect.void
    }
  }

  return { alert, resolveAlert, answeredWell, alertFailure }
}
