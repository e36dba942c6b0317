// The shop for Next.js in Next.js itself, which npm installs: built, started, and sent deliveries.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { buildPackages, run, tarballOf } from "../packages/installed.ts"
import { testDatabase } from "../support/database.ts"
import { startService } from "../support/service.ts"
import { oneTokenOf, order, paidIn, secret, statusesOf } from "./deliveries.ts"

setDefaultTimeout(300_000)

describe("The shop for Next.js", () => {
  const scope = Effect.runSync(Scope.make())
  const directory = mkdtempSync(join(tmpdir(), "quittance-next-"))
  const orders = join(directory, "shop-orders")
  let shop: string
  let running: Bun.Subprocess | undefined

  const must = (...command: ReadonlyArray<string>) => {
    const { exitCode, output } = run(command, directory)
    if (exitCode !== 0) throw new Error(output)
  }

  beforeAll(async () => {
    buildPackages()
    cpSync(join(import.meta.dir, "nextjs"), directory, { recursive: true })
    must("npm", "install", "--no-audit", "--no-fund", tarballOf("client"))
    must("npm", "run", "build")
    const service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
    const merchant = await Effect.runPromise(service.newMerchant)
    const port = await Effect.runPromise(freePort(0))
    shop = `http://127.0.0.1:${port}`
    running = Bun.spawn(["node", "node_modules/next/dist/bin/next", "start", "--port", String(port)], {
      cwd: directory,
      stdout: "ignore",
      stderr: "inherit",
      env: {
        PATH: process.env["PATH"] ?? "",
        NEXT_TELEMETRY_DISABLED: "1",
        SHOP_DB: orders,
        QUITTANCE_KEY: merchant.keys.test.secret,
        QUITTANCE_URL: service.baseUrl,
        WEBHOOK_SECRET: secret
      }
    })
    for (let tries = 0; tries < 200; tries++) {
      const isUp = await fetch(shop).then(
        () => true,
        () => false
      )
      if (isUp) break
      await Bun.sleep(100)
    }
  })
  afterAll(async () => {
    running?.kill()
    await running?.exited
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(directory, { recursive: true, force: true })
  })

  test("gives an order one payment, ships once, refuses a forgery", async () => {
    const post = (path: string, init: RequestInit = {}) =>
      fetch(`${shop}${path}`, { method: "POST", ...init })
    await oneTokenOf(post)
    expect(await statusesOf(post)).toEqual([204, 204, 400])
    expect(paidIn(orders)).toEqual([order.intentUrl])
  })
})
