// Ten thousand due deliveries to five hundred endpoints that hang, and one that answers.
import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Attempts } from "../../src/webhooks/DeliveryWorker/Attempts.ts"
import * as DeliveryWorker from "../../src/webhooks/DeliveryWorker.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import type { SendOutcome } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { testDatabase } from "../support/database.ts"
import { noteFault } from "../support/faultTable.ts"
import { liveEffect } from "../support/run.ts"
import { newShop, settle } from "./deliveries.ts"
import { besideRepos } from "./deliverySide.ts"

const hanging = 500
const due = 10_000
const healthyUrl = "https://healthy.example.com/"
const hangingUrl = "https://hanging.example.com/"

const side = Attempts.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer, WebhookRepo.layer)),
  Layer.provideMerge(besideRepos),
  Layer.provideMerge(testDatabase.layer)
)

const histories = [
  ["accepted a minute ago", true],
  ["were never heard of", false]
] as const
for (const [what, wasHealthy] of process.env["FAULTS"] === "all" ? histories : histories.slice(0, 1)) {
  liveEffect(
    `${due} due to ${hanging} endpoints that ${what} and hang leave a healthy one's p99 below 2 s`,
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sender = yield* WebhookSenderMemory
        const timeout: SendOutcome = { _tag: "Failed", failure: "timeout", durationMs: 15_000 }
        yield* sender.script(hangingUrl, [Effect.as(Effect.sleep("15 seconds"), timeout)])
        const shops = yield* Effect.forEach(
          Array.from({ length: hanging }),
          () => newShop(new Date(), hangingUrl),
          { concurrency: 8 }
        )
        const healthy = yield* newShop(new Date(), healthyUrl)
        const template = yield* settle(healthy.tenant, new Date())
        yield* sql`DELETE FROM webhook_deliveries WHERE id = ${template.id}`
        if (wasHealthy)
          yield* sql`
            UPDATE webhook_endpoints SET listening = true, verified_at = now(),
              last_delivered_at = now() - interval '1 minute' WHERE url = ${hangingUrl}`
        yield* sql`
          INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, due_at, created_at)
          SELECT gen_random_uuid(), e.merchant_id, e.env, e.id, 'test', ${template.body}::bytea, 'pending',
            now() - interval '1 minute', now()
          FROM webhook_endpoints e, generate_series(1, ${due / hanging}::integer) WHERE e.url = ${hangingUrl}`
        yield* sql`ANALYZE`
        expect(shops).toHaveLength(hanging)
        yield* Layer.build(Layer.fresh(DeliveryWorker.layer))
        const settledAt = new Map<string, number>()
        yield* Effect.sleep("1 second")
        // Ten a second, while the first round of the hanging ones uses all the capacity that it can.
        for (let second = 0; second < 110; second++) {
          const { id } = yield* settle(healthy.tenant, new Date())
          settledAt.set(id, performance.now())
          yield* Effect.sleep("90 millis")
        }
        const arrived = new Map<string, number>()
        yield* Effect.gen(function* () {
          for (const { id, url } of yield* sender.sent)
            if (url === healthyUrl && !arrived.has(id)) arrived.set(id, performance.now())
        }).pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: () => arrived.size >= settledAt.size }),
          Effect.timeout("60 seconds")
        )
        const [row] = yield* sql`
          SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY waited) AS p99, max(waited) AS longest FROM (
            SELECT extract(epoch FROM a.started_at - d.created_at)::float8 AS waited
            FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
            WHERE d.endpoint_id = ${healthy.endpoint.id}) all_of_it`
        noteFault(
          "10,000 deliveries to endpoints that hang",
          `healthy p99 ${Number(row?.["p99"]).toFixed(2)} s, longest ${Number(row?.["longest"]).toFixed(2)} s`
        )
        expect(Number(row?.["p99"])).toBeLessThan(2)
      }).pipe(Effect.provide(side))
  )
}
