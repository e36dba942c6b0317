// A service on a copy of a database gives the same answers, byte for byte. The test requests every GET endpoint of both
// APIs with every id of the database, and every page of the service that an answer names.
import { describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect, Schema } from "effect"
import { Api } from "../../src/app/Api.ts"
import { DashboardApi } from "../../src/dashboard/api/Api.ts"
import { type ContractEndpoint, endpointsOf } from "../../src/platform/http/Routing/pathTable.ts"
import { postgresPrograms, startCluster } from "../crash/cluster.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { upgradeEnv } from "./upgrade/upgradeEnv.ts"

setDefaultTimeout(300_000)

const version = "0.1.0"
const file = (name: string) => readFileSync(join(import.meta.dir, "upgrade", name), "utf8")
const Recorded = Schema.Struct({
  merchantId: Schema.String,
  email: Schema.String,
  password: Schema.String,
  keys: Schema.Struct({ secret: Schema.String, publishable: Schema.String }),
  events: Schema.Struct({
    events: Schema.Array(Schema.Struct({ payment: Schema.Struct({ id: Schema.String }) }))
  })
})
const recorded = Schema.decodeSync(Schema.fromJsonString(Recorded))(file(`answers-${version}.json`))

/** Parts of answers that may differ, and why. */
const ofNow: ReadonlyArray<readonly [reason: string, pattern: RegExp]> = [
  ["a refusal has its request's id", /"requestId":"[^"]*"/g],
  ["the service's own clock", /"now":"[^"]*"/g],
  ["when the key or the session was used last: by these very requests", /"last(Used|Seen)At":"[^"]*"/g]
]
/** The service that runs raises alerts about its own nodes, some of them later. */
const ownAlert = /\{[^{}]*"scope":"service"[^{}]*\},?/g
const notOfNow = (body: string) =>
  ofNow.reduce(
    (text, [, pattern]) => text.replace(pattern, '"of":"now"'),
    body.replace(ownAlert, "").replaceAll(",]", "]")
  )

/** Endpoints without a fixed answer. */
const notAsked = new Set([
  // A stream that does not end.
  "pageEvents.watch"
])

const queries = [
  "",
  "?from=2026-01-01&to=2026-12-31",
  "?from=2026-01-01&to=2026-12-31&format=json",
  "?limit=1",
  "?limit=100",
  "?address=0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
  "?payer=0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
  `?paymentId=${recorded.events.events[0]?.payment.id}`,
  `?pk=${recorded.keys.publishable}`
]

