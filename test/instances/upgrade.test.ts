// A database that an earlier version wrote, brought up to date by the present one. `upgrade/database-0013.sql` is what
// that version left after a day of payments (its newest migration was 0013), `upgrade/answers-0013.json` what its API
// said of it.
import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect, Schema } from "effect"
import { verifyWebhook } from "../../src/client/verifyWebhook.ts"
import { send } from "../support/contractCheck.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { until } from "./cluster.ts"

const file = (name: string) => readFileSync(join(import.meta.dir, "upgrade", name), "utf8")

const Answers = Schema.Struct({
  merchantId: Schema.String,
  email: Schema.String,
  password: Schema.String,
  keys: Schema.Struct({ secret: Schema.String, publishable: Schema.String }),
  signingSecret: Schema.String,
  receipt: Schema.Struct({ url: Schema.String, jws: Schema.String }),
  link: Schema.Struct({ url: Schema.String }),
  payments: Schema.Struct({
    payments: Schema.Array(
      Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [
        Schema.Record(Schema.String, Schema.Unknown)
      ])
    )
  }),
  deliveries: Schema.Array(
    Schema.Struct({ id: Schema.String, payment_id: Schema.String, status: Schema.String })
  )
})
const answers = Schema.decodeSync(Schema.fromJsonString(Answers))(file("answers-0013.json"))

describe("An upgrade with data", () => {
  liveEffect(
    "keeps every payment, key, secret, delivery and receipt, and what is new works on what is old",
    () =>
      Effect.gen(function* () {
        const databaseUrl = yield* ownDatabase()
        const sql = yield* Effect.acquireRelease(
          Effect.sync(() => new SQL(databaseUrl, { max: 1 })),
          (open) => Effect.promise(() => open.close())
        )
        yield* Effect.promise(() => sql.unsafe(file("database-0013.sql")))
        const bodies: Array<{ readonly body: ArrayBuffer; readonly headers: Headers }> = []
        const hook = yield* Effect.acquireRelease(
          Effect.sync(() =>
            Bun.serve({
              port: 0,
              hostname: "127.0.0.1",
              fetch: async (request) => {
                bodies.push({ body: await request.arrayBuffer(), headers: request.headers })
                return new Response("noted")
              }
            })
          ),
          (server) => Effect.promise(() => server.stop(true))
        )
        yield* Effect.promise(
          () => sql`UPDATE webhook_endpoints SET url = ${`http://127.0.0.1:${hook.port}/hooks`}`
        )
        const env = {
          DATABASE_URL: databaseUrl,
          DATA_DIR: yield* temporaryDirectory,
          BASE_URL: "http://localhost:8787",
          // The chain that these payments were paid on is not there: nothing new can be proven or missed.
          BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
          ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
          INTENT_TOKEN_SECRETS: `test:${"t".repeat(43)}`,
          ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 3).toString("base64")}`,
          AGENT_WALLET_MNEMONIC: "test test test test test test test test test test test junk",
          WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`
        }
        const cli = (...args: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const child = yield* spawnProgram(["src/cli/main.ts", ...args], env)
            return { code: yield* child.exited, output: child.output() }
          })
        const service = yield* spawnService(env)
        yield* untilReady(service)
        const call = (method: string, path: string, key: string, body?: unknown) =>
          Effect.promise(() => send(service.baseUrl, { method, path, key, body }))
        const { keys } = answers

        // What the former version said of a payment is said still.
        const { body: listed } = yield* call("GET", "/api/v1/payments?limit=100", keys.secret)
        expect(listed.payments).toHaveLength(answers.payments.payments.length)
        for (const [index, payment] of answers.payments.payments.entries())
          expect(listed.payments[index]).toMatchObject(payment)

        // A delivery that was under way comes to the receiver, signed with the secret of then.
        const waiting = answers.deliveries.find(({ status }) => status === "pending")
        yield* Effect.promise(
          () => sql`UPDATE webhook_deliveries SET due_at = now() WHERE status = 'pending'`
        )
        yield* until("the waiting delivery comes", () => bodies.length > 0)
        const [came] = bodies
        expect(came?.headers.get("webhook-id")).toBe(waiting?.id ?? "none")
        const event = yield* Effect.promise(() =>
          verifyWebhook(
            came?.body ?? new ArrayBuffer(0),
            came?.headers ?? new Headers(),
            answers.signingSecret
          )
        )
        expect(event.type).toBe("payment.settled")

        // The feed of events, which is newer than these payments, has each that was settled, once.
        const feed = yield* call("GET", "/api/v1/events", keys.secret)
        expect(feed.body.events.map(({ payment }) => payment?.id).toSorted()).toEqual(
          answers.deliveries.map(({ payment_id }) => payment_id).toSorted()
        )

        // An old payment is refunded in part; an old receipt is read, and its signature holds.
        const settled = answers.deliveries[0]?.payment_id
        const refund = yield* call("POST", "/api/v1/refunds", keys.secret, {
          paymentId: settled,
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

        // Its member signs in with the password of then, and is an owner.
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

        // A new payment is opened beside the old ones; the audit log's chain holds over both versions.
        const intent = yield* call("POST", "/api/v1/payment-intents", keys.secret, {
          amount: "5.00",
          intentUrl: "https://shop.example.com/orders/5"
        })
        const opened = yield* call("POST", "/api/v1/payments", keys.publishable, {
          intentToken: intent.body.intentToken
        })
        expect(opened.status).toBe(201)
        const audited = yield* cli("audit", "verify")
        expect([audited.code, audited.output]).toEqual([0, expect.any(String)])
        const sums: ReadonlyArray<{ sum: string }> = yield* Effect.promise(
          () => sql`SELECT sum(amount)::text AS sum FROM payments WHERE status = 'settled'`
        )
        expect(sums).toEqual([{ sum: "23080000" }])
      })
  )
})
