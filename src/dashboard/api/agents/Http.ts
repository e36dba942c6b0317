// Agents over HTTP, for a merchant's members. Agents of the other environment are unknown here, like those of another
// merchant.

import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ChainVerifier } from "../../../chain/ChainVerifier.ts"
import { Faucet } from "../../../chain/faucet/Faucet.ts"
import { orChainUnavailable } from "../../../chain/orChainUnavailable.ts"
import type { AgentId } from "../../../domain/Agent.ts"
import { LiveModeGated, NotFound } from "../../../domain/Errors.ts"
import { formatUsd } from "../../../domain/Money.ts"
import { hasFaucet } from "../../../domain/networks.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { clientAddressOf } from "../../../platform/http/RequestContext.ts"
import type { AgentSummary } from "../../../x402/agents/AgentRepo/AgentStore.ts"
import { Agents } from "../../../x402/agents/Agents.ts"
import { agentChanged, agentCreated, agentRevoked } from "../../../x402/agents/agentChanges.ts"
import { agentPaymentView } from "../../../x402/agents/Http.ts"
import { DashboardApi } from "../Api.ts"
import { changedMeanwhile } from "../changedMeanwhile.ts"
import { makeRecording } from "../makeRecording.ts"
import { CurrentMember } from "../Session.ts"
import { typedAddress } from "../typedAddress.ts"
import { unknownObject } from "../unknownObject.ts"
import type { AgentBalance, AgentForm, AgentListItem, AgentPage, AgentsPage, CreatedAgent } from "./Api.ts"

const shownPayments = 20

const summaryOf = ({ agent, allowance }: AgentSummary): AgentListItem => ({
  id: agent.id,
  name: agent.name,
  status: agent.status,
  address: agent.address,
  keyLastFour: agent.keyLastFour,
  caps: { perPayment: formatUsd(agent.capPerPayment), perDay: formatUsd(agent.capPerDay) },
  spent: formatUsd(allowance.spent),
  remaining: formatUsd(allowance.remaining),
  createdAt: agent.createdAt.toISOString()
})

/** Without duplicates. */
const hostsOf = (hosts: AgentForm["allowedHosts"]) => (hosts === null ? null : [...new Set(hosts)])

/** Canonical addresses without duplicates. */
const payeesOf = Effect.fnUntraced(function* (payees: AgentForm["allowedPayees"]) {
  if (payees === null) return null
  const addresses = yield* Effect.forEach(payees, (text, index) =>
    typedAddress(`body.allowedPayees.${index}`, text)
  )
  return [...new Set(addresses)]
})

const changesOf = Effect.fnUntraced(function* ({ allowedHosts, allowedPayees, ...form }: Partial<AgentForm>) {
  return {
    ...form,
    ...(allowedHosts === undefined ? {} : { allowedHosts: hostsOf(allowedHosts) }),
    ...(allowedPayees === undefined ? {} : { allowedPayees: yield* payeesOf(allowedPayees) })
  }
})

/** The agent's values in the form. */
const typedForm = ({ capPerDay, capPerPayment, ...rest }: Partial<AgentForm>) => ({
  ...rest,
  ...(capPerPayment === undefined ? {} : { capPerPayment: formatUsd(capPerPayment) }),
  ...(capPerDay === undefined ? {} : { capPerDay: formatUsd(capPerDay) })
})

