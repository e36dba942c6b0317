// An agent's use of its key: the service signs an x402 payment over REST.

import { networks } from "../../src/domain/networks.ts"
import type { AnswerBody } from "../support/AnswerBody.ts"
import { receiver } from "./person.ts"

export const requirementsOf = (amount: string, payTo: string = receiver) => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: String(Math.round(Number(amount) * 1_000_000)),
  asset: networks.test.usdc.address,
  payTo,
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" }
})

/** `amount` in USD. */
export const signWith = async (
  baseUrl: string,
  key: string,
  amount: string,
  changes: { readonly requestId?: string; readonly resource?: string; readonly payTo?: string } = {}
) => {
  const resource = changes.resource ?? "https://api.example.com/weather"
  const answer = await fetch(`${baseUrl}/api/v1/agent/x402/payments`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      requestId: changes.requestId ?? crypto.randomUUID(),
      resource,
      paymentRequired: {
        x402Version: 2,
        resource: { url: resource },
        accepts: [requirementsOf(amount, changes.payTo)]
      }
    })
  })
  const body: AnswerBody = await answer.json()
  return { status: answer.status, body }
}
