// Alerts over HTTP. Merchants see service-wide alerts in general words, because nodes and wallets are the operator's.
import { DateTime, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { AlertKind } from "../../../domain/AlertKind.ts"
import { NotFound, OperatorOnly } from "../../../domain/Errors.ts"
import { dailyWorkRoles } from "../../../domain/roleSets.ts"
import { DashboardApi } from "../Api.ts"
import { roleRequired } from "../roleRequired.ts"
import { CurrentMember } from "../Session.ts"
import { unknownObject } from "../unknownObject.ts"
import { AlertPagesRepo, type AlertRow } from "./AlertPagesRepo.ts"
import type { AlertsPage, AlertView, MoreAlerts } from "./Api.ts"

type MerchantKind =
  | "webhook_exhausted"
  | "settlements_unsent"
  | "transfer_dropped"
  | "incoming_transfer"
  | "other_token"
  | "account_change"
  | "receiver_blacklisted"
  | "refund_unproven"
const general: Readonly<Record<Exclude<AlertKind, MerchantKind>, string>> = {
  rpc_disagreement: "The chain's nodes contradict each other. Payments wait until they agree.",
  rpc_malformed: "An RPC node returned an invalid response. Payments may take longer to settle.",
  rpc_unreachable: "An RPC node does not respond. Payments may take longer to settle.",
  rpc_refusing: "An RPC node returns errors. Payments may take longer to settle.",
  wrong_chain: "A node serves another chain. Settlement waits until the operator has corrected it.",
  chain_gap: "Some blocks could not be read. Transfers in them settle only payments that are reported.",
  chain_halted:
    "The chain has stopped producing blocks. Payments settle, and unpaid ones expire, once it continues.",
  faucet_empty: "The test faucet's wallet is empty. Test buyers cannot be funded.",
  faucet_not_configured: "The test faucet is off.",
  faucet_wallet_shared: "The test faucet's wallet is used elsewhere too. Grants may be delayed.",
  faucet_transfer_reverts: "The token refuses the test faucet's transfers. Test buyers cannot be funded.",
  relayer_empty:
    "The relayer's wallet has too little ETH. Until it is funded, buyers pay the network fee themselves, and x402 payments are refused.",
  deny_list_refused: "The operator's deny list is invalid. Its previous version stays in force.",
  relaying_stopped: "We currently pay no network fees. Buyers pay by transfer.",
  work_stalled: "A part of the service has stopped. Its operator has been notified.",
  clock_skew:
    "A clock is wrong: the service's, its database's or the chain's. Payments may take longer to settle."
}
const generalWords = new Map<string, string>(Object.entries(general))

const alertView =
  (operator: boolean) =>
  (row: AlertRow): AlertView => {
    const service = row.merchant_id === null
    const hidden = service && !operator
    return {
      id: row.id,
      kind: row.kind,
      scope: service ? "service" : "merchant",
      subject: hidden ? null : row.subject,
      message: hidden ? (generalWords.get(row.kind) ?? "The operator has been notified.") : row.message,
      createdAt: row.created_at.toISOString(),
      acknowledgedAt: row.acknowledged_at?.toISOString() ?? null,
      acknowledgedBy: hidden ? null : row.acknowledged_by,
      note: hidden ? null : row.note
    }
  }

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "alertPages",
  Effect.fnUntraced(function* (handlers) {
    const repo = yield* AlertPagesRepo

    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const member = yield* CurrentMember
        const [open, decided] = yield* Effect.all([repo.list(member, "open"), repo.list(member, "decided")], {
          concurrency: "unbounded"
        })
        const page: AlertsPage = {
          alerts: [...open.rows, ...decided.rows].map(alertView(member.user.operator)),
          moreOpen: open.hasMore,
          moreDecided: decided.hasMore
        }
        return page
      }),
      more: Effect.fnUntraced(function* ({ query }) {
        const member = yield* CurrentMember
        const { hasMore, rows } = yield* repo.list(member, query.status, query.startingAfter)
        const more: MoreAlerts = { alerts: rows.map(alertView(member.user.operator)), hasMore }
        return more
      }),
      acknowledge: Effect.fnUntraced(function* ({ params, payload }) {
        const member = yield* CurrentMember
        const scope = yield* repo.scopeOf(member, params.alertId)
        if (!dailyWorkRoles.includes(member.role) && !Option.exists(scope, ({ isOwn }) => isOwn))
          return yield* roleRequired(dailyWorkRoles, member.role)
        if (Option.isNone(scope)) return yield* new NotFound({ message: unknownObject })
        if (scope.value.scope === "service" && !member.user.operator) return yield* new OperatorOnly()
        const acknowledgement = yield* repo.acknowledge(
          member,
          params.alertId,
          payload.note ?? "",
          yield* DateTime.nowAsDate
        )
        return { acknowledgedBy: acknowledgement.acknowledged_by, note: acknowledgement.note }
      })
    })
  })
)
