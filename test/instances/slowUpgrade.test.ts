// An upgrade whose migration takes seconds and whose index takes longer, under a probe that kills a process that does
// not answer: it survives, is ready once the tables exist, and the index follows.
import { expect, setDefaultTimeout } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { ownDatabase, postgresUrl } from "../support/ownDatabase.ts"
import { spawnService, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { templateDatabase } from "../support/testPostgres.ts"
import { until } from "./cluster.ts"

setDefaultTimeout(120_000)

liveEffect("an upgrade with a slow index survives a liveness probe, and serves in the meantime", () =>
  Effect.gen(function* () {
    const DATABASE_URL = yield* ownDatabase({
      template: yield* Effect.promise(() => templateDatabase(postgresUrl))
    })
    const sql = new SQL(DATABASE_URL, { max: 1 })
    yield* Effect.addFinalizer(() => Effect.promise(() => sql.close()))
    yield* Effect.promise(
      () => sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
        SELECT gen_random_uuid(), 'Shop', decode(repeat('11', 20), 'hex'), decode(repeat('11', 20), 'hex'), now()
        FROM generate_series(1, 44)`
    )
    const service = yield* spawnService(
      {
        DATABASE_URL,
        INTENT_TOKEN_SECRETS: `test:${"s".repeat(40)}`,
        ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
        BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
      },
      "test/instances/slowRelease.ts"
    )
    const probe = async (path: string, timeoutMillis = 1_000) => {
      const answer = await fetch(`${service.baseUrl}${path}`, { signal: AbortSignal.timeout(timeoutMillis) })
      return { status: answer.status, body: await answer.text() }
    }
    yield* until("the port answers", () =>
      probe("/healthz").then(
        ({ status }) => status === 200,
        () => false
      )
    )
    const waited = new Set<string>()
    let answeredAt = performance.now()
    let longestSilence = 0
    let probing = true
    const probes = (async () => {
      while (probing) {
        const alive = await probe("/healthz").catch(String)
        if (typeof alive !== "string" && alive.status === 200) {
          longestSilence = Math.max(longestSilence, performance.now() - answeredAt)
          answeredAt = performance.now()
        }
        const { body, status } = await probe("/readyz").catch(() => ({ body: "", status: 0 }))
        if (status === 503) waited.add(body)
        await Bun.sleep(100)
      }
    })()
    const refused = yield* Effect.promise(() => probe("/api/v1/payments", 10_000))
    expect(refused).toMatchObject({ status: 503, body: expect.stringContaining('"SERVICE_UNAVAILABLE"') })
    yield* untilReady(service)
    expect([...waited]).toContain('{"status":"starting","waitsFor":"migration 9000_slow"}')
    const isBuilt = async () => {
      const [row] =
        await sql`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('merchants_slowly')`
      return row?.indisvalid === true
    }
    // It serves while the index is still being built.
    expect(yield* Effect.promise(isBuilt)).toBe(false)
    expect((yield* Effect.promise(() => probe("/api/v1/payments", 10_000))).status).toBe(401)
    yield* until("the index is built", isBuilt, 60_000)
    probing = false
    yield* Effect.promise(() => probes)
    // Three failed probes in a row, a second apart, kill a process. The handover of the port may break a connection.
    expect(longestSilence).toBeLessThan(3_000)
    for (const line of [
      "Running migration 9000_slow",
      "Building the index merchants_slowly",
      "builds index merchants_slowly: "
    ])
      expect(service.output()).toContain(line)
    yield* service.kill("SIGTERM")
    expect(yield* service.exited).toBe(0)
  })
)
