// A primary with a synchronous standby: the primary is killed under load and the standby promoted.
import { describe, expect } from "bun:test"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect } from "effect"
import { until } from "../../instances/cluster.ts"
import { send } from "../../support/contractCheck.ts"
import { noteFault } from "../../support/faultTable.ts"
import { postgresPair, whyNoPair } from "../../support/postgresPair.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect, longFault } from "../../support/run.ts"

describe.skipIf(whyNoPair !== "")(`failover${whyNoPair}`, () => {
  liveEffect(
    "a promotion under load: 503 for the gap, serving within three seconds, no acknowledged payment lost",
    () =>
      Effect.gen(function* () {
        const servers = yield* postgresPair
        const env = {
          DATABASE_URL: servers.url("primary first"),
          DATA_DIR: yield* temporaryDirectory,
          RATE_LIMIT_PER_KEY: "100000",
          BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
          ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
        }
        const service = yield* spawnService(env)
        yield* untilReady(service)
        const cli = yield* spawnProgram(
          [
            ...["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--json"],
            ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
          ],
          // The standby comes first in the list, and is skipped.
          { ...env, DATABASE_URL: servers.url("standby first") }
        )
        expect([yield* cli.exited, cli.output()]).toEqual([0, expect.stringContaining("sk_test_")])
        const backup = yield* spawnProgram(
          ["src/app/cli/main.ts", "backup", "--to", join(env.DATA_DIR, "shop.gz")],
          { ...env, DATABASE_URL: servers.url("standby first") }
        )
        expect([yield* backup.exited, backup.output()]).toEqual([0, expect.stringContaining("Written to")])
        const { publishable, secret } = JSON.parse(cli.stdout()).keys.test
        const acknowledged: Array<{ readonly id: string; readonly at: number }> = []
        const refused: Array<string> = []
        let goes = true
        const writers = Array.from({ length: 6 }, async () => {
          while (goes) {
            const intent = await send(service.baseUrl, {
              method: "POST",
              path: "/api/v1/payment-intents",
              key: secret,
              body: { amount: "1.00", intentUrl: "https://shop.example.com/" }
            })
            const opened =
              intent.status === 201
                ? await send(service.baseUrl, {
                    method: "POST",
                    path: "/api/v1/payments",
                    key: publishable,
                    body: { intentToken: intent.body.intentToken }
                  })
                : intent
            if (opened.status === 201 || opened.status === 200)
              acknowledged.push({ id: opened.body.payment.id, at: performance.now() })
            else {
              refused.push(`${opened.status} ${opened.body?.error?.code}`)
              await Bun.sleep(20)
            }
          }
        })
        yield* Effect.addFinalizer(() => Effect.sync(() => (goes = false)))
        yield* until("more than 20 payments are open", () => acknowledged.length > 20)
        yield* servers.killPrimary
        yield* Effect.sleep("1 second")
        yield* servers.promote
        const promoted = performance.now()
        yield* until("a payment is open again", () => (acknowledged.at(-1)?.at ?? 0) > promoted)
        yield* Effect.sleep("2 seconds")
        goes = false
        yield* Effect.promise(() => Promise.all(writers))
        const next = acknowledged.find(({ at }) => at > promoted)
        noteFault(
          "kill -9 of a primary, its standby promoted",
          `served again ${(((next?.at ?? Number.NaN) - promoted) / 1000).toFixed(2)} s after the promotion`
        )
        expect((next?.at ?? Number.POSITIVE_INFINITY) - promoted).toBeLessThan(15_000)
        expect(new Set(refused)).toEqual(new Set(["503 SERVICE_UNAVAILABLE"]))
        const sql = new SQL(servers.standbyUrl, { max: 1 })
        const rows = yield* Effect.promise(() => sql`SELECT id FROM payments`)
        yield* Effect.promise(() => sql.close())
        const kept = new Set(rows.map((row: { readonly id: string }) => row.id))
        expect(acknowledged.filter(({ id }) => !kept.has(id))).toEqual([])
        expect((yield* Effect.promise(() => fetch(`${service.baseUrl}/readyz`))).status).toBe(200)
      })
  )

  longFault(
    "without its synchronous standby the database is an outage for /readyz, and no sessions pile up",
    () =>
      Effect.gen(function* () {
        const servers = yield* postgresPair
        const env = {
          DATABASE_URL: servers.primaryUrl,
          DATA_DIR: yield* temporaryDirectory,
          BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
          ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
        }
        const service = yield* spawnService(env)
        yield* untilReady(service)
        const cli = yield* spawnProgram(
          [
            ...["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--json"],
            ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
          ],
          env
        )
        yield* cli.succeeded
        const { publishable, secret } = JSON.parse(cli.stdout()).keys.test
        yield* servers.killStandby
        const told = Effect.promise(() => fetch(`${service.baseUrl}/readyz`).then(({ status }) => status))
        yield* Effect.sleep("1100 millis")
        expect(yield* told).toBe(503)
        const took: Array<number> = []
        const statuses = new Set<number>()
        let goes = true
        const writers = Array.from({ length: 8 }, async () => {
          while (goes) {
            const { body } = await send(service.baseUrl, {
              method: "POST",
              path: "/api/v1/payment-intents",
              key: secret,
              body: { amount: "1.00", intentUrl: "https://shop.example.com/" }
            })
            const began = performance.now()
            const { status } = await send(service.baseUrl, {
              method: "POST",
              path: "/api/v1/payments",
              key: publishable,
              body: { intentToken: body.intentToken }
            })
            statuses.add(status)
            took.push(performance.now() - began)
          }
        })
        const sql = new SQL(servers.primaryUrl, { max: 1 })
        yield* Effect.addFinalizer(() => Effect.promise(() => sql.close({ timeout: 0 })))
        let oldest = 0
        for (let half = 0; half < 16; half++) {
          yield* Effect.sleep("500 millis")
          const [row] = yield* Effect.promise(
            () => sql`
              SELECT count(*)::int AS sessions FROM pg_stat_activity
              WHERE application_name = 'quittance' AND wait_event = 'SyncRep'
                AND state_change < clock_timestamp() - interval '6 seconds'`
          )
          oldest = Math.max(oldest, row.sessions)
        }
        goes = false
        yield* Effect.promise(() => Promise.all(writers))
        noteFault(
          "a synchronous standby is gone",
          `longest answer ${(Math.max(...took) / 1000).toFixed(1)} s, no session waits longer than 6 s`
        )
        expect(oldest).toBe(0)
        expect(Math.max(...took)).toBeLessThan(5_000)
        expect(statuses.has(503)).toBeTrue()
      })
  )
})
