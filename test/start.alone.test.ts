// The service as a process: start, readiness, start-up refusals, kill -9, SIGTERM.
import { describe, expect } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { migrations } from "../src/platform/database/migrations.ts"
import { send } from "./support/contractCheck.ts"
import { ownDatabase } from "./support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "./support/process.ts"
import { liveEffect } from "./support/run.ts"

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
// Nothing listens at this address: these tests need no chain.
const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }

const createMerchant = (dataDir: string) =>
  Effect.gen(function* () {
    const cli = yield* spawnProgram(
      ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
      { DATA_DIR: dataDir }
    )
    yield* cli.succeeded
    return JSON.parse(cli.stdout()).keys
  })

describe(`Several instances`, () => {
  liveEffect("start together on one empty Postgres: each is ready, every migration ran once", () =>
    Effect.gen(function* () {
      const url = yield* ownDatabase()
      const dataDir = yield* temporaryDirectory
      const env = { DATABASE_URL: url, DATA_DIR: dataDir, ...noChain }
      const services = yield* Effect.all(
        Array.from({ length: 4 }, () => spawnService(env)),
        { concurrency: "unbounded" }
      )
      yield* Effect.all(
        services.map((service) => untilReady(service)),
        { concurrency: "unbounded" }
      )
      const sql = new SQL(url, { max: 1 })
      const rows = yield* Effect.promise(() => sql`SELECT migration_id FROM effect_sql_migrations ORDER BY 1`)
      yield* Effect.promise(() => sql.close())
      expect(rows.length).toBe(Object.keys(migrations).length)
    })
  )
})

describe("The service as a process", () => {
  liveEffect("is ready within 5 s on an existing embedded database", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const first = yield* spawnService({ DATA_DIR: dataDir, ...noChain })
      yield* untilReady(first)
      yield* first.kill("SIGTERM")
      yield* first.succeeded
      const times: Array<number> = []
      for (let start = 0; start < 3; start++) {
        const again = yield* spawnService({ DATA_DIR: dataDir, ...noChain })
        times.push(yield* untilReady(again))
        yield* again.kill("SIGTERM")
        yield* again.succeeded
      }
      // The fastest of several starts, because other work on the machine is not the service's.
      const millis = Math.min(...times)
      console.log(`ready on an existing embedded database in ${millis.toFixed(0)} ms`)
      expect(millis).toBeLessThan(5_000)
    })
  )

  liveEffect("a port in use is reported with its variable", () =>
    Effect.gen(function* () {
      const taken = yield* spawnService({ DATA_DIR: yield* temporaryDirectory, ...noChain })
      yield* untilReady(taken)
      const second = yield* spawnProgram(["src/app/main.ts"], {
        DATA_DIR: yield* temporaryDirectory,
        PORT: new URL(taken.baseUrl).port,
        HOST: "127.0.0.1",
        ...noChain
      })
      expect(yield* second.exited).toBe(1)
      expect(second.output()).toContain("PORT")
    })
  )

  for (const [name, env, variables] of [
    [
      "production without its settings",
      { ENVIRONMENT: "production" },
      ["BASE_URL", "DATABASE_URL", "INTENT_TOKEN_SECRETS", "ENCRYPTION_KEYS"]
    ],
    [
      "production whose key is misspelt",
      {
        ENVIRONMENT: "production",
        BASE_URL: "https://pay.example.com",
        DATABASE_URL: "postgres://127.0.0.1:9/none",
        INTENT_TOKEN_SECRETS: `one:${"x".repeat(32)}`,
        ENCRYPTION_KEY: "one:x"
      },
      ["ENCRYPTION_KEYS must be", "Unknown variable ENCRYPTION_KEY"]
    ],
    ["a malformed port", { PORT: "x" }, ["PORT"]],
    ["a database that is not there", { DATABASE_URL: "postgres://127.0.0.1:9/none" }, ["DATABASE_URL"]]
  ] as const) {
    liveEffect(`${name} stops the start with a line for ${variables.join(", ")}`, () =>
      Effect.gen(function* () {
        const child = yield* spawnProgram(["src/app/main.ts"], {
          DATA_DIR: yield* temporaryDirectory,
          ...noChain,
          ...env
        })
        expect(yield* child.exited).toBe(1)
        const lines = child.output().trim().split("\n")
        expect(lines).toHaveLength(variables.length)
        for (const [index, variable] of variables.entries()) expect(lines[index]).toContain(variable)
      })
    )
  }

  liveEffect("kill -9 at any moment loses no acknowledged payment", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const keys = yield* createMerchant(dataDir)
      const acknowledged = new Set<string>()
      for (let round = 0; round < 4; round++) {
        const service = yield* spawnService({ DATA_DIR: dataDir, RATE_LIMIT_PER_KEY: "100000", ...noChain })
        yield* untilReady(service)
        const found = new Set<string>()
        let cursor = ""
        for (;;) {
          const { body } = yield* Effect.promise(() =>
            send(service.baseUrl, {
              method: "GET",
              path: `/api/v1/payments?limit=100${cursor}`,
              key: keys.test.secret
            })
          )
          for (const payment of body.payments) found.add(payment.id)
          if (!body.hasMore) break
          cursor = `&startingAfter=${body.payments.at(-1)?.id}`
        }
        expect([...acknowledged].filter((id) => !found.has(id))).toEqual([])
        if (round === 3) break
        // Writers continue until the process dies.
        const write = async () => {
          for (;;) {
            const intent = await send(service.baseUrl, {
              method: "POST",
              path: "/api/v1/payment-intents",
              key: keys.test.secret,
              body: { amount: "1.00", intentUrl: "https://shop.example.com/" }
            })
            const opened = await send(service.baseUrl, {
              method: "POST",
              path: "/api/v1/payments",
              key: keys.test.publishable,
              body: { intentToken: intent.body.intentToken }
            })
            if (opened.status === 201) acknowledged.add(opened.body.payment.id)
          }
        }
        const writers = Promise.allSettled([write(), write(), write(), write()])
        const least = acknowledged.size + 11
        yield* Effect.sleep(`${300 + round * 217} millis`)
        // On a slow machine later.
        yield* Effect.sleep("20 millis").pipe(
          Effect.repeat({ until: () => acknowledged.size >= least, times: 3_000 })
        )
        yield* service.kill("SIGKILL")
        yield* service.exited
        yield* Effect.promise(() => writers)
      }
      console.log(`${acknowledged.size} acknowledged payments survived 3 kills`)
      expect(acknowledged.size).toBeGreaterThan(30)
    })
  )
})
