// A database that an earlier version wrote, migrated by the present one. The fixtures are what that version left after
// a day of payments, and what its API returned about it; `upgrade/record.ts` creates them.

import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect, Schema } from "effect"
import { verifyWebhook } from "../../src/packages/client/verifyWebhook.ts"
import { send } from "../support/contractCheck.ts"
import { listening } from "../support/listening.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { until } from "./cluster.ts"
import { upgradeEnv } from "./upgrade/upgradeEnv.ts"

const file = (name: string) => readFileSync(join(import.meta.dir, "upgrade", name), "utf8")

const Unknown = Schema.Record(Schema.String, Schema.Unknown)
const Answers = Schema.Struct({
  merchantId: Schema.String,
  email: Schema.String,
  password: Schema.String,
  keys: Schema.Struct({ secret: Schema.String, publishable: Schema.String }),
  signingSecret: Schema.String,
  receipt: Schema.Struct({ url: Schema.String, jws: Schema.String }),
  link: Schema.Struct({ url: Schema.String }),
  payments: Schema.Struct({ payments: Schema.Array(Unknown) }),
  events: Schema.Struct({
    events: Schema.Array(
      Schema.Struct({
        event: Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [Unknown]),
        payment: Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [Unknown]),
        delivery: Schema.String
      })
    )
  })
})
const answersOf = Schema.decodeSync(Schema.fromJsonString(Answers))

describe("An upgrade with data", () => {
  for (const version of ["0.1.0"])
    liveEffect(`from ${version} keeps every payment, key, secret, delivery and receipt`, () =>
      Effect.gen(function* () {
        const answers = answersOf(file(`answers-${version}.json`))
        const { events } = answers.events
        const databaseUrl = yield* ownDatabase()
        const sql = yield* Effect.acquireRelease(
          Effect.sync(() => new SQL(databaseUrl, { max: 1 })),
          (open) => Effect.promise(() => open.close())
        )
        yield* Effect.promise(() => sql.unsafe(file(`database-${version}.sql`)))
        const bodies: Array<{ readonly body: ArrayBuffer; readonly headers: Headers }> = []
        const hook = yield* listening(async (request) => {
          bodies.push({ body: await request.arrayBuffer(), headers: request.headers })
          return new Response("noted")
        })
        yield* Effect.promise(
          () => sql`UPDATE webhook_endpoints SET url = ${`http://127.0.0.1:${hook.port}/hooks`}`
        )
        const env = {
          ...upgradeEnv(databaseUrl, yield* temporaryDirectory, hook.port ?? 0),
          // The chain of these payments is gone: nothing new can be proven or missed.
          BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
          ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
        }
        const service = yield* spawnService(env)
        yield* untilReady(service)
        const call = (method: string, path: string, key: string, body?: unknown) =>
          Effect.promise(() => send(service.baseUrl, { method, path, key, body }))
        const { keys } = answers

        const { body: listed } = yield* call("GET", "/api/v1/payments?limit=100", keys.secret)
        expect<unknown>(listed.payments).toEqual(answers.payments.payments)

        // The waiting delivery arrives, signed with the endpoint's secret.
        yield* Effect.promise(
          () => sql`UPDATE webhook_deliveries SET due_at = now() WHERE status = 'pending'`
        )
        yield* until("the waiting delivery arrives", () => bodies.length > 0)
        const [came] = bodies
        expect(came?.headers.get("webhook-id")).toBe(
          events.find(({ delivery }) => delivery === "pending")?.event.id ?? "none"
        )
        const event = yield* Effect.promise(() =>
          verifyWebhook(
            came?.body ?? new ArrayBuffer(0),
            came?.headers ?? new Headers(),
            answers.signingSecret
          )
        )
        expect(event.type).toBe("payment.settled")

        const feed = yield* call("GET", "/api/v1/events", keys.secret)
        expect(feed.body.events.map((one: { event: unknown }) => one.event)).toEqual(
          events.map((one) => one.event)
        )

        // A payment is partly refunded; a receipt is read, and its signature is valid; a link opens.
        const refund = yield* call("POST", "/api/v1/refunds", keys.secret, {
          paymentId: events[0]?.payment.id,
          amount: "4.00"
        })
        expect([refund.status, refund.body.refund.status]).toEqual([201, "pending"])
        const id = new URL(answers.receipt.url).pathname.split("/").at(-1)
        const receipt = yield* call("GET", `/api/v1/receipts/${id}`, keys.publishable)
        expect(receipt.body.jws).toBe(answers.receipt.jws)
        const link = yield* Effect.promise(() =>
          fetch(new URL(new URL(answers.link.url).pathname, service.baseUrl))
        )
        expect(link.status).toBe(200)

        // Its member signs in with their password, and is an owner.
        const signedIn = yield* Effect.promise(() =>
          fetch(`${service.baseUrl}/dashboard/api/sign-in`, {
            method: "POST",
            headers: { "sec-fetch-site": "same-origin", "content-type": "application/json" },
            body: JSON.stringify({ email: answers.email, password: answers.password })
          })
        )
        expect(signedIn.status).toBe(200)
        expect(yield* Effect.promise(() => signedIn.json())).toMatchObject({
          merchants: [{ id: answers.merchantId, role: "owner" }]
        })

        // The audit log's hash chain is valid across both versions.
        const audit = yield* spawnProgram(["src/app/cli/main.ts", "audit", "verify"], env)
        expect([yield* audit.exited, audit.output()]).toEqual([0, expect.any(String)])
      })
    )
})
