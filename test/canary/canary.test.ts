// Plants known secrets, runs flows that succeed, fail, are refused and throw through the real service, and finds none
// of the secrets where it does not belong: in the output, the traces and logs of a collector, the metrics, error
// bodies, the database.

import { describe, expect } from "bun:test"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect, Redacted, type Scope } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { freePort } from "../../src/app/dev/freePort.ts"
import { networks } from "../../src/domain/networks.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { joinEmbeddedPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { signWith } from "../dashboard/agentKey.ts"
import { agentForm, cookieOf, receiver } from "../dashboard/person.ts"
import { collector } from "../support/collector.ts"
import { listening } from "../support/listening.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

const planted = {
  intentSecret: "canary-intent-secret-0123456789-0123456789",
  encryptionKey: Buffer.from("canary-encryption-key-32-bytes!!").toString("base64"),
  faucetKey: "c0ffee00c0ffee11c0ffee22c0ffee33c0ffee44c0ffee55c0ffee66c0ffee77",
  mnemonic: "legal winner thank year wave sausage worth useful legal winner thank yellow",
  databasePassword: "canaryDatabasePassword1",
  rpcUser: "canaryRpcUser",
  rpcPassword: "canaryRpcPassword",
  rpcPath: "canary-rpc-path-key",
  collectorKey: "canary-collector-key",
  password: "canary dashboard password",
  wrongPassword: "canary wrong password"
}

/** Stores the secrets that no other caller may see, and every error body. */
const makeLedger = () => {
  const secrets = new Map<string, string>(Object.entries(planted))
  const errorBodies: Array<string> = []
  return {
    secrets,
    errorBodies,
    plant: (name: string, value: string) => void secrets.set(name, value),
    /** The names of the secrets in a text. */
    in: (text: string): ReadonlyArray<string> => {
      const lower = text.toLowerCase()
      return [...secrets].filter(([, value]) => lower.includes(value.toLowerCase())).map(([name]) => name)
    }
  }
}

type Ledger = ReturnType<typeof makeLedger>

/** A node that refuses everything and repeats the request, as a debugging proxy would. */
const gossipingNode = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      let count = 0
      return Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          const { id } = JSON.parse(await request.text())
          const told = `refused ${request.url} for ${request.headers.get("authorization")} ${planted.rpcPassword}`
          count += 1
          if (count % 3 === 0) return new Response(told, { status: 500 })
          if (count % 3 === 1) return new Response(told)
          return Response.json({ jsonrpc: "2.0", id, error: { code: -32000, message: told } })
        }
      })
    }),
    (server) => Effect.promise(() => server.stop(true))
  ),
  (server) => `http://${planted.rpcUser}:${planted.rpcPassword}@127.0.0.1:${server.port}/${planted.rpcPath}`
)

interface Running {
  readonly baseUrl: string
  readonly ledger: Ledger
  readonly hookUrl: string
  /** Makes handlers fail in the database, and repairs it. */
  readonly explode: (work: () => Promise<void>) => Promise<void>
}

