// The contract of the agents' page: what each agent may spend and has spent, and how people create, fund, pause and
// end agents.
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AgentId, AgentStatus, AllowedHost } from "../../../domain/Agent.ts"
import {
  AgentsNotConfigured,
  ChainUnavailable,
  ChangedMeanwhile,
  FaucetLimitReached,
  FaucetUnavailable,
  LiveModeGated,
  NotFound
} from "../../../domain/Errors.ts"
import { IfUnchanged } from "../../../domain/IfUnchanged.ts"
import { UsdAmount } from "../../../domain/Money.ts"
import { everyRole, integrationRoles, ownerRoles } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { AgentPaymentView } from "../../../x402/agents/Api.ts"
import { Text, TypedAddress } from "../accounts/Api.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

/** Amounts are decimal USD. `spent` covers the last 24 hours, including reservations. */
const summaryFields = {
  id: AgentId,
  name: Schema.String,
  status: AgentStatus,
  address: Schema.String,
  keyLastFour: Schema.String,
  caps: Schema.Struct({ perPayment: Schema.String, perDay: Schema.String }),
  spent: Schema.String,
  remaining: Schema.String,
  createdAt: Schema.String
}

export const AgentListItem = Schema.Struct(summaryFields)
export type AgentListItem = typeof AgentListItem.Encoded

export const AgentsPage = Schema.Struct({
  /** False if the deployment has no mnemonic for the environment's wallets. */
  configured: Schema.Boolean,
  agents: Schema.Array(AgentListItem)
})
export type AgentsPage = typeof AgentsPage.Encoded

export const AgentPage = Schema.Struct({
  explorerUrl: Schema.NullOr(Schema.String),
  agent: Schema.Struct({
    ...summaryFields,
    /** Null allows any. */
    allowedHosts: Schema.NullOr(Schema.Array(Schema.String)),
    allowedPayees: Schema.NullOr(Schema.Array(Schema.String))
  }),
  /** The newest 20. */
  payments: Schema.Array(AgentPaymentView)
})
export type AgentPage = typeof AgentPage.Encoded

/** The whole key, shown only once. */
export const CreatedAgent = Schema.Struct({ agent: AgentListItem, key: Schema.String })
export type CreatedAgent = typeof CreatedAgent.Encoded

/** Decimal USDC of the agent's wallet. */
export const AgentBalance = Schema.Struct({ usdc: Schema.String })
export type AgentBalance = typeof AgentBalance.Encoded

export const AgentGrant = Schema.Struct({ usdc: Schema.String })
export type AgentGrant = typeof AgentGrant.Encoded

/** Null allows any. */
const allowList = <S extends Schema.Constraint>(of: S) =>
  Schema.NullOr(Schema.Array(of).check(Schema.isMinLength(1), Schema.isMaxLength(100)))

export const AgentForm = Schema.Struct({
  name: Text(1, 100),
  capPerPayment: UsdAmount,
  capPerDay: UsdAmount,
  allowedHosts: allowList(AllowedHost),
  allowedPayees: allowList(TypedAddress)
})
export type AgentForm = typeof AgentForm.Type

/** Changes to an agent; omitted fields stay. */
export const AgentChanges = Schema.Struct({
  ...Struct.map(AgentForm.fields, Schema.optionalKey),
  was: IfUnchanged(AgentForm.fields)
})
export type AgentChanges = typeof AgentChanges.Type

const agentParams = { ...memberParams, agentId: AgentId }

export class AgentPagesApi extends memberGroup("agentPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("list", "/agents", { success: Schema.toEncoded(AgentsPage) })
  ),
  allow(
    { by: "member", roles: integrationRoles, live: ownerRoles },
    HttpApiEndpoint.post("create", "/agents", {
      payload: AgentForm,
      success: Schema.toEncoded(CreatedAgent).pipe(HttpApiSchema.status(201)),
      error: [errorResponse(AgentsNotConfigured)]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/agents/:agentId", {
      params: agentParams,
      success: Schema.toEncoded(AgentPage),
      error: [errorResponse(NotFound)]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("balance", "/agents/:agentId/balance", {
      params: agentParams,
      success: Schema.toEncoded(AgentBalance),
      error: [errorResponse(NotFound), errorResponse(ChainUnavailable)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles, live: ownerRoles },
    HttpApiEndpoint.patch("update", "/agents/:agentId", {
      params: agentParams,
      payload: AgentChanges,
      success: HttpApiSchema.NoContent,
      error: [errorResponse(NotFound), errorResponse(ChangedMeanwhile)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.post("pause", "/agents/:agentId/pause", {
      params: agentParams,
      success: HttpApiSchema.NoContent,
      error: [errorResponse(NotFound)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles, live: ownerRoles },
    HttpApiEndpoint.post("resume", "/agents/:agentId/resume", {
      params: agentParams,
      success: HttpApiSchema.NoContent,
      error: [errorResponse(NotFound)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.post("revoke", "/agents/:agentId/revoke", {
      params: agentParams,
      success: HttpApiSchema.NoContent,
      error: [errorResponse(NotFound)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.post("fund", "/agents/:agentId/fund", {
      params: agentParams,
      success: AgentGrant.pipe(HttpApiSchema.status(201)),
      error: [
        errorResponse(NotFound),
        errorResponse(LiveModeGated),
        errorResponse(FaucetLimitReached),
        errorResponse(FaucetUnavailable),
        errorResponse(ChainUnavailable)
      ]
    })
  )
) {}
