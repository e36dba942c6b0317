// The Python and PHP clients, installed from the service and run against it, and against one that misbehaves.
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import vectors from "../../docs/guides/webhook-vectors.json"
import { wheelName } from "../../src/app/packages/wheelName.ts"
import { signTestWebhook } from "../../src/packages/client/verifyWebhook.ts"
import { makeShop, type Shop } from "../platform/http/shop.ts"
import { testDatabase } from "../support/database.ts"
import { startService, type TestService } from "../support/service.ts"
import { buildPackages, root } from "./installed.ts"

setDefaultTimeout(120_000)

const asked: Array<string> = []
/** Answers each path by its last part, and records the requests. */
const misbehaving = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 30,
  fetch: async (request) => {
    const { pathname } = new URL(request.url)
    const name = pathname.split("/").at(-1) ?? ""
    const body = request.method === "GET" ? "" : await request.text()
    asked.push(body === "" ? name : `${name} ${body}`)
    const error = { code: "SERVICE_UNAVAILABLE", message: "Later.", retryable: true, requestId: "req_1" }
    switch (name) {
      case "retried":
        return asked.filter((one) => one === name).length > 1
          ? Response.json({ payment: {} })
          : Response.json({ error }, { status: 503, headers: { "retry-after": "1" } })
      case "html":
        return new Response("<html>", { status: 404 })
      case "elsewhere":
        return new Response(null, { status: 302, headers: { location: "/stolen" } })
      case "hangs":
        await Bun.sleep(7_500)
        return new Response("late")
      default:
        return Response.json({ error }, { status: 500 })
    }
  }
})

const orders = (one: (typeof vectors)[number]) =>
  one.verifies ? (one.order === null ? null : [one.order.paymentId, one.order.intentUrl]) : "refused"

const expected = {
  intent: ["10.00", "test", 3],
  payments: { payments: [], hasMore: false },
  events: [],
  links: [["Repair", "25.00"]],
  // CSV begins with a byte order mark, for spreadsheets.
  export: "\ufeffat",
  refused: [
    [400, "INVALID_REQUEST", ["body.amount"], true],
    [401, "INVALID_API_KEY", [], true],
    [400, "INVALID_REQUEST", ["path.id"], true]
  ],
  transport: [
    null,
    [404, "UNKNOWN_ANSWER", [], false],
    [302, "UNKNOWN_ANSWER", [], false],
    [0, "NO_ANSWER", [], false],
    [500, "SERVICE_UNAVAILABLE", [], true],
    [500, "SERVICE_UNAVAILABLE", [], true]
  ],
  vectors: vectors.map(orders)
}