const flows = async ({ baseUrl, ledger, hookUrl, explode }: Running): Promise<void> => {
  const ask = async (
    method: string,
    path: string,
    options: {
      readonly key?: string | undefined
      readonly cookie?: string
      readonly body?: unknown
      readonly headers?: Record<string, string>
    } = {}
  ) => {
    const { key, cookie, body, headers } = options
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: "manual",
      headers: {
        "sec-fetch-site": "same-origin",
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(cookie === undefined ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    if (response.status >= 400) ledger.errorBodies.push(text)
    const json = response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : undefined }
  }

  const signedUp = await ask("POST", "/dashboard/api/sign-up", {
    body: { email: "ada@example.com", password: planted.password, merchantName: "Shop", receiver }
  })
  expect(signedUp.status).toBe(201)
  const cookie = cookieOf(signedUp)
  ledger.plant("session", cookie.split("=")[1] ?? "")
  const [{ id: merchantId }] = signedUp.body.session.merchants
  const { secret, publishable } = signedUp.body.keys.test
  ledger.plant("test secret key", secret)
  ledger.plant("test publishable key", publishable)
  for (const kind of ["secret", "publishable"]) {
    const live = await ask("POST", `/dashboard/api/merchants/${merchantId}/live/keys`, {
      cookie,
      body: { kind, permission: kind === "secret" ? "manage" : "read" }
    })
    ledger.plant(`live ${kind} key`, live.body.key)
  }

  await ask("POST", "/dashboard/api/sign-in", {
    body: { email: "ada@example.com", password: planted.wrongPassword }
  })
  const second = await ask("POST", "/dashboard/api/sign-in", {
    body: { email: "ada@example.com", password: planted.password }
  })
  ledger.plant("second session", cookieOf(second).split("=")[1] ?? "")
  await ask("GET", "/dashboard/api/session", { cookie: `${cookie}x` })

  const agent = await ask("POST", `/dashboard/api/merchants/${merchantId}/test/agents`, {
    cookie,
    body: agentForm
  })
  expect(agent.status).toBe(201)
  ledger.plant("agent key", agent.body.key)
  await signWith(baseUrl, agent.body.key, "1.00")
  await signWith(baseUrl, agent.body.key, "99.00")
  await signWith(baseUrl, `${agent.body.key}x`, "1.00")

  const hook = await ask("POST", "/api/v1/webhook-endpoint", { key: secret, body: { url: hookUrl } })
  expect(hook.status).toBe(201)
  ledger.plant("webhook secret", hook.body.secret)
  ledger.plant("webhook secret, bare", hook.body.secret.slice("whsec_".length))
  await ask("POST", "/api/v1/webhook-endpoint/test", { key: secret })
  await ask("POST", "/api/v1/webhook-endpoint", { key: secret, body: { url: hookUrl } })

  const buyer = privateKeyToAccount(generatePrivateKey())
  const buyerDidToken = await createDidToken(buyer, {
    audience: "http://localhost:8787",
    lifetimeSeconds: 900,
    now: Math.floor(Date.now() / 1000)
  })
  ledger.plant("buyer token", buyerDidToken)

  const intentOf = (key: string) =>
    ask("POST", "/api/v1/payment-intents", {
      key,
      body: { amount: "10.00", intentUrl: "https://shop.example.com/orders/1042" }
    })
  const payAndMore = async () => {
    const intent = await intentOf(secret)
    const intentToken: string = intent.body?.intentToken ?? "none"
    if (intent.status === 201) ledger.plant("intent token", intentToken)
    const opened = await ask("POST", "/api/v1/payments", { key: publishable, body: { intentToken } })
    const id: string = opened.body?.payment?.id ?? crypto.randomUUID()
    const evidence = {
      transactionId: `0x${"ab".repeat(32)}`,
      tokenChanges: [
        {
          amountAtomic: "10000000",
          chainId: networks.test.chainId,
          receiver,
          tokenAddress: networks.test.usdc.address
        }
      ]
    }
    await ask("PATCH", `/api/v1/payments/${id}`, { key: publishable, body: { buyerDidToken, ...evidence } })
    await ask("PATCH", `/api/v1/payments/${id}`, {
      key: publishable,
      body: { buyerDidToken: `${buyerDidToken.slice(0, -8)}AAAAAAA=`, ...evidence }
    })
    await ask("GET", `/api/v1/payments/${id}`, { key: secret })
    await ask("GET", "/api/v1/payments", { key: secret })
    await ask("GET", `/api/v1/checkout/test-balance?address=${buyer.address}`, { key: publishable })
    await ask("POST", "/api/v1/checkout/test-funds", { key: publishable, body: { buyerDidToken } })
    await ask("GET", `/api/v1/checkout/playground-intent?pk=${publishable}&amount=1.00`)
  }
  await payAndMore()

  // Misplaced secrets are returned to nobody.
  await ask("POST", "/api/v1/payments", { key: publishable, body: `{"intentToken": "${secret}` })
  await ask("POST", "/api/v1/payments", {
    key: publishable,
    body: { intentToken: secret, extra: buyerDidToken }
  })
  await ask("POST", "/api/v1/payment-intents", { key: publishable, body: { amount: secret } })
  await ask("GET", `/api/v1/payments?limit=${secret}`, { key: secret })
  await ask("GET", `/api/v1/payments/${secret}`, { key: secret })
  await ask("GET", "/api/v1/payments", { key: `${secret}x` })
  await ask("GET", `/nothing/${secret}`)
  await ask("DELETE", "/api/v1/payments", { key: secret, headers: { cookie } })

  await explode(payAndMore)
  await ask("POST", "/dashboard/api/sign-out", { cookie })
}

/** Everything readable, with bytes as text too. */
/** Every row of every table. */
const rowsOf = async (sql: SQL): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const tables = await sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
  const all = []
  for (const { name } of tables) all.push(...(await sql.unsafe(`SELECT * FROM "${name}"`)))
  return all
}

