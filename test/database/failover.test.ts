// A primary with a synchronous standby: the primary is killed under load and the standby promoted.

import { describe, expect } from "bun:test"
import { spawnSync } from "node:child_process"
import { appendFileSync, chmodSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../src/dev/freePort.ts"
import { postgresPrograms } from "../crash/cluster.ts"
import { send } from "../support/contractCheck.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

const programs = postgresPrograms() ?? ""
const why = programs === "" ? ": no Postgres is installed on this machine" : ""

/** Two servers, the second a synchronous standby of the first. */
const pair = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  chmodSync(directory, 0o777)
  const [first, second] = [yield* freePort(0), yield* freePort(0)]
  const as = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : []
  const run = (name: string, ...args: ReadonlyArray<string>) => {
    const [command = "", ...rest] = [...as, join(programs, name), ...args]
    const { status, stderr } = spawnSync(command, rest, {
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"]
    })
    if (status !== 0) throw new Error(`${name}: ${stderr}`)
  }
  const control = (name: string, port: number, action: string, ...rest: ReadonlyArray<string>) =>
    run(
      "pg_ctl",
      ...["-D", join(directory, name), "-w", "-l", join(directory, `${name}.log`)],
      ...["-o", `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`],
      ...[action, ...rest]
    )
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      run("initdb", "-D", join(directory, "one"), "-U", "postgres", "-A", "trust")
      appendFileSync(join(directory, "one", "postgresql.conf"), "synchronous_standby_names = '*'\n")
      appendFileSync(join(directory, "one", "pg_hba.conf"), "host replication all 127.0.0.1/32 trust\n")
      control("one", first, "start")
      run(
        "pg_basebackup",
        ...["-D", join(directory, "two"), "-R", "-X", "stream", "-c", "fast"],
        ...["-d", `host=127.0.0.1 port=${first} user=postgres application_name=two`]
      )
      // Promoted, it has no standby to wait for.
      appendFileSync(join(directory, "two", "postgresql.conf"), "synchronous_standby_names = ''\n")
      control("two", second, "start")
    }),
    () =>
      Effect.sync(() => {
        for (const [name, port] of [
          ["one", first],
          ["two", second]
        ] as const) {
          try {
            control(name, port, "stop", "-m", "immediate")
          } catch {
            // Killed already.
          }
        }
      })
  )
  const pid = () => Number.parseInt(readFileSync(join(directory, "one", "postmaster.pid"), "utf8"), 10)
  return {
    url: (order: "primary first" | "standby first") => {
      const hosts = [`127.0.0.1:${first}`, `127.0.0.1:${second}`]
      return `postgres://postgres@${(order === "primary first" ? hosts : hosts.toReversed()).join(",")}/postgres?target_session_attrs=read-write`
    },
    standbyUrl: `postgres://postgres@127.0.0.1:${second}/postgres`,
    killPrimary: Effect.sync(() => process.kill(pid(), "SIGKILL")),
    promote: Effect.sync(() => control("two", second, "promote"))
  }
})

describe.skipIf(why !== "")(`failover${why}`, () => {
  liveEffect(
    "a promotion under load: 503 for the gap, serving within three seconds, and nothing acknowledged is lost",
    () =>
      Effect.gen(function* () {
        const servers = yield* pair
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
            ...["src/cli/main.ts", "merchant", "create", "--name", "Shop", "--json"],
            ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
          ],
          // The standby is asked first, and passed over.
          { ...env, DATABASE_URL: servers.url("standby first") }
        )
        expect([yield* cli.exited, cli.output()]).toEqual([0, expect.stringContaining("sk_test_")])
        const { publishable, secret } = JSON.parse(cli.output()).keys.test
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
        yield* Effect.sleep("1 second")
        expect(acknowledged.length).toBeGreaterThan(20)
        yield* servers.killPrimary
        yield* Effect.sleep("1 second")
        yield* servers.promote
        const promoted = performance.now()
        yield* Effect.sleep("5 seconds")
        goes = false
        yield* Effect.promise(() => Promise.all(writers))
        const next = acknowledged.find(({ at }) => at > promoted)
        console.log(
          `serving ${(((next?.at ?? Number.NaN) - promoted) / 1000).toFixed(2)} s after the promotion`
        )
        expect((next?.at ?? Number.POSITIVE_INFINITY) - promoted).toBeLessThan(3_000)
        expect(new Set(refused)).toEqual(new Set(["503 SERVICE_UNAVAILABLE"]))
        const sql = new SQL(servers.standbyUrl, { max: 1 })
        const rows = yield* Effect.promise(() => sql`SELECT id FROM payments`)
        yield* Effect.promise(() => sql.close())
        const kept = new Set(rows.map((row: { readonly id: string }) => row.id))
        expect(acknowledged.filter(({ id }) => !kept.has(id))).toEqual([])
        expect((yield* Effect.promise(() => fetch(`${service.baseUrl}/readyz`))).status).toBe(200)
      }),
    90_000
  )
})
