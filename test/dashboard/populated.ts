// A merchant with something on every page: payments in each state, accepted and refused deliveries, an alert.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { answered, failed } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { makeShop } from "../platform/http/shop.ts"
import type { TestService } from "../support/service.ts"
import { signWith } from "./agentKey.ts"
import { agentForm, type Person, receiver, signUp } from "./person.ts"

export interface Populated {
  readonly person: Person
  readonly settledId: string
  readonly pendingId: string
  readonly deliveryId: string
  readonly agentId: string
}

const endpointUrl = "https://shop.example.com/webhooks/quittance"

/** Moves settlements into the past, so that the plot has days. */
const spread = (service: TestService, merchantId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      UPDATE payments p SET settled_at = settled_at - n.days * interval '1 day',
        created_at = created_at - n.days * interval '1 day'
      FROM (SELECT id, (row_number() OVER (ORDER BY id)) % 9 * 3 AS days FROM payments
        WHERE merchant_id = ${merchantId} AND status = 'settled') n
      WHERE p.id = n.id`
    yield* sql`
      UPDATE payments SET status = 'failed', failure_reason = 'expired', failed_at = created_at
      WHERE id = (SELECT id FROM payments WHERE merchant_id = ${merchantId} AND status = 'pending'
        AND env = 'test' ORDER BY id LIMIT 1)`
  }).pipe(Effect.provideContext(service.context), Effect.orDie)

const anAgent = async (service: TestService, person: Person, at: string): Promise<string> => {
  await person.call("POST", `${at}/payment-links`, {
    description: "Chess lesson",
    amount: "30.00",
    once: true
  })
  await person.call("POST", `${at}/payment-links`, {
    description: "Counter",
    minAmount: "1",
    maxAmount: "500"
  })
  const { body } = await person.call("POST", `${at}/agents`, {
    ...agentForm,
    allowedHosts: ["api.example.com", "weather.example.org:8443"],
    allowedPayees: [receiver]
  })
  for (const [index, amount] of ["1.20", "0.30", "2.00", "0.05"].entries()) {
    const signed = await signWith(service.baseUrl, body.key, amount, {
      requestId: `request-${index}`,
      resource: `https://api.example.com/forecasts/of/a/city/with/a/rather/long/name/${index}`
    })
    if (signed.status !== 201) throw new Error(JSON.stringify(signed.body))
  }
  await Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const [index, status] of ["used", "expired", "released"].entries()) {
      yield* sql`UPDATE agent_payments SET status = ${status}, finished_at = created_at, next_look_at = NULL,
        transaction_id = ${status === "used" ? new Uint8Array(32).fill(0xab) : null}
        WHERE agent_id = ${body.agent.id} AND request_id = ${`request-${index}`}`
    }
  }).pipe(Effect.provideContext(service.context), Effect.orDie, Effect.runPromise)
  const paused = await person.call("POST", `${at}/agents`, { ...agentForm, name: "Translator" })
  await person.call("POST", `${at}/agents/${paused.body.agent.id}/pause`)
  const ended = await person.call("POST", `${at}/agents`, { ...agentForm, name: "Last year's crawler" })
  await person.call("POST", `${at}/agents/${ended.body.agent.id}/revoke`)
  return body.agent.id
}

export const populate = async (service: TestService): Promise<Populated> => {
  const person = await signUp(service.baseUrl)
  const at = `/merchants/${person.merchantId}/test`
  const shop = await makeShop(service, { ...person, id: person.merchantId })
  await person.call("POST", `${at}/webhook-endpoint`, { url: endpointUrl })
  await shop.open("12.00")
  for (const [amount, atomic] of [
    ["12.50", 12_500_000n],
    ["240.00", 240_000_000n],
    ["4.20", 4_200_000n],
    ["1999.99", 1_999_990_000n],
    ["75.00", 75_000_000n],
    ["18.40", 18_400_000n]
  ] as const) {
    await shop.settle(amount, atomic)
  }
  await Effect.runPromise(spread(service, person.merchantId))
  await Effect.runPromise(service.sender.script(endpointUrl, [failed("connect", 12), answered(503, 40)]))
  const settled = await shop.settle("10.00", 10_000_000n)
  // A transfer of the wrong amount, reported before and after its confirmation.
  const pending = await shop.open("25.00")
  const hash = await shop.transfer(24_000_000n, { confirm: false })
  await shop.report(pending.body.payment.id, hash, 25_000_000n)
  await Effect.runPromise(service.chain.mine(2))
  await shop.report(pending.body.payment.id, hash, 25_000_000n)
  const sent = await person.call("POST", `${at}/webhook-endpoint/test`)
  await Effect.runPromise(service.alerts.raise({ tenant: person.merchantId, subject: settled.payment.id }))
  await person.call("POST", `${at}/members`, { email: "colleague@example.com", role: "support" })
  return {
    person,
    settledId: settled.payment.id,
    pendingId: pending.body.payment.id,
    deliveryId: sent.body.delivery.id,
    agentId: await anAgent(service, person, at)
  }
}
