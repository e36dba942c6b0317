// The quickstart, line by line as written: from an empty folder, a service's address and test keys to order 1042 paid,
// on Node with the packages that the service serves, and on Python.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { buildPackages } from "../../packages/installed.ts"
import { makeShop, type Shop } from "../../platform/http/shop.ts"
import { testDatabase } from "../../support/database.ts"
import { startService, type TestService } from "../../support/service.ts"
import { tcpProxy } from "../../support/tcpProxy.ts"

setDefaultTimeout(120_000)

const until = async <A>(what: () => Promise<A | undefined> | A | undefined): Promise<A> => {
  for (const start = performance.now(); performance.now() - start < 60_000; await Bun.sleep(50)) {
    const found = await what()
    if (found !== undefined) return found
  }
  throw new Error("it did not happen in time")
}

describe("quickstart.md", () => {
  const scope = Effect.runSync(Scope.make())
  const directory = mkdtempSync(join(tmpdir(), "quittance-quickstart-"))
  const running: Array<Bun.Subprocess> = []
  let service: TestService
  let shop: Shop
  let guide: string
  let env: Record<string, string>

  beforeAll(async () => {
    buildPackages()
    const port = await Effect.runPromise(freePort(0))
    const baseUrl = `http://localhost:${port}`
    service = await Effect.runPromise(Scope.provide(startService(testDatabase, { baseUrl }), scope))
  })
  afterAll(async () => {
    for (const one of running) one.kill("SIGKILL")
    rmSync(directory, { recursive: true, force: true })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const begin = async (folder: string) => {
    shop = await makeShop(service, await Effect.runPromise(service.newMerchant))
    const text = await (await fetch(`${service.baseUrl}/docs/quickstart.md`)).text()
    // The test's service names another address as its own than the one that it listens on.
    guide = text.replaceAll(/http:\/\/localhost:(?!3000)\d+/g, service.baseUrl)
    mkdirSync(join(directory, folder))
    env = {
      PATH: process.env["PATH"] ?? "",
      HOME: directory,
      npm_config_offline: "false",
      QUITTANCE_URL: service.baseUrl,
      QUITTANCE_KEY: shop.keys.full,
      PUBLISHABLE_KEY: shop.keys.publishable
    }
    return join(directory, folder)
  }
  const blocks = (language: string) =>
    [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
      ([, code = ""]) => code
    )
  const start = (cwd: string, ...command: ReadonlyArray<string>) => {
    let output = ""
    const child = Bun.spawn([...command], { cwd, env, stdout: "pipe", stderr: "pipe" })
    running.push(child)
    const collect = async (stream: ReadableStream<Uint8Array>) => {
      for await (const chunk of stream) output += new TextDecoder().decode(chunk)
    }
    void collect(child.stdout)
    void collect(child.stderr)
    return () => output
  }
  /** A buyer pays the payment of the page at `url`. */
  const payAt = async (url: string) => {
    const { origin } = new URL(url)
    await until(() => fetch(origin).catch(() => undefined))
    const read = async () => {
      const answer = await fetch(url)
      return answer.ok ? answer.text() : ""
    }
    const tokenIn = (html: string) => /intent-token="([^"]+)"/.exec(html)?.[1] ?? ""
    // As after a double click: the page shows the order's only payment.
    const [page = "", ...others] = await Promise.all([read(), read(), read(), read()])
    for (const other of others) expect(tokenIn(other)).toBe(tokenIn(page))
    const again = async () => tokenIn(await (await fetch(url)).text())
    const intentToken = tokenIn(page)
    expect(page).toContain(`publishable-key="${shop.keys.publishable}"`)
    expect(await again()).toBe(intentToken)
    const opened = await shop.call({
      method: "POST",
      path: "/api/v1/payments",
      key: shop.keys.publishable,
      body: { intentToken }
    })
    const { id } = opened.body.payment
    // A buyer who reloads the page while paying pays the same payment.
    expect(await again()).toBe(intentToken)
    await shop.report(id, await shop.transfer(10_000_000n), 10_000_000n)
  }
  /** Another payment of the order, as from a page that still has the previous token. */
  const payOnceMore = async (order: number) => {
    const intent = { amount: "10.00", intentUrl: `https://shop.example.com/orders/${order}` }
    const { intentToken } = (
      await shop.call({
        method: "POST",
        path: "/api/v1/payment-intents",
        key: shop.keys.full,
        body: intent
      })
    ).body
    const { publishable: key } = shop.keys
    const opened = await shop.call({
      method: "POST",
      path: "/api/v1/payments",
      key,
      body: { intentToken }
    })
    const transactionId = await shop.transfer(10_000_000n)
    expect((await shop.report(opened.body.payment.id, transactionId, 10_000_000n)).status).toBe(200)
    return `was paid again, by ${transactionId}: refund that payment.`
  }

  test("Node: installs from the service, takes a payment, ships order 1042 once", async () => {
    const cwd = await begin("node")
    const [, install = "", run = "", listen = ""] = blocks("sh")
    const port = await Effect.runPromise(freePort(0))
    env = { ...env, PORT: String(port), WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 5).toString("base64")}` }
    writeFileSync(join(cwd, "shop.mjs"), blocks("js")[0] ?? "")
    const typed = install.split("\n").filter((line) => line.startsWith("npm"))
    expect(typed).toHaveLength(2)
    for (const line of typed) {
      // Asynchronous, because the service that serves the packages runs in this process.
      const child = Bun.spawn(["sh", "-c", line], { cwd, env, stdout: "ignore", stderr: "pipe" })
      running.push(child)
      const error = await new Response(child.stderr).text()
      const exitCode = await child.exited
      expect({ line, exitCode, error: exitCode === 0 ? "" : error }).toEqual({ line, exitCode: 0, error: "" })
    }
    const told = start(cwd, "sh", "-c", `exec ${run.trim()}`)
    const listening = start(cwd, "sh", "-c", `exec ${listen.trim().replace("3000", String(port))}`)
    await until(() => (listening().includes("WEBHOOK_SECRET") ? true : undefined))
    await payAt(`http://localhost:${port}/orders/1042`)
    await until(() => (told().includes("Order 1042 is paid: ship it.") ? true : undefined))
    expect(await (await fetch(`http://localhost:${port}/orders/1042`)).text()).toContain(
      "Order 1042 is paid."
    )
    expect(told().match(/ship it/g)).toHaveLength(1)
    // The order ships before the shop answers, and the line comes after the answer.
    await until(() => (listening().includes("->  204") ? true : undefined))
    const second = await payOnceMore(1042)
    await until(() => (listening().match(/-> {2}204/g)?.length === 2 ? true : undefined))
    await until(() => (told().includes(second) ? true : undefined))
    expect(told().match(/ship it/g)).toHaveLength(1)
  })

  const python = Bun.which("python3")
  test.skipIf(python === null)("Python: takes a payment and ships order 1043 once", async () => {
    const cwd = await begin("python")
    const port = await Effect.runPromise(freePort(0))
    env = { ...env, PORT: String(port) }
    writeFileSync(join(cwd, "shop.py"), blocks("python")[0] ?? "")
    const proxy = await Effect.runPromise(
      Scope.provide(tcpProxy(Number(new URL(service.baseUrl).port)), scope)
    )
    env = { ...env, QUITTANCE_URL: `http://127.0.0.1:${proxy.port}` }
    const told = start(cwd, python ?? "python3", "shop.py")
    // A call that ends without an answer, as from a service that restarts, is repeated.
    // A shop that starts late makes its first call after the first cut.
    for (let cuts = 0; cuts < 20 && !told().includes("trying again"); cuts++) {
      proxy.stall()
      await Bun.sleep(1_500)
      proxy.cut()
      proxy.resume()
      await Bun.sleep(500)
    }
    expect(told()).toContain("trying again")
    await payAt(`http://127.0.0.1:${port}/orders/1043`)
    await until(() => (told().includes("/orders/1043 is paid: ship it.") ? true : undefined))
    const second = await payOnceMore(1043)
    await until(() => (told().includes(second) ? true : undefined))
    expect(told().match(/ship it/g)).toHaveLength(1)
  })
})
