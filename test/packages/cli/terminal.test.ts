// `quittance`, as a shop's developer runs it on Node with a service that it reaches over HTTP only.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { verifyDelivery } from "../../../src/packages/client/verifyWebhook.ts"
import { makeShop, type Shop } from "../../platform/http/shop.ts"
import { testDatabase } from "../../support/database.ts"
import { startService, type TestService } from "../../support/service.ts"

setDefaultTimeout(120_000)

interface Received {
  readonly body: string
  readonly headers: Headers
}

const node = Bun.which("node") ?? process.execPath

describe("quittance", () => {
  const scope = Effect.runSync(Scope.make())
  const directory = mkdtempSync(join(tmpdir(), "quittance-terminal-"))
  const program = join(directory, "main.js")
  const config = join(directory, "config/cli.json")
  const env = { PATH: process.env["PATH"] ?? "", QUITTANCE_CONFIG: config }
  const received: Array<Received> = []
  let service: TestService
  let shop: Shop
  let accepts = true
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      received.push({ body: await request.text(), headers: request.headers })
      return new Response(null, { status: accepts ? 204 : 500 })
    }
  })
  const forwardTo = `http://127.0.0.1:${receiver.port}/hook`

  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
    shop = await makeShop(service, await Effect.runPromise(service.newMerchant))
    const { outputs } = await Bun.build({
      entrypoints: [join(import.meta.dir, "../../../src/packages/cli/main.ts")],
      target: "node"
    })
    await Bun.write(program, (await outputs[0]?.text()) ?? "")
  })
  afterAll(async () => {
    await receiver.stop(true)
    rmSync(directory, { recursive: true, force: true })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const run = (...words: ReadonlyArray<string>) => runIn({}, ...words)
  const runIn = async (more: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) => {
    const child = Bun.spawn([node, program, ...words], {
      env: { ...env, ...more },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [output, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text()
    ])
    return { exitCode: await child.exited, output, error }
  }
  const until = async (what: () => boolean) => {
    const start = performance.now()
    while (!what()) {
      if (performance.now() - start > 60_000) throw new Error("it did not happen in time")
      await Bun.sleep(20)
    }
  }
  const idOf = ({ body }: Received): string => JSON.parse(body).id

  test("refuses a wrong key at login, and stores a right one readable only by its owner", async () => {
    const wrong = await run("login", "--url", service.baseUrl, "--key", "sk_test_wrong")
    expect(wrong.exitCode).toBe(1)
    expect(wrong.error).toContain("INVALID_API_KEY")
    const right = await run("login", "--url", service.baseUrl, "--key", shop.keys.full)
    expect(right.exitCode).toBe(0)
    expect(statSync(config).mode & 0o777).toBe(0o600)
  })

  for (const [runtime, runs] of Object.entries({ node, bun: process.execPath }))
    test(`asks for the key on a terminal without showing it, on ${runtime}`, async () => {
      const at = { ...env, QUITTANCE_CONFIG: join(directory, runtime, "cli.json") }
      const login = async (typed: string) => {
        let shown = ""
        const decoder = new TextDecoder()
        const child = Bun.spawn([runs, program, "login", "--url", service.baseUrl], {
          env: at,
          terminal: {
            data: (terminal, bytes) => {
              const isAsked = shown.includes("as you type): ")
              shown += decoder.decode(bytes)
              if (!isAsked && shown.includes("as you type): ")) setTimeout(() => terminal.write(typed), 500)
            }
          }
        })
        return { exitCode: await child.exited, shown }
      }
      const done = await login(`${shop.keys.full}x\u007f\r`)
      expect(done.shown).toContain(`Logged in to ${service.baseUrl}`)
      const secret = shop.keys.full.slice("sk_test_".length)
      for (let from = 0; from + 8 <= secret.length; from++)
        expect(done.shown).not.toContain(secret.slice(from, from + 8))
      expect(done.exitCode).toBe(0)
      expect(JSON.parse(readFileSync(at.QUITTANCE_CONFIG, "utf8")).key).toBe(shop.keys.full)
      expect((await login("sk_test_\u0003")).exitCode).toBe(130)
      const ended = await login("\u0004")
      expect([ended.exitCode, ended.shown.includes("No key was entered.")]).toEqual([1, true])
    })

  test("the stored key is sent only to the service that it was stored for", async () => {
    const asked: Array<string | null> = []
    await using stranger = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ headers }) => {
        asked.push(headers.get("authorization"))
        return Response.json({ payments: [], hasMore: false })
      }
    })
    const url = `http://127.0.0.1:${stranger.port}`
    for (const refused of [
      await run("payments", "--url", url),
      await runIn({ QUITTANCE_URL: url }, "payments")
    ]) {
      expect(refused.exitCode).toBe(1)
      expect(refused.error).toContain(`The stored key is for ${service.baseUrl}.`)
    }
    expect(asked).toEqual([])
    expect((await run("payments", "--url", `${service.baseUrl}/`)).exitCode).toBe(0)
    const given = await run("payments", "--url", url, "--key", "sk_test_of_another")
    expect(given.exitCode).toBe(0)
    expect(asked).toEqual(["Bearer sk_test_of_another"])
  })

  test("lists payments, finds one by its order and its transaction, and shows it", async () => {
    const { payment, transactionId } = await shop.settle()
    for (const filter of [[], ["--order", payment.intentUrl], ["--transaction", transactionId]]) {
      const { output } = await run("payments", "--json", ...filter)
      expect(JSON.parse(output).payments.map((one: { id: string }) => one.id)).toEqual([payment.id])
    }
    const { output } = await run("payments", payment.id)
    expect(JSON.parse(output)).toEqual(payment)
  })

  test("forwards every event once, across kills and an absent server, each signed with its order", async () => {
    const before = await run("payments", "--json")
    const orders = new Map(
      JSON.parse(before.output).payments.map((one: { id: string; intentUrl: string }) => [
        one.id,
        one.intentUrl
      ])
    )
    const cursor = join(directory, "cursor")
    const listen = () =>
      Bun.spawn([node, program, "listen", "--from-start", "--cursor", cursor, "--forward-to", forwardTo], {
        env,
        stderr: "pipe"
      })
    let child = listen()
    await until(() => received.length === 1 && existsSync(cursor) && readFileSync(cursor, "utf8") !== "")
    child.kill("SIGKILL")
    await child.exited
    const later = [await shop.settle(), await shop.settle()]
    child = listen()
    await until(() => received.length === 3)
    const last = await shop.settle()
    await until(() => received.length === 4)
    child.kill("SIGINT")
    expect(await child.exited).toBe(130)
    expect(new Set(received.map(idOf)).size).toBe(4)

    const { webhookSecret } = JSON.parse(readFileSync(config, "utf8"))
    const named: Array<string | undefined> = []
    for (const { body, headers } of received) {
      const { event, order } = await verifyDelivery(body, headers, webhookSecret)
      expect(event.type).toBe("payment.settled")
      named.push(order?.paymentId)
    }
    expect(named).toEqual([
      ...[...orders.keys()].map(String),
      ...later.map((one) => one.payment.id),
      last.payment.id
    ])
  })

  test("forwards events from while it was stopped, even if there were none before", async () => {
    received.length = 0
    const fresh = await makeShop(service, await Effect.runPromise(service.newMerchant))
    const cursor = join(directory, "fresh-cursor")
    const listen = () =>
      Bun.spawn([node, program, "listen", "--cursor", cursor, "--forward-to", forwardTo], {
        env: { ...env, QUITTANCE_URL: service.baseUrl, QUITTANCE_KEY: fresh.keys.full },
        stderr: "pipe"
      })
    const first = listen()
    const { value } = await first.stderr.getReader().read()
    expect(new TextDecoder().decode(value)).toContain("Forwarding events")
    first.kill("SIGINT")
    await first.exited
    const { payment } = await fresh.settle()
    const second = listen()
    await until(() => received.length === 1)
    second.kill("SIGINT")
    await second.exited
    expect(received[0]?.headers.get("quittance-payment-id")).toBe(payment.id)
  })

  test("sends a signed sample, and prints the server's answer", async () => {
    received.length = 0
    accepts = false
    const { exitCode, output } = await run("trigger", "payment.settled", "--forward-to", forwardTo, "--json")
    accepts = true
    expect({ exitCode, status: JSON.parse(output).status }).toEqual({ exitCode: 0, status: 500 })
    const [sent] = received
    const { webhookSecret } = JSON.parse(readFileSync(config, "utf8"))
    expect(await verifyDelivery(sent?.body ?? "", sent?.headers ?? {}, webhookSecret)).toMatchObject({
      order: { intentUrl: "https://shop.example.com/orders/1042" }
    })
  })

  test("a sample has the exact amount, and an invalid amount is refused", async () => {
    const sampled = async (amount: string) => {
      received.length = 0
      const ran = await run("trigger", "payment.settled", "--forward-to", forwardTo, "--amount", amount)
      return {
        exitCode: ran.exitCode,
        sent: received.map(({ body }) => JSON.parse(body).tokenChanges[0].amountAtomic)
      }
    }
    for (const [amount, atomic] of [
      ["0.000001", "1"],
      ["9007199254.740993", "9007199254740993"],
      ["99999999999999.999999", "99999999999999999999"]
    ] as const)
      expect(await sampled(amount)).toEqual({ exitCode: 0, sent: [atomic] })
    for (const amount of ["ten", "0", "1e3", "0.0000001"])
      expect(await sampled(amount)).toEqual({ exitCode: 2, sent: [] })
  })

  test("listen does not print a secret that it was started with; it prints one that it has created", async () => {
    const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
    const said = async (more: Readonly<Record<string, string>>) => {
      const child = Bun.spawn(
        [node, program, "listen", "--forward-to", forwardTo, "--cursor", join(directory, "said")],
        {
          env: { ...env, ...more },
          stdout: "ignore",
          stderr: "pipe"
        }
      )
      let text = ""
      for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
        text += chunk
        if (/Signed with.*\n/.test(text)) child.kill()
      }
      return text
    }
    const given = await said({ WEBHOOK_SECRET })
    expect(given).not.toContain(WEBHOOK_SECRET)
    expect(given).toContain("Signed with the WEBHOOK_SECRET that is set.")
    expect(await said({})).toMatch(/Signed with WEBHOOK_SECRET=whsec_/)
  })

  test("with --json an error is a document on standard output, with a suggestion", async () => {
    const refusal = async (...args: ReadonlyArray<string>) => {
      const { error, exitCode, output } = await run(...args, "--json")
      return { exitCode, error, document: JSON.parse(output) }
    }
    const unknown = { message: "There is no command `lsten`.", hint: "Did you mean `quittance listen`?" }
    expect(await refusal("lsten")).toEqual({ exitCode: 2, error: "", document: { error: unknown } })
    const number = { message: '--limit must be a whole number, not "many".', hint: "For example: --limit 20" }
    expect(await refusal("payments", "--limit", "many")).toMatchObject({ document: { error: number } })
    expect(await refusal("payments", crypto.randomUUID())).toMatchObject({
      exitCode: 1,
      document: { error: { code: "PAYMENT_NOT_FOUND", requestId: expect.any(String) } }
    })
    expect((await run("webhook", "replay")).error).toEndWith("Did you mean `quittance webhooks replay`?\n")
  })

  test("resends an event, and replays those without an endpoint", async () => {
    const { body } = await shop.call({ method: "GET", path: "/api/v1/events", key: shop.keys.full })
    const id = body.events[0]?.event.id ?? ""
    const early = await run("webhooks", "resend", id)
    expect(early.exitCode).toBe(1)
    expect(early.error).toContain("WEBHOOK_ENDPOINT_NOT_FOUND")
    await shop.call({
      method: "POST",
      path: "/api/v1/webhook-endpoint",
      key: shop.keys.full,
      body: { url: "https://hooks.example.com/a" }
    })
    expect((await run("webhooks", "resend", id)).output).toBe(`${id}  delivered  200\n`)
    const replayed = await run("webhooks", "replay")
    expect(replayed.output).toEndWith(`Delivered ${body.events.length - 1} events.\n`)
    expect((await run("webhooks", "replay", "--json")).output).toBe('{"count":0}\n')
    expect((await run("trigger", "test")).output).toContain("delivered")
  })

  test("replays the other events if one is being resent by somebody else", async () => {
    const [taken, left] = [crypto.randomUUID(), crypto.randomUUID()]
    const failed = (id: string) => ({
      event: { id, type: "payment.settled" },
      payment: null,
      delivery: "failed"
    })
    const error = { code: "DELIVERY_PENDING", message: "Later.", retryable: true, requestId: "req_1" }
    const shared = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      routes: {
        "/api/v1/events": () => Response.json({ events: [failed(taken), failed(left)], hasMore: false }),
        [`/api/v1/events/${taken}/resend`]: () => Response.json({ error }, { status: 409 }),
        [`/api/v1/events/${left}/resend`]: () =>
          Response.json({ delivery: { id: left, status: "delivered", attempts: [] } })
      }
    })
    const at = ["--url", shared.url.origin, "--key", "sk_test_of_another"]
    const { exitCode, output } = await run("webhooks", "replay", "--json", ...at)
    await shared.stop(true)
    const lines = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect({ exitCode, lines }).toEqual({
      exitCode: 0,
      lines: [{ id: taken, status: "under way" }, { id: left, status: "delivered" }, { count: 1 }]
    })
  })

  test("counts only events that the server accepted as delivered", async () => {
    const ids = [crypto.randomUUID(), crypto.randomUUID()]
    const statusOf = (id: string) => (id === ids[0] ? "failed" : "delivered")
    const event = (id: string) => ({
      event: { id, type: "payment.settled" },
      payment: null,
      delivery: "failed"
    })
    const service = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      routes: {
        "/api/v1/events": () => Response.json({ events: ids.map(event), hasMore: false }),
        "/api/v1/events/:id/resend": ({ params: { id } }) =>
          Response.json({ delivery: { id, status: statusOf(id), attempts: [] } })
      }
    })
    const replay = ["webhooks", "replay", "--url", service.url.origin, "--key", "sk_test_of_another"]
    const [text, json] = [await run(...replay), await run(...replay, "--json")]
    await service.stop(true)
    expect(text.output).toEndWith("Delivered 1 event. Your endpoint did not accept 1 event.\n")
    expect(json.output).toEndWith('{"count":1,"failed":1}\n')
  })

  test("says what is wrong with a command, and how to write it", async () => {
    for (const [words, told] of [
      [["listen"], "needs --forward-to"],
      [["listen", "--forward", "x"], "Usage: quittance listen"],
      [["listen", "--forward-to", "localhost"], "is not a URL"],
      [["nothing", "here"], "no command `nothing here`"],
      [["webhooks"], "`quittance webhooks resend`"],
      [["open", "safe"], "no page safe"],
      [["listen", "--forward-to", forwardTo, "--patience", "abc"], "--patience must be a whole number"],
      [["payments", "--limit", "1e2"], "--limit must be a whole number"],
      [["constructor"], "no command `constructor`"],
      [["webhooks", "resend"], "Usage: quittance webhooks resend EVENT"]
    ] as const) {
      const { exitCode, error } = await run(...words)
      expect({ words, exitCode }).toEqual({ words, exitCode: 2 })
      expect(error).toContain(told)
    }
    expect((await run("payments", "--help")).output).toContain("Usage: quittance payments")
    const { exitCode, error } = await run("payments", "--limit", "500")
    expect(exitCode).toBe(1)
    expect(error).toContain("query.limit: ")
    const empty = { QUITTANCE_URL: "", QUITTANCE_KEY: "", WEBHOOK_SECRET: "" }
    const sample = ["trigger", "payment.settled", "--forward-to", forwardTo] as const
    expect((await runIn(empty, ...sample)).exitCode).toBe(0)
  })
})
