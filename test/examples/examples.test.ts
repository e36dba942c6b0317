// The shops of docs/shop.md, run as they stand: each creates an intent against the real
// service, ships once on a signed webhook, and refuses a forged one.

import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { signTestWebhook, type WebhookEvent } from "../../src/client/verifyWebhook.ts"
import { freePort } from "../../src/dev/freePort.ts"
import { testDatabase } from "../support/database.ts"
import { spawnProgram, temporaryDirectory } from "../support/process.ts"
import { startService, type TestMerchant, type TestService } from "../support/service.ts"

setDefaultTimeout(60_000)

const secret = `whsec_${Buffer.alloc(32, 3).toString("base64")}`
const event: WebhookEvent = {
  id: "01a1fc34-7205-710e-9410-874fee9a4996",
  type: "payment.settled",
  livemode: false,
  transactionId: `0x${"ab".repeat(32)}`,
  tokenChanges: [{ amountAtomic: "10000000", chainId: 84532, receiver: "0x1", tokenAddress: "0x2" }]
}
const order = {
  paymentId: "01a1fc34-7205-710e-9410-874fee9a4997",
  intentUrl: "https://shop.example.com/orders/1042"
}
const readme = readFileSync(join(import.meta.dir, "../../docs/shop.md"), "utf8")

describe("The shops of docs/shop.md", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  let merchant: TestMerchant

  beforeAll(async () => {
    const database = testDatabase
    service = await Effect.runPromise(Scope.provide(startService(database), scope))
    merchant = await Effect.runPromise(service.newMerchant)
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  for (const name of ["bun", "hono", "express"]) {
    test(`${name}: creates an intent, ships once, refuses a forgery`, async () => {
      const run = Effect.scoped(
        Effect.gen(function* () {
          const directory = yield* temporaryDirectory
          const port = yield* freePort(0)
          const db = join(directory, "shop.sqlite")
          yield* spawnProgram([`test/examples/${name}.ts`], {
            PORT: String(port),
            SHOP_DB: db,
            QUITTANCE_KEY: merchant.keys.test.secret,
            QUITTANCE_URL: service.baseUrl,
            WEBHOOK_SECRET: secret
          })
          const shop = `http://127.0.0.1:${port}`
          const post = (path: string, init: RequestInit = {}) =>
            fetch(`${shop}${path}`, { method: "POST", ...init })
          yield* Effect.promise(async () => {
            for (let tries = 0; tries < 100; tries++) {
              if (
                await post("/checkout").then(
                  (answer) => answer.ok,
                  () => false
                )
              )
                return
              await Bun.sleep(50)
            }
          })
          const signed = yield* Effect.promise(() => signTestWebhook(event, secret, { order }))
          const statuses = yield* Effect.promise(async () => {
            const intent: unknown = await (await post("/checkout")).json()
            expect(intent).toMatchObject({ intentToken: expect.stringContaining(".") })
            const answers = [
              await post("/webhooks/quittance", signed),
              await post("/webhooks/quittance", signed),
              await post("/webhooks/quittance", { ...signed, body: `${signed.body} ` })
            ]
            return answers.map((answer) => answer.status)
          })
          expect(statuses).toEqual([204, 204, 400])
          const rows = new Database(db, { readonly: true }).query("SELECT * FROM orders").all()
          expect(rows).toEqual([{ url: order.intentUrl, paid: 1, shipments: 1 }])
        })
      )
      await Effect.runPromise(run)
    }, 30_000)
  }

  for (const file of ["orders", "bun", "hono", "express"]) {
    test(`docs/shop.md shows test/examples/${file}.ts as it runs`, () => {
      const code = readFileSync(join(import.meta.dir, `${file}.ts`), "utf8").trim()
      expect(readme).toContain(code)
    })
  }
})