const revoked = () => new NotFound({ message: "This agent is revoked, which is final. Create another." })

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "agentPages",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* Agents
    const chain = yield* ChainVerifier
    const faucet = yield* Faucet
    const recording = yield* makeRecording
    const { explorerUrls, trustedProxyHops } = yield* AppConfig

    /** The tenant's agent; its merchant and environment never change. */
    const own = Effect.fnUntraced(function* (id: AgentId) {
      const { tenant } = yield* CurrentMember
      const agent = yield* agents.find(tenant.merchantId, tenant.env, id)
      if (Option.isNone(agent)) return yield* new NotFound({ message: unknownObject })
      return agent.value
    })
    const change = Effect.fnUntraced(function* (
      id: AgentId,
      changes: Parameters<Agents["Service"]["change"]>[2],
      was?: Parameters<Agents["Service"]["change"]>[3]
    ) {
      const { merchantId } = yield* own(id)
      const changed = yield* recording(
        agents.change(merchantId, id, changes, was),
        Option.map((agent) => agentChanged(agent, changes))
      )
      return Option.isSome(changed)
    })
    const changeStatus = Effect.fnUntraced(function* (id: AgentId, status: "active" | "paused") {
      if (!(yield* change(id, { status }))) return yield* revoked()
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const { tenant } = yield* CurrentMember
        const summaries = yield* agents.summaries(tenant.merchantId, tenant.env)
        const page: AgentsPage = {
          configured: agents.configured(tenant.env),
          agents: [...summaries.filter(isCurrent), ...summaries.filter((summary) => !isCurrent(summary))].map(
            summaryOf
          )
        }
        return page
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { tenant } = yield* CurrentMember
        const provisioning = agents.provision({
          ...payload,
          allowedHosts: hostsOf(payload.allowedHosts),
          allowedPayees: yield* payeesOf(payload.allowedPayees),
          ...tenant
        })
        const { agent, key } = yield* recording(provisioning, (created) =>
          Option.some(agentCreated(created.agent))
        )
        const answer: CreatedAgent = {
          agent: summaryOf({ agent, allowance: { spent: 0n, remaining: agent.capPerDay } }),
          key
        }
        return answer
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        const [[summary], payments] = yield* Effect.all(
          [
            agents.summaries(tenant.merchantId, tenant.env, params.agentId),
            agents.payments(params.agentId, shownPayments)
          ],
          { concurrency: 2 }
        )
        if (summary === undefined) return yield* new NotFound({ message: unknownObject })
        const page: AgentPage = {
          explorerUrl: explorerUrls[tenant.env],
          agent: {
            ...summaryOf(summary),
            allowedHosts: summary.agent.allowedHosts,
            allowedPayees: summary.agent.allowedPayees
          },
          payments: payments.map((payment) => agentPaymentView(summary.agent, payment))
        }
        return page
      }),
      balance: Effect.fnUntraced(function* ({ params }) {
        const { env, address } = yield* own(params.agentId)
        const { usdcAtomic } = yield* chain.readBalance(env, address).pipe(orChainUnavailable)
        const balance: AgentBalance = { usdc: formatUsd(usdcAtomic) }
        return balance
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        const { was: typed = {}, ...changes } = payload
        const was = yield* changesOf(typed)
        if (yield* change(params.agentId, yield* changesOf(changes), was)) return
        const now = yield* own(params.agentId)
        return yield* now.status === "revoked" ? revoked() : changedMeanwhile(typedForm(was), typedForm(now))
      }),
      pause: ({ params }) => changeStatus(params.agentId, "paused"),
      resume: ({ params }) => changeStatus(params.agentId, "active"),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const agent = yield* own(params.agentId)
        const isRevoked = yield* recording(agents.revoke(agent.merchantId, params.agentId), (done) =>
          done ? Option.some(agentRevoked(agent)) : Option.none()
        )
        if (!isRevoked) return yield* revoked()
      }),
      fund: Effect.fnUntraced(function* ({ params }) {
        const agent = yield* own(params.agentId)
        if (!hasFaucet(agent.env)) return yield* new LiveModeGated()
        if (agent.status === "revoked") return yield* revoked()
        const { usdcAtomic } = yield* faucet.grant({
          merchantId: agent.merchantId,
          recipient: agent.address,
          clientAddress: clientAddressOf(yield* HttpServerRequest.HttpServerRequest, trustedProxyHops)
        })
        return { usdc: formatUsd(usdcAtomic) }
      })
    })
  })
)

const isCurrent = ({ agent }: AgentSummary) => agent.status !== "revoked"
