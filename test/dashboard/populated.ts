// A merchant with something on every page: payments in each state, deliveries that
// were accepted and refused, an alert.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { answered, failed } from "../../src/webhooks/SendOutcome.ts"
import { makeShop } from "../http/shop.ts"
import type { TestService } from "../support/service.ts"
import { type Person, signUp } from "./person.ts"

export interface Populated {
  readonly person: Person
  readonly settledId: string
  readonly pendingId: string
  readonly deliveryId: string
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

export const populate = async (service: TestService): Promise<Populated> => {
  const person = await signUp(service.baseUrl)
  const at = `/merchants/${person.merchantId}/test`
  const shop = await makeShop(service, { id: person.merchantId, keys: person.keys })
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
  // A transfer of the wrong amount, reported before it was confirmed and after.
  const pending = await shop.open("25.00")
  const hash = await shop.transfer(24_000_000n, { confirm: false })
  await shop.report(pending.body.payment.id, hash, 25_000_000n)
  await Effect.runPromise(service.chain.mine(2))
  await shop.report(pending.body.payment.id, hash, 25_000_000n)
  const sent = await person.call("POST", `${at}/webhook-endpoint/test`)
  await Effect.runPromise(service.alerts.raise({ tenant: person.merchantId, subject: settled.payment.id }))
  await person.call("POST", `${at}/members`, { email: "colleague@example.com" })
  return {
    person,
    settledId: settled.payment.id,
    pendingId: pending.body.payment.id,
    deliveryId: sent.body.deliveryId
  }
}
