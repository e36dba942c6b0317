// Agents over HTTP, with an agent key.

import { Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { Faucet } from "../../chain/faucet/Faucet.ts"
import { grantView } from "../../chain/faucet/grantView.ts"
import { orChainUnavailable } from "../../chain/orChainUnavailable.ts"
import type { Agent, AgentPayment } from "../../domain/Agent.ts"
import { AgentPaymentNotFound, LiveModeGated } from "../../domain/Errors.ts"
import { formatUsd } from "../../domain/Money.ts"
import { isTest } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { CurrentPrincipal } from "../../platform/http/ApiKeyAuth.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { clientAddressOf } from "../../platform/http/RequestContext.ts"
import { Networks } from "../../platform/Networks.ts"
import { networkNames } from "../Wire.ts"
import { Agents } from "./Agents.ts"
import type { AgentPaymentView, AgentResponse, SignedPaymentResponse } from "./Api.ts"
import { Releases } from "./Releases.ts"

const isoOf = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString()

export const agentPaymentView = (agent: Agent, payment: AgentPayment): typeof AgentPaymentView.Encoded => ({
  id: payment.id,
  requestId: payment.requestId,
  status: payment.status,
  resource: payment.resource,
  amount: formatUsd(payment.amount),
  payTo: payment.payTo,
  network: networkNames[agent.env][2],
  ...(payment.transactionId === null ? {} : { transactionId: payment.transactionId }),
  validBefore: isoOf(payment.validBefore),
  createdAt: payment.createdAt.toISOString()
})

const shownPayments = 20

const agentResponse = (body: typeof AgentResponse.Encoded) => jsonResponse(body)
const signedResponse = (body: typeof SignedPaymentResponse.Encoded, status: 200 | 201) =>
  jsonResponse(body, status)

const agent = HttpApiBuilder.group(
  Api,
  "agent",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* Agents
    const chain = yield* ChainVerifier
    const releases = yield* Releases
    const { executes } = yield* Networks

    return handlers.handleAll({
      retrieve: Effect.fnUntraced(function* () {
        const agent = yield* agents.ofKey(yield* CurrentPrincipal)
        const { balance, allowance, payments } = yield* Effect.all(
          {
            balance: executes(agent.env)
              ? chain.readBalance(agent.env, agent.address).pipe(Effect.option)
              : Effect.succeedNone,
            allowance: agents.allowance(agent),
            payments: agents.payments(agent.id, shownPayments)
          },
          { concurrency: "unbounded" }
        )
        return agentResponse({
          agent: {
            id: agent.id,
            name: agent.name,
            env: agent.env,
            livemode: !isTest(agent.env),
            status: agent.status,
            address: agent.address,
            ...Option.match(balance, {
              onNone: () => ({}),
              onSome: ({ usdcAtomic, gasWei }) => ({
                balance: { usdcAtomic: usdcAtomic.toString(), gasWei: gasWei.toString() }
              })
            }),
            caps: { perPayment: formatUsd(agent.capPerPayment), perDay: formatUsd(agent.capPerDay) },
            spent: formatUsd(allowance.spent),
            remaining: formatUsd(allowance.remaining),
            allowedHosts: agent.allowedHosts,
            allowedPayees: agent.allowedPayees,
            payments: payments.map((payment) => agentPaymentView(agent, payment)),
            createdAt: agent.createdAt.toISOString()
          }
        })
      }),
      pay: Effect.fnUntraced(function* ({ payload }) {
        const principal = yield* CurrentPrincipal
        const { x402Version, accepts, extensions, resource } = payload.paymentRequired
        const signed = yield* agents.sign(principal, {
          requestId: payload.requestId,
          resource: payload.resource,
          version: x402Version,
          accepts,
          described: { resource, extensions }
        })
        return signedResponse(
          { agentPayment: agentPaymentView(signed.agent, signed.payment), header: signed.header },
          signed.created ? 201 : 200
        )
      }),
      release: Effect.fnUntraced(function* ({ params }) {
        const principal = yield* CurrentPrincipal
        if (!executes(principal.env)) return yield* new LiveModeGated()
        const agent = yield* agents.ofKey(principal)
        const payment = yield* agents.findPayment(agent.id, params.id)
        if (Option.isNone(payment)) return yield* new AgentPaymentNotFound()
        if (payment.value.status === "reserved") {
          yield* releases.release(agent, payment.value).pipe(orChainUnavailable)
        }
        return jsonResponse({ agentPayment: agentPaymentView(agent, payment.value) }, 202)
      })
    })
  })
)

const testRail = HttpApiBuilder.group(
  Api,
  "agentTestRail",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* Agents
    const faucet = yield* Faucet
    const { trustedProxyHops } = yield* AppConfig

    return handlers.handle(
      "funds",
      Effect.fnUntraced(function* () {
        const principal = yield* CurrentPrincipal
        const agent = yield* agents.ofKey(principal)
        const grant = yield* faucet.grant({
          merchantId: principal.merchant.id,
          recipient: agent.address,
          clientAddress: clientAddressOf(yield* HttpServerRequest.HttpServerRequest, trustedProxyHops)
        })
        return {
          grant: grantView(grant)
        }
      })
    )
  })
)

export const layer = Layer.merge(agent, testRail)
