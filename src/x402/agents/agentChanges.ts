// Changes of agents for the audit log. They notify nobody, because an agent spends only from its own wallet.
import type { Agent } from "../../domain/Agent.ts"
import { formatUsd } from "../../domain/Money.ts"
import type { Change } from "../../merchants/audit/AuditLog.ts"
import type { AgentChange } from "./AgentRepo/AgentStore.ts"

const caps = ({ capPerDay, capPerPayment }: Agent) =>
  `up to ${formatUsd(capPerPayment)} USD a payment and ${formatUsd(capPerDay)} USD a day`

const listed = (what: string, list: ReadonlyArray<string> | null) =>
  list === null ? `any ${what}` : `${what}s ${list.join(", ")}`

export const agentCreated = (agent: Agent): Change => ({
  action: "agent.created",
  env: agent.env,
  summary: `created the agent ${agent.name} with the wallet ${agent.address} and the key …${agent.keyLastFour}, ${caps(agent)}, ${listed("host", agent.allowedHosts)}, ${listed("payee", agent.allowedPayees)}`,
  quiet: true
})

/** `agent` is the agent after the change. */
export const agentChanged = (agent: Agent, { status, ...limits }: AgentChange): Change => {
  const words = [
    ...(status === undefined ? [] : [status === "paused" ? "paused" : "resumed"]),
    ...(limits.name === undefined ? [] : ["renamed"]),
    ...(limits.capPerDay === undefined && limits.capPerPayment === undefined ? [] : [caps(agent)]),
    ...(limits.allowedHosts === undefined ? [] : [listed("host", agent.allowedHosts)]),
    ...(limits.allowedPayees === undefined ? [] : [listed("payee", agent.allowedPayees)])
  ]
  return {
    action: "agent.changed",
    env: agent.env,
    summary: `changed the agent ${agent.name}: ${words.join(", ")}`,
    quiet: true
  }
}

export const agentRevoked = (agent: Agent): Change => ({
  action: "agent.revoked",
  env: agent.env,
  summary: `revoked the agent ${agent.name} and its key …${agent.keyLastFour}`,
  quiet: true
})