const dumpOf = (rows: ReadonlyArray<Record<string, unknown>>): string =>
  rows
    .flatMap((row) => Object.values(row))
    .map((value) =>
      value instanceof Uint8Array
        ? `${Buffer.from(value).toString("latin1")} ${Buffer.from(value).toString("hex")}`
        : JSON.stringify(value)
    )
    .join("\n")

/** Publishable keys are public, and stored so that members can read them again. */
const readAgain = ["test publishable key", "live publishable key"]
const stores = ["database", "rows"]

const judge = (places: Readonly<Record<string, string>>, ledger: Ledger) => {
  expect(ledger.secrets.size).toBeGreaterThan(18)
  for (const [place, text] of Object.entries(places)) {
    expect(text.length, place).toBeGreaterThan(0)
    const found = ledger.in(text).filter((name) => !stores.includes(place) || !readAgain.includes(name))
    expect(found, place).toEqual([])
  }
}

const surroundings = Effect.gen(function* () {
  const sink = yield* collector
  const metricsPort = yield* freePort(0)
  const env = {
    BASE_URL: "http://localhost:8787",
    SIGNUP: "open",
    SHUTDOWN_DELAY: "0s",
    METRICS_PORT: String(metricsPort),
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${planted.collectorKey}`,
    INTENT_TOKEN_SECRETS: `canary:${planted.intentSecret}`,
    ENCRYPTION_KEYS: `canary:${planted.encryptionKey}`,
    FAUCET_PRIVATE_KEY: `0x${planted.faucetKey}`,
    AGENT_WALLET_MNEMONIC: planted.mnemonic,
    BASE_SEPOLIA_RPC_URLS: yield* gossipingNode,
    ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
  }
  const metrics = Effect.promise(async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
  return { sink, env, metrics }
})

/** The log is JSON lines; lines about failures contain their request, and a payment if there is one. */
const judgeLines = (output: string) => {
  const lines = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  for (const line of lines) {
    expect(Date.parse(line.timestamp)).toBeGreaterThan(0)
    expect(["debug", "info", "warn", "error", "fatal"]).toContain(line.level)
    expect(typeof line.message).toBe("string")
  }
  const failures = lines.filter((line) => line.message === "Request failed unexpectedly; responded with 500")
  expect(failures.length).toBeGreaterThan(3)
  for (const { level, requestId } of failures) {
    expect(level).toBe("error")
    expect(requestId).toMatch(/^req_/)
  }
  expect(failures.some((line) => /^[0-9a-f-]{36}$/.test(line.paymentId ?? ""))).toBeTrue()
  return failures
}

describe("Planted secrets", () => {
  liveEffect("are nowhere in development, on the embedded database", () =>
    Effect.gen(function* () {
      const { sink, env, metrics } = yield* surroundings
      const ledger = makeLedger()
      const dataDir = yield* temporaryDirectory
      let count = 0
      const hook = yield* listening(() => new Response("noted", { status: count++ % 2 === 0 ? 500 : 200 }))
      const service = yield* spawnService({
        ...env,
        DATA_DIR: dataDir,
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`
      })
      yield* untilReady(service)
      yield* Effect.promise(() =>
        flows({
          baseUrl: service.baseUrl,
          ledger,
          hookUrl: `http://127.0.0.1:${hook.port}/hooks`,
          explode: async () => {}
        })
      )
      const exported = yield* metrics
      yield* service.kill("SIGTERM")
      yield* service.succeeded
      const dump = yield* Effect.flatMap(
        joinEmbeddedPostgres(join(dataDir, "postgres")),
        ({ database, password, path, username }) =>
          Effect.promise(async () => {
            const sql = new SQL({
              adapter: "postgres",
              path,
              username,
              password: Redacted.value(password),
              database,
              max: 1
            })
            const all = await rowsOf(sql)
            await sql.close()
            return dumpOf(all)
          })
      )
      judge(
        {
          output: service.output(),
          collector: sink.text(),
          metrics: exported,
          errors: ledger.errorBodies.join("\n"),
          database: dump
        },
        ledger
      )
    })
  )

  const production = (body: () => Effect.Effect<unknown, unknown, Scope.Scope>) =>
    liveEffect("are nowhere in production, on Postgres, with handlers that throw", body, 90_000)
  describe("on Postgres", () => {
    production(() =>
      Effect.gen(function* () {
        const { sink, env, metrics } = yield* surroundings
        const ledger = makeLedger()
        const name = `quittance_canary_${process.pid}`
        const adminUrl = yield* ownDatabase()
        const admin = new SQL(adminUrl, { max: 1 })
        yield* Effect.acquireRelease(
          Effect.promise(async () => {
            await admin.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD '${planted.databasePassword}'`)
            await admin.unsafe(`GRANT ALL ON SCHEMA public TO ${name}`)
          }),
          () =>
            Effect.promise(async () => {
              await admin.unsafe(`DROP OWNED BY ${name}`)
              await admin.unsafe(`DROP ROLE ${name}`)
              await admin.close()
            })
        )
        const url = new URL(adminUrl)
        url.username = name
        url.password = planted.databasePassword
        const service = yield* spawnService({
          ...env,
          ENVIRONMENT: "production",
          DATABASE_URL: url.toString(),
          DATA_DIR: yield* temporaryDirectory,
          BASE_SEPOLIA_RPC_URLS: env.BASE_SEPOLIA_RPC_URLS
        })
        yield* untilReady(service)
        yield* Effect.promise(() =>
          flows({
            baseUrl: service.baseUrl,
            ledger,
            hookUrl: "https://hooks.example.com/hooks",
            explode: async (work) => {
              await admin.unsafe(`REVOKE ALL ON payments FROM ${name}`)
              await work()
              await admin.unsafe(`GRANT ALL ON payments TO ${name}`)
            }
          })
        )
        const exported = yield* metrics
        yield* service.kill("SIGTERM")
        yield* service.succeeded
        const failures = judgeLines(service.output())
        const traced = sink.logs().find((log) => log.attributes["requestId"] === failures[0].requestId)
        expect(traced?.traceId).toMatch(/^[0-9a-f]{32}$/)
        expect(sink.spans().some((span) => span.traceId === traced?.traceId)).toBeTrue()
        const rows = dumpOf(yield* Effect.promise(() => rowsOf(admin)))
        judge(
          {
            output: service.output(),
            collector: sink.text(),
            metrics: exported,
            errors: ledger.errorBodies.join("\n"),
            rows
          },
          ledger
        )
      })
    )
  })
})
