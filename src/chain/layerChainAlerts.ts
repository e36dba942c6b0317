// Raises an alert about each fault of a chain's nodes, and resolves it once the node works correctly.
import { DateTime, Effect, Layer, Option } from "effect"
import type { AlertKind } from "../domain/AlertKind.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { type ChainAlertKind, ChainAlerts, ChainRecoveries } from "./ChainAlerts.ts"

export const alertKindOf: { readonly [K in ChainAlertKind]: AlertKind } = {
  disagreement: "rpc_disagreement",
  wrong_chain: "wrong_chain",
  malformed_answer: "rpc_malformed",
  unreachable: "rpc_unreachable",
  refusing: "rpc_refusing"
}

/**
 * Longer than a node may be unhealthy before its alert is raised. An instance without this node may have closed the
 * alert in the meantime; it then reopens without a notification.
 */
const resumedMillis = 300_000

const raised = Layer.effect(
  ChainAlerts,
  Effect.map(
    Alerts,
    (alerts) =>
      ({ kind, env, host, message }) =>
        Effect.flatMap(DateTime.nowAsDate, (now) =>
          alerts.raise({
            kind: alertKindOf[kind],
            tenant: Option.none(),
            env,
            subject: `${env} ${host}`,
            resumesSince: plusMillis(now, -resumedMillis),
            message
          })
        )
  )
)

const resolved = Layer.effect(
  ChainRecoveries,
  Effect.map(
    Alerts,
    (alerts) =>
      ({ kind, env, host }) =>
        alerts.resolve(alertKindOf[kind], `${env} ${host}`)
  )
)

export const layerChainAlerts: Layer.Layer<never, never, Alerts> = Layer.merge(raised, resolved)