interface Question {
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

const questionsOf = (
  endpoints: ReadonlyArray<ContractEndpoint>,
  ids: ReadonlyArray<string>,
  cookie: string
): ReadonlyArray<Question> =>
  endpoints
    .filter(({ method, name }) => method === "GET" && !notAsked.has(name))
    .flatMap(({ access, name, path }) => {
      const headers: Record<string, string> =
        access.by === "key"
          ? {
              authorization: `Bearer ${access.kinds.includes("secret") ? recorded.keys.secret : recorded.keys.publishable}`
            }
          : access.by === "anyone"
            ? {}
            : { cookie, "sec-fetch-site": "same-origin" }
      const envs = path.includes(":env") ? ["test", "live"] : [""]
      const kinds = path.includes(":kind") ? ["payments", "refunds", "transfers"] : [""]
      const places = path.replace(/:(merchantId|env|kind)/g, "").match(/:[A-Za-z]+/g) ?? []
      const own = places.length === 0 ? [""] : ids
      return envs.flatMap((env) =>
        kinds.flatMap((kind) =>
          own.flatMap((id) =>
            (places.length === 0 ? queries : queries.slice(0, 1)).map((query) => ({
              name,
              headers,
              path:
                path
                  .replace(":merchantId", recorded.merchantId)
                  .replace(":env", env)
                  .replace(":kind", kind)
                  .replace(/:[A-Za-z]+/g, id) + query
            }))
          )
        )
      )
    })

const inBatches = async <A, B>(items: ReadonlyArray<A>, f: (item: A) => Promise<B>) => {
  const answers: Array<B> = []
  for (let at = 0; at < items.length; at += 16)
    answers.push(...(await Promise.all(items.slice(at, at + 16).map(f))))
  return answers
}

const ask = async (baseUrl: string, { headers, path }: Question) => {
  const response = await fetch(`${baseUrl}${path}`, {
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(20_000)
  })
  return { status: response.status, body: notOfNow(await response.text()) }
}

const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.flatMap(spawnProgram(["src/app/cli/main.ts", ...args], env), ({ succeeded }) => succeeded)

const programs = postgresPrograms()

describe("A copy", () => {
  liveEffect(
    `answers every request as the original does${programs === undefined ? " (no pg_dump here)" : ""}`,
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        // A server of its own, of the same version as `pg_dump`.
        const cluster =
          programs === undefined
            ? undefined
            : yield* Effect.acquireRelease(
                Effect.promise(() => startCluster(programs)),
                ({ stop }) => Effect.promise(stop)
              )
        const newDatabase = ownDatabase(cluster === undefined ? {} : { server: cluster.urlOf("postgres") })
        const original = yield* newDatabase
        const settings = (databaseUrl: string) => ({
          ...upgradeEnv(databaseUrl, directory, 9),
          BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
          ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
          RATE_LIMIT_PER_KEY: "1000000",
          SHUTDOWN_DELAY: "0s"
        })
        const sql = yield* Effect.acquireRelease(
          Effect.sync(() => new SQL(original, { max: 1 })),
          (open) => Effect.promise(() => open.close())
        )
        yield* Effect.promise(() => sql.unsafe(file(`database-${version}.sql`)))

        // The service itself adds more kinds of rows than the fixture has.
        const first = yield* spawnService(settings(original))
        yield* untilReady(first)
        const post = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
          Effect.promise(async () => {
            const response = await fetch(`${first.baseUrl}${path}`, {
              method: "POST",
              headers: { "content-type": "application/json", ...headers },
              body: JSON.stringify(body)
            })
            if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
            return response
          })
        const bySecret = { authorization: `Bearer ${recorded.keys.secret}` }
        yield* post(
          "/api/v1/refunds",
          { paymentId: recorded.events.events[0]?.payment.id, amount: "4.00" },
          bySecret
        )
        yield* post(
          "/api/v1/payment-links",
          { description: "A lesson", minAmount: "1", maxAmount: "9" },
          bySecret
        )
        const signedIn = yield* post(
          "/dashboard/api/sign-in",
          { email: recorded.email, password: recorded.password },
          { "sec-fetch-site": "same-origin" }
        )
        const cookie = signedIn.headers
          .getSetCookie()
          .map((one) => one.split(";")[0])
          .join("; ")
        const tables: ReadonlyArray<{ table_name: string }> = yield* Effect.promise(
          () =>
            sql`SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'id'`
        )
        const rows = yield* Effect.promise(() =>
          Promise.all(
            tables.map(
              ({ table_name: table }): Promise<ReadonlyArray<{ id: string }>> =>
                sql.unsafe(`SELECT id::text AS id FROM "${table}" ORDER BY id LIMIT 4`)
            )
          )
        )
        const ids = [...new Set(rows.flat().map(({ id }) => id))]

        const questions = questionsOf([...endpointsOf(Api), ...endpointsOf(DashboardApi)], ids, cookie)
        // The first request for a payment's page issues its receipt.
        yield* Effect.promise(() => inBatches(questions, (one) => ask(first.baseUrl, one)))
        yield* first.kill("SIGTERM")
        yield* first.exited
        // Otherwise each of them would continue the due work.
        yield* Effect.promise(
          () => sql`UPDATE webhook_deliveries SET due_at = now() + interval '1 day' WHERE due_at IS NOT NULL`
        )

        const [restored, moved] = [yield* newDatabase, yield* newDatabase]
        const backup = join(directory, "copy.gz")
        yield* run(["backup", "--to", backup], settings(original))
        yield* run(["restore", "--from", backup], settings(restored))
        yield* run(["database", "move", "--to", moved], settings(original))
        yield* run(["database", "reopen"], settings(original))
        const copies = new Map([
          ["restored", restored],
          ["moved", moved]
        ])
        if (programs !== undefined) {
          const dumped = yield* newDatabase
          const dump = join(directory, "dump.sql")
          for (const command of [
            ["pg_dump", "--no-owner", `--dbname=${original}`, `--file=${dump}`],
            ["psql", "-q", "-v", "ON_ERROR_STOP=1", `--dbname=${dumped}`, `--file=${dump}`]
          ]) {
            const [name = "", ...rest] = command
            const { exitCode, stderr } = Bun.spawnSync([join(programs, name), ...rest])
            expect([name, exitCode, stderr.toString()]).toEqual([name, 0, ""])
          }
          copies.set("dumped", dumped)
        }

        const start = Effect.fnUntraced(function* (url: string) {
          const service = yield* spawnService(settings(url))
          yield* untilReady(service)
          return service.baseUrl
        })
        const baseUrl = yield* start(original)
        const expected = yield* Effect.promise(() => inBatches(questions, (one) => ask(baseUrl, one)))

        // The pages of the service that answers name.
        const pages = [
          ...new Set(
            expected.flatMap(({ body }) => body.match(/(?<="http:\/\/localhost:8787)\/[^"]+/g) ?? [])
          )
        ].map((path) => ({ name: "page", path, headers: {} }))
        const shown = yield* Effect.promise(() => inBatches(pages, (one) => ask(baseUrl, one)))

        const answered = new Set(
          questions.filter((_, at) => expected[at]?.status === 200).map(({ name }) => name)
        )
        const silent = [...new Set(questions.map(({ name }) => name))].filter((name) => !answered.has(name))
        // Without a chain, an agent or more than a page of alerts these have no content.
        expect(silent).toEqual([
          "relaying.terms",
          "testRail.balance",
          "playground.intent",
          "agent.retrieve",
          "x402Payment.pay",
          "alertPages.more",
          "agentPages.retrieve",
          "agentPages.balance"
        ])

        for (const [name, url] of copies) {
          const copy = yield* start(url)
          const answers = yield* Effect.promise(() =>
            inBatches([...questions, ...pages], (one) => ask(copy, one))
          )
          const different = [...questions, ...pages].flatMap(({ path }, at) => {
            const [own, copied] = [[...expected, ...shown][at], answers[at]]
            if (own?.status === copied?.status && own?.body === copied?.body) return []
            const [left, right] = [own?.body ?? "", copied?.body ?? ""]
            const from = [...left].findIndex((letter, index) => letter !== right[index])
            const around = (text: string) => text.slice(Math.max(0, from - 100), from + 60)
            return [{ name, path, own: around(left), copied: around(right) }]
          })
          expect(different.slice(0, 5)).toEqual([])
        }
      })
  )
})
