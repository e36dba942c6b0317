// The example shops that docs/shop.md links to: each creates an intent against the real
// service, and the same one for the same order, ships once on a signed webhook, and refuses a forged one.

import { Database } from "bun:sqlite"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { serviceForFile } from "../support/forFile.ts"
import { spawnProgram, temporaryDirectory } from "../support/process.ts"
import { oneTokenOf, order, paidIn, secondPayment, secret, statusesOf } from "./deliveries.ts"

setDefaultTimeout(120_000)

const service = await serviceForFile()
const merchant = await Effect.runPromise(service.newMerchant)

describe("The example shops", () => {
  const open = async (intentToken: string) => {
    const { status } = await fetch(`${service.baseUrl}/api/v1/payments`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${merchant.keys.test.publishable}`,
        "content-type": "application/json"
      },
      body: JSON.stringify({ intentToken })
    })
    expect(status).toBe(201)
  }
  /** A token that was not opened in time is replaced; the token of an open payment never is. */
  const keepsItsPayment = async (post: (path: string) => Promise<Response>, age: () => unknown) => {
    const first = await oneTokenOf(post)
    await age()
    const second = await oneTokenOf(post)
    expect(second).not.toBe(first)
    await open(second)
    await age()
    expect(await oneTokenOf(post)).toBe(second)
  }

  for (const name of ["bun", "hono", "express"]) {
    test(`${name}: gives an order one payment, ships once, refuses a forgery`, async () => {
      const run = Effect.scoped(
        Effect.gen(function* () {
          const directory = yield* temporaryDirectory
          const port = yield* freePort(0)
          const file = join(directory, "shop.sqlite")
          yield* spawnProgram([`test/examples/${name}.ts`], {
            PORT: String(port),
            SHOP_DB: file,
            QUITTANCE_KEY: merchant.keys.test.secret,
            QUITTANCE_URL: service.baseUrl,
            WEBHOOK_SECRET: secret
          })
          const shop = `http://127.0.0.1:${port}`
          const post = (path: string, init: RequestInit = {}) =>
            fetch(`${shop}${path}`, { method: "POST", ...init })
          const isUp = () =>
            fetch(shop).then(
              () => true,
              () => false
            )
          yield* Effect.promise(async () => {
            for (let tries = 0; tries < 1_200 && !(await isUp()); tries++) await Bun.sleep(50)
            await keepsItsPayment(post, () => new Database(file).run("UPDATE orders SET created_at = 0"))
          })
          const statuses = yield* Effect.promise(() => statusesOf(post))
          expect(statuses).toEqual([204, 204, 400])
          const second = yield* Effect.promise(secondPayment)
          expect((yield* Effect.promise(() => post("/webhooks/quittance", second))).status).toBe(204)
          const rows = new Database(file, { readonly: true })
            .query("SELECT url, paid, shipments FROM orders")
            .all()
          expect(rows).toEqual([{ url: order.intentUrl, paid: 1, shipments: 1 }])
          expect((yield* Effect.promise(() => post("/checkout"))).status).toBe(409)
        })
      )
      await Effect.runPromise(run)
    }, 180_000)
  }

  test("nextjs: its route handlers give an order one payment, ship once, refuse a forgery", async () => {
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
    // The modules read the environment when they load.
    for (const name of Object.keys(env)) delete process.env[name]
    const post = (path: string, init: RequestInit = {}) =>
      path === "/checkout"
        ? checkout.POST()
        : webhook.POST(new Request(`https://shop.example.com${path}`, { method: "POST", ...init }))
    await keepsItsPayment(post, () => {
      for (const name of readdirSync(join(directory, "intents"))) {
        const file = join(directory, "intents", name)
        writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), at: 0 }))
      }
    })
    expect(await statusesOf(post)).toEqual([204, 204, 400])
    expect(paidIn(directory)).toEqual([order.intentUrl])
    rmSync(directory, { recursive: true })
  })
})
