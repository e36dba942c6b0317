// The shops of docs/shop.md, run as they stand: each creates an intent against the real
// service, ships once on a signed webhook, and refuses a forged one.

import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { freePort } from "../../src/dev/freePort.ts"
import { testDatabase } from "../support/database.ts"
import { spawnProgram, temporaryDirectory } from "../support/process.ts"
import { startService, type TestMerchant, type TestService } from "../support/service.ts"
import { order, paidIn, secondPayment, secret, statusesOf } from "./deliveries.ts"

setDefaultTimeout(60_000)

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
          const statuses = yield* Effect.promise(() => statusesOf(post))
          expect(statuses).toEqual([204, 204, 400])
          const second = yield* Effect.promise(secondPayment)
          expect((yield* Effect.promise(() => post("/webhooks/quittance", second))).status).toBe(204)
          const rows = new Database(db, { readonly: true }).query("SELECT * FROM orders").all()
          expect(rows).toEqual([{ url: order.intentUrl, paid: 1, shipments: 1 }])
        })
      )
      await Effect.runPromise(run)
    }, 180_000)
  }

  test("nextjs: its route handlers create an intent, ship once, refuse a forgery", async () => {
    const directory = mkdtempSync(join(tmpdir(), "quittance-next-shop-"))
    const env = {
      SHOP_DB: directory,
      QUITTANCE_KEY: merchant.keys.test.secret,
      QUITTANCE_URL: service.baseUrl,
      WEBHOOK_SECRET: secret
    }
    Object.assign(process.env, env)
    const checkout = await import("./nextjs/app/checkout/route.ts")
    const webhook = await import("./nextjs/app/webhooks/quittance/route.ts")
    // They read it when they are loaded.
    for (const name of Object.keys(env)) delete process.env[name]
    const post = (path: string, init: RequestInit = {}) =>
      path === "/checkout"
        ? checkout.POST()
        : webhook.POST(new Request(`https://shop.example.com${path}`, { method: "POST", ...init }))
    expect(await statusesOf(post)).toEqual([204, 204, 400])
    expect(paidIn(directory)).toEqual([order.intentUrl])
    rmSync(directory, { recursive: true })
  })

  const nextFiles = ["orders", "app/checkout/route", "app/webhooks/quittance/route"].map(
    (file) => `nextjs/${file}`
  )
  for (const file of ["orders", "bun", "hono", "express", ...nextFiles]) {
    test(`docs/shop.md shows test/examples/${file}.ts as it runs`, () => {
      const code = readFileSync(join(import.meta.dir, `${file}.ts`), "utf8").trim()
      expect(readme).toContain(code)
    })
  }
})