describe("The clients in other languages", () => {
  const scope = Effect.runSync(Scope.make())
  const directory = mkdtempSync(join(tmpdir(), "quittance-languages-"))
  let service: TestService
  let shop: Shop
  let key = ""

  beforeAll(async () => {
    buildPackages()
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  })
  beforeEach(async () => {
    asked.length = 0
    shop = await makeShop(service, await Effect.runPromise(service.newMerchant))
    key = shop.keys.full
  })
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true })
    await misbehaving.stop(true)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  /** Asynchronous, because this process serves the program's requests. */
  const run = async (command: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) => {
    const child = Bun.spawn([...command], {
      cwd: directory,
      env: { PATH: process.env["PATH"] ?? "", HOME: directory, QUITTANCE_KEY: key, ...more },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text()
    ])
    return { exitCode: await child.exited, stdout, stderr }
  }
  const succeeded = async (...given: Parameters<typeof run>) => {
    const { exitCode, stdout, stderr } = await run(...given)
    if (exitCode !== 0) throw new Error(`${given[0].join(" ")}\n${stdout}\n${stderr}`)
    return stdout
  }
  const source = (name: string) => join(root, "test/packages/languages", name)
  const args = () => [
    service.baseUrl,
    `http://127.0.0.1:${misbehaving.port}`,
    join(root, "docs/guides/webhook-vectors.json")
  ]
  const saw = (printed: string) => {
    expect(JSON.parse(printed)).toEqual(expected)
    // Retried if it is safe: never a creation, except a refund with the same id.
    const [first = "", second, ...rest] = asked.filter((one) => one.startsWith("refunds"))
    expect([first, rest.length]).toEqual([second ?? "", 0])
    expect(first).toMatch(/"id":\s*"[0-9a-f-]{36}"/)
    const counted = (name: string) => asked.filter((one) => one.split(" ")[0] === name).length
    expect(["retried", "html", "elsewhere", "stolen", "hangs", "payment-links"].map(counted)).toEqual([
      2, 1, 1, 0, 2, 1
    ])
  }

  /** The guide as the service shows it, with the address under which this test reaches it. */
  const guideBlock = async (language: string) => {
    const text = await (await fetch(`${service.baseUrl}/docs/clients.md`)).text()
    const [, block = ""] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(text) ?? []
    return block.replaceAll(/http:\/\/localhost:\d+/g, service.baseUrl)
  }
  const guideEnv = () => ({ QUITTANCE_URL: service.baseUrl })
  /** Calls the guide's webhook server with the first vector and with a body that the service did not send. */
  const [vector] = vectors
  const receipts =
    "10.00 test\nhttps://shop.example.com/orders/1042?gr%C3%B6%C3%9Fe=1 is paid: ship it.\n204 204 400\n" +
    "https://shop.example.com/orders/1042 is paid: ship it.\n204 204\n"
  /** A delivery without an order's headers, as if its URL were too long for a header. */
  const unnamed = async () => {
    await shop.settle()
    const { body } = await shop.call({ method: "GET", path: "/api/v1/events", key })
    const [settled] = body.events
    if (settled === undefined) throw new Error("no event")
    return JSON.stringify(
      await signTestWebhook(settled.event, vector?.secret ?? "", { now: vector?.now ?? 0 })
    )
  }

  const python = Bun.which("python3")
  const pip = python !== null && Bun.spawnSync([python, "-m", "pip", "--version"]).success
  const noPip = pip ? "" : ": Python with pip is not installed"
  test.skipIf(!pip)(`Python: pip installs the wheel, and a shop runs on it${noPip}`, async () => {
    const target = join(directory, "python")
    await succeeded([
      ...[python ?? "python3", "-m", "pip", "install", "--no-index", "--no-deps", "--target", target],
      `${service.baseUrl}/packages/${wheelName}`
    ])
    saw(await succeeded([python ?? "python3", source("shop.py"), ...args()], { PYTHONPATH: target }))
    expect(await guideBlock("sh")).toContain("npm install")
    const guide = join(directory, "guide.py")
    writeFileSync(
      guide,
      `${await guideBlock("python")}
import json, sys, time
given = json.loads(sys.argv[1])
time.time = lambda: given["now"]
body = given["body"].encode()
print(receive(body, given["headers"]), receive(body, given["headers"]), receive(b"{}", given["headers"]))
unnamed = json.loads(sys.argv[2])
print(*(receive(unnamed["body"].encode(), unnamed["headers"]) for _ in range(2)))
`
    )
    const env = { ...guideEnv(), PYTHONPATH: target, WEBHOOK_SECRET: vector?.secret ?? "" }
    expect(await succeeded([python ?? "python3", guide, JSON.stringify(vector), await unnamed()], env)).toBe(
      receipts
    )
  })

  const mypy = Bun.which("mypy")
  const noMypy = mypy === null ? ": mypy is not installed" : ""
  test.skipIf(mypy === null || !pip)(`Python: its types pass mypy --strict${noMypy}`, async () => {
    const target = join(directory, "python")
    expect(await succeeded([mypy ?? "mypy", "--strict", join(target, "quittance")])).toContain("no issues")
  })

  const php = Bun.which("php")
  const noPhp = php === null ? ": PHP is not installed" : ""
  const composer = Bun.which("composer")
  const noComposer = composer === null ? ": Composer is not installed" : ""
  test.skipIf(php === null || composer === null)(
    `PHP: Composer installs the archive, and a shop runs on it${noPhp}${noComposer}`,
    async () => {
      writeFileSync(
        join(directory, "composer.json"),
        JSON.stringify({
          ...JSON.parse(await guideBlock("json")),
          // Nothing is downloaded from Packagist.
          repositories: [...JSON.parse(await guideBlock("json")).repositories, { packagist: false }]
        })
      )
      for (const command of ["config secure-http false", "install"])
        await succeeded([composer ?? "composer", ...command.split(" "), "--no-interaction", "--quiet"], {
          COMPOSER_ALLOW_SUPERUSER: "1"
        })
      const AUTOLOAD = join(directory, "vendor/autoload.php")
      saw(await succeeded([php ?? "php", source("shop.php"), ...args()], { AUTOLOAD }))
      const guide = join(directory, "guide.php")
      writeFileSync(
        guide,
        `${(await guideBlock("php")).replaceAll("Webhook::verify($body, $headers, getenv('WEBHOOK_SECRET'))", "Webhook::verify($body, $headers, getenv('WEBHOOK_SECRET'), (int) getenv('NOW'))")}
$given = json_decode($argv[1], true);
echo receive($given['body'], $given['headers']), ' ', receive($given['body'], $given['headers']), ' ', receive('{}', $given['headers']), "\\n";
$unnamed = json_decode($argv[2], true);
echo receive($unnamed['body'], $unnamed['headers']), ' ', receive($unnamed['body'], $unnamed['headers']), "\\n";
`
      )
      const env = { ...guideEnv(), WEBHOOK_SECRET: vector?.secret ?? "", NOW: String(vector?.now) }
      expect(await succeeded([php ?? "php", guide, JSON.stringify(vector), await unnamed()], env)).toBe(
        receipts
      )
    }
  )
})
