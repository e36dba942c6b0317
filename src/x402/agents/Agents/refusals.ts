// Reasons for which an agent may not pay: its hosts, its payees, its caps.
import { Effect, Option } from "effect"
import { type DenyList, isDenied } from "../../../chain/DenyList.ts"
import type { Agent } from "../../../domain/Agent.ts"
import type { Address } from "../../../domain/Chain.ts"
import {
  AgentCapExceeded,
  AgentHostNotAllowed,
  AgentPaused,
  AgentPayeeNotAllowed,
  InvalidApiKey,
  invalidField,
  RateLimited
} from "../../../domain/Errors.ts"
import { formatUsd } from "../../../domain/Money.ts"
import type { SpendReservation } from "../AgentRepo/AgentStore.ts"
import { resourceHostOf } from "../chooseRequirement.ts"

/** The owner of the resource's host, if the agent may pay there. */
export const checkHost = Effect.fnUntraced(function* (agent: Agent, resource: string) {
  const host = resourceHostOf(resource)
  if (Option.isNone(host)) {
    return yield* invalidField(
      "body.resource",
      "Give the resource's http(s) URL, without credentials or control characters."
    )
  }
  const allowed = agent.allowedHosts
  if (allowed === null) return host.value.owner
  if (!host.value.isPrivate) {
    return yield* new AgentHostNotAllowed({
      details: [
        {
          path: "body.resource",
          message:
            "An agent with allowed hosts pays only over https: over http anyone on the network path can pose as the host.",
          expected: "https",
          actual: "http"
        }
      ]
    })
  }
  if (allowed.includes(host.value.host) || allowed.includes(host.value.hostname)) return host.value.owner
  return yield* new AgentHostNotAllowed({
    details: [
      {
        path: "body.resource",
        message: "Ask the agent's merchant to allow the host.",
        expected: allowed.join(", "),
        actual: host.value.host
      }
    ]
  })
})

export const checkPayee = (agent: Agent, payTo: Address) =>
  agent.allowedPayees === null || agent.allowedPayees.includes(payTo)
    ? Effect.void
    : Effect.fail(
        new AgentPayeeNotAllowed({
          details: [
            {
              path: "payTo",
              message: "Ask the agent's merchant to allow the payee.",
              expected: agent.allowedPayees.join(", "),
              actual: payTo
            }
          ]
        })
      )

/** The operator's deny list takes precedence over the agent's own lists. */
export const checkDenied = (denyList: DenyList, { address }: Agent, payTo: Address) =>
  isDenied(denyList, { from: address, to: payTo })
    ? Effect.fail(
        new AgentPayeeNotAllowed({
          message:
            "The payee or the agent's wallet is on the operator's deny list, and nothing was signed. Pay another address, or ask the operator.",
          details: [
            denyList.has(payTo)
              ? { path: "payTo", message: "On the operator's deny list.", actual: payTo }
              : {
                  path: "from",
                  message: "The agent's wallet is on the operator's deny list.",
                  actual: address
                }
          ]
        })
      )
    : Effect.void

const usd = (atomic: bigint) => `${formatUsd(atomic)} USDC`

/** Maps a failed reservation to its error. */
export const refusalOf = (
  reservation: Exclude<SpendReservation, { readonly _tag: "Reserved" | "ListsChanged" }>,
  amount: bigint,
  payTo: Address
) => {
  switch (reservation._tag) {
    case "Inactive":
      return reservation.status === "paused" ? new AgentPaused() : new InvalidApiKey()
    case "Throttled":
      return new RateLimited({ retryAfter: reservation.retryAfter })
    case "OtherPayee":
      return new AgentPayeeNotAllowed({
        details: [
          {
            path: "payTo",
            message:
              "The agent's first payment at this host went to a different payee. Ask the agent's merchant to list the allowed payees in the agent's settings.",
            expected: reservation.payee,
            actual: payTo
          }
        ]
      })
    case "OverCap": {
      const { cap, limit, spent } = reservation
      return new AgentCapExceeded({
        reason: cap === "payment" ? "payment" : "day",
        details: [
          cap === "payment"
            ? {
                path: "capPerPayment",
                message: "The payment is larger than the agent may make.",
                expected: `at most ${usd(limit)}`,
                actual: usd(amount)
              }
            : {
                path: "capPerDay",
                message: "The payment exceeds what is left of the agent's cap for 24 hours.",
                expected: `at most ${usd(limit > spent ? limit - spent : 0n)} of ${usd(limit)}`,
                actual: usd(amount)
              }
        ]
      })
    }
  }
}
