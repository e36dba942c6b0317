// The service while its database stalls, vanishes, refuses writes or is migrated by somebody else.
import { describe, expect } from "bun:test"
import { connect } from "node:net"
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { migrations } from "../../../src/platform/database/migrations.ts"
import { databaseWorld, expectOutage, isServed, noChain, servedAfter } from "../../support/databaseWorld.ts"
import { noteFault, noteOutage } from "../../support/faultTable.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect, longFault } from "../../support/run.ts"
import { tcpProxy } from "../../support/tcpProxy.ts"

/** The service looks at its database every second. */
const untilReadyz = (service: { readonly baseUrl: string }, wanted: number) =>
  Effect.promise(() => fetch(`${service.baseUrl}/readyz`).then(({ status }) => status)).pipe(
    Effect.delay("100 millis"),
    Effect.repeat({ until: (status) => status === wanted, times: 300 }),
    Effect.map((status) => expect(status).toBe(wanted))
  )

describe("a database that does not answer", () => {
  liveEffect(
    "half-open connections are given up: served again within seconds, and no request waits for long",
    () =>
      Effect.gen(function* () {
        const { answers, proxy, stop } = yield* databaseWorld()
        const since = performance.now()
        proxy.freeze()
        yield* Effect.sleep("9 seconds")
        yield* stop
        noteOutage("connections half-open", answers, since)
        expectOutage(answers)
        expect(servedAfter(answers, since)).toBeLessThan(8_000)
        expect(isServed(answers.at(-1)?.status ?? 0)).toBeTrue()
      })
  )

  for (const seconds of process.env["FAULTS"] === "all" ? [8, 20, 40] : [8]) {
    liveEffect(`a stall of ${seconds} s means 503 until it is over`, () =>
      Effect.gen(function* () {
        const { answers, proxy, stop } = yield* databaseWorld()
        proxy.stall()
        yield* Effect.sleep(`${seconds} seconds`)
        const since = performance.now()
        proxy.resume()
        yield* Effect.sleep("7 seconds")
        yield* stop
        noteOutage(`nothing answers for ${seconds} s`, answers, since)
        expectOutage(answers)
        expect(servedAfter(answers, since)).toBeLessThan(6_500)
        expect(isServed(answers.at(-1)?.status ?? 0)).toBeTrue()
      })
    )
  }

  liveEffect("each cut of the connections fails only the requests on them, and none later", () =>
    Effect.gen(function* () {
      const { answers, proxy, stop } = yield* databaseWorld()
      for (let cut = 0; cut < 5; cut++) {
        proxy.cut()
        yield* Effect.sleep("300 millis")
      }
      const since = performance.now()
      yield* Effect.sleep("5 seconds")
      yield* stop
      noteOutage("connections cut, five times", answers, since)
      expectOutage(answers)
      expect(servedAfter(answers, since)).toBeLessThan(3_000)
    })
  )

  liveEffect("with SIGTERM lets the service end within its bounds", () =>
    Effect.gen(function* () {
      const { proxy, service, stop } = yield* databaseWorld()
      proxy.stall()
      yield* Effect.sleep("1 second")
      const since = performance.now()
      yield* service.kill("SIGTERM")
      yield* service.succeeded
      noteFault(
        "SIGTERM while nothing answers",
        `ended after ${((performance.now() - since) / 1000).toFixed(1)} s`
      )
      expect(performance.now() - since).toBeLessThan(30_000)
      yield* stop
    })
  )
})

describe("a table that somebody has locked", () => {
  longFault("is an outage for requests that need it, and no sessions pile up", () =>
    Effect.gen(function* () {
      const { admin, answers, stop } = yield* databaseWorld()
      const waiting = () => admin`
          SELECT count(*)::int AS sessions FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'quittance'`
      let most = 0
      yield* Effect.promise(() =>
        admin.begin(async (sql) => {
          await sql`LOCK TABLE payments IN ACCESS EXCLUSIVE MODE`
          for (let second = 0; second < 12; second++) {
            await Bun.sleep(500)
            const [row] = await sql`
                SELECT count(*)::int AS sessions FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'quittance' AND wait_event_type = 'Lock'
                  AND state_change < clock_timestamp() - interval '3500 milliseconds'`
            most = Math.max(most, row.sessions)
          }
        })
      )
      const since = performance.now()
      yield* Effect.sleep("1 second")
      yield* stop
      noteOutage("a table locked for 6 s", answers, since)
      expectOutage(answers)
      expect(most).toBe(0)
      const [row] = yield* Effect.promise(waiting)
      expect(row.sessions).toBeLessThan(20)
      expect(servedAfter(answers, since)).toBeLessThan(1_000)
    })
  )
})

describe("a database that takes no writes", () => {
  liveEffect(
    "sessions on a standby are closed: not ready for the moment, and serving again without a restart",
    () =>
      Effect.gen(function* () {
        const { admin, answers, proxy, service, stop } = yield* databaseWorld()
        const name = new URL(postgresUrl.replace(/\/[^/]*$/, "")).host
        expect(name).not.toBe("")
        const [row] = yield* Effect.promise(() => admin`SELECT current_database() AS name`)
        yield* Effect.promise(() =>
          admin.unsafe(`ALTER DATABASE ${row.name} SET default_transaction_read_only = on`)
        )
        proxy.cut()
        const before = answers.length
        yield* untilReadyz(service, 503)
        // Intents need no write, but their sessions are closed too.
        yield* Effect.sleep("100 millis").pipe(
          Effect.repeat({
            until: () => answers.slice(before).some(({ status }) => status === 503),
            times: 300
          })
        )
        expect(answers.slice(before)).toContainEqual(
          expect.objectContaining({ status: 503, code: "SERVICE_UNAVAILABLE" })
        )
        yield* Effect.promise(() =>
          admin.unsafe(
            `SET default_transaction_read_only = off; ALTER DATABASE ${row.name} RESET default_transaction_read_only`
          )
        )
        const since = performance.now()
        yield* Effect.sleep("6 seconds")
        yield* stop
        noteOutage("a standby, and a primary again", answers, since)
        expect(servedAfter(answers, since)).toBeLessThan(5_000)
        expectOutage(answers)
        yield* untilReadyz(service, 200)
      })
  )
})

describe("migrations", () => {
  liveEffect("a later release's changes to the migrations table do not make a running instance unready", () =>
    Effect.gen(function* () {
      const { admin, answers, service, stop } = yield* databaseWorld()
      const told = yield* Effect.promise(() =>
        admin.begin(async (sql) => {
          await sql`LOCK TABLE effect_sql_migrations IN ACCESS EXCLUSIVE MODE`
          await Bun.sleep(500)
          return await fetch(`${service.baseUrl}/readyz`).then(({ status }) => status)
        })
      )
      yield* stop
      expect(told).toBe(200)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    })
  )

  liveEffect("an instance whose tables are gone answers 503 and is not ready", () =>
    Effect.gen(function* () {
      const { admin, answers, service, stop } = yield* databaseWorld()
      yield* Effect.promise(() => admin`ALTER TABLE merchants RENAME TO merchants_gone`)
      yield* untilReadyz(service, 503)
      yield* Effect.promise(() => admin`ALTER TABLE merchants_gone RENAME TO merchants`)
      yield* untilReadyz(service, 200)
      yield* stop
      expect(answers.some(({ status }) => status === 503)).toBeTrue()
      expectOutage(answers)
    })
  )

  const start = (databaseUrl: string) =>
    Effect.gen(function* () {
      const child = yield* spawnProgram(["src/app/main.ts"], {
        DATABASE_URL: databaseUrl,
        DATA_DIR: yield* temporaryDirectory,
        PORT: String(yield* freePort(0)),
        HOST: "127.0.0.1",
        ...noChain
      })
      return child
    })
  const refusal = (databaseUrl: string) =>
    Effect.gen(function* () {
      const child = yield* start(databaseUrl)
      expect(yield* child.exited).toBe(1)
      const said = child
        .output()
        .trim()
        .split("\n")
        .filter((line) => !line.includes("Running migration"))
      expect(said).toHaveLength(1)
      return child.output()
    })
  const change = (databaseUrl: string, ...statements: ReadonlyArray<string>) =>
    Effect.promise(async () => {
      const sql = new SQL(databaseUrl, { max: 1 })
      for (const statement of statements) await sql.unsafe(statement)
      await sql.close()
    })
  const migrated = Effect.gen(function* () {
    const databaseUrl = yield* ownDatabase()
    const first = yield* spawnService({
      DATABASE_URL: databaseUrl,
      DATA_DIR: yield* temporaryDirectory,
      ...noChain
    })
    yield* untilReady(first)
    yield* first.kill("SIGTERM")
    yield* first.exited
    return databaseUrl
  })
  const databaseName = (url: string) => new URL(url).pathname.slice(1)

  liveEffect("half a migration is reported with its cause, and stops the start", () =>
    Effect.gen(function* () {
      const databaseUrl = yield* migrated
      const [initial = ""] = Object.keys(migrations)
      yield* change(
        databaseUrl,
        `DELETE FROM effect_sql_migrations WHERE migration_id = ${Number.parseInt(initial, 10)}`
      )
      const told = yield* refusal(databaseUrl)
      for (const word of [initial, databaseName(databaseUrl), "already exists"]) expect(told).toContain(word)
    })
  )

  liveEffect("missing tables are reported by name", () =>
    Effect.gen(function* () {
      const databaseUrl = yield* migrated
      yield* change(databaseUrl, "DROP TABLE payment_reports, alerts CASCADE")
      const told = yield* refusal(databaseUrl)
      for (const word of ["payment_reports", "alerts", databaseName(databaseUrl)])
        expect(told).toContain(word)
    })
  )

  liveEffect("a server that refuses is reported with its host and the cause", () =>
    Effect.gen(function* () {
      const told = yield* refusal("postgres://shop:hidden@127.0.0.1:9/orders")
      expect(told).toContain("orders at 127.0.0.1:9")
      expect(told).toMatch(/ECONNREFUSED|refused/i)
      expect(told).not.toContain("hidden")
    })
  )

  liveEffect("waiting for another instance's migration is logged", () =>
    Effect.gen(function* () {
      const databaseUrl = yield* ownDatabase()
      const sql = new SQL(databaseUrl, { max: 1 })
      yield* Effect.promise(() => sql`SELECT pg_advisory_lock(5107001)`)
      const child = yield* start(databaseUrl)
      yield* Effect.promise(async () => {
        const end = Date.now() + 60_000
        while (!child.output().includes("Waiting for another instance") && Date.now() < end)
          await Bun.sleep(50)
      })
      expect(child.output()).toContain(databaseName(databaseUrl))
      const [holder] = yield* Effect.promise(() => sql`SELECT pg_backend_pid() AS pid`)
      expect(child.output()).toContain(`process ${holder.pid} of role`)
      yield* Effect.promise(() => sql.close())
      yield* Effect.promise(async () => {
        const end = Date.now() + 60_000
        while (!child.output().includes("Quittance is listening") && Date.now() < end) await Bun.sleep(50)
      })
      expect(child.output()).toContain("Quittance is listening")
    })
  )
})

describe("a path that goes silent during the start", () => {
  longFault("is noticed from the server's session, and migrations begin again on another connection", () =>
    Effect.gen(function* () {
      const databaseUrl = yield* ownDatabase()
      const proxy = yield* tcpProxy(Number(new URL(postgresUrl).port || 5432))
      const through = new URL(databaseUrl)
      through.port = String(proxy.port)
      const sql = new SQL(databaseUrl, { max: 1 })
      yield* Effect.addFinalizer(() => Effect.promise(() => sql.close()))
      yield* Effect.promise(() => sql`SELECT pg_advisory_lock(5107001)`)
      const service = yield* spawnService({
        DATABASE_URL: through.toString(),
        DATA_DIR: yield* temporaryDirectory,
        ...noChain
      })
      yield* Effect.promise(async () => {
        const end = Date.now() + 60_000
        while (!service.output().includes("Waiting for another instance") && Date.now() < end)
          await Bun.sleep(20)
      })
      proxy.freeze()
      yield* Effect.promise(() => sql`SELECT pg_advisory_unlock(5107001)`)
      expect(yield* untilReady(service)).toBeLessThan(40_000)
      expect(service.output()).toContain("its answers do not arrive here")
    })
  )
})

describe("health checks", () => {
  const raw = (port: number, request: string) =>
    new Promise<string>((done) => {
      let text = ""
      const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(request))
      socket.on("data", (chunk) => {
        text += chunk.toString()
        if (text.includes("\r\n\r\n")) socket.end()
      })
      socket.on("close", () => done(text))
      socket.on("error", () => done(text))
    })

  liveEffect("HTTP/1.0 without Host, and any Host, are answered", () =>
    Effect.gen(function* () {
      const service = yield* spawnService({
        DATABASE_URL: yield* ownDatabase(),
        DATA_DIR: yield* temporaryDirectory,
        ...noChain
      })
      yield* untilReady(service)
      const port = Number(new URL(service.baseUrl).port)
      for (const path of ["/healthz", "/readyz"]) {
        for (const head of [
          `GET ${path} HTTP/1.0\r\n\r\n`,
          `GET ${path} HTTP/1.1\r\nHost: 10.0.0.7:9\r\nConnection: close\r\n\r\n`,
          `GET ${path} HTTP/1.1\r\nHost: anything.example\r\nConnection: close\r\n\r\n`
        ]) {
          const answer = yield* Effect.promise(() => raw(port, head))
          expect([head, answer.split("\r\n")[0]]).toEqual([head, "HTTP/1.1 200 OK"])
        }
      }
    })
  )

  liveEffect(
    "during the start every request is refused at connection or answered 503 in the envelope, never 404",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const service = yield* spawnService({ DATA_DIR: dataDir, ...noChain })
        const seen = yield* Effect.promise(async () => {
          const statuses = new Map<string, number>()
          const refusalIn = async (answer: Response) => {
            const { error, status } = await answer.json()
            return `${answer.status} ${error?.code ?? status} ${answer.headers.get("cache-control")} ${answer.headers.get("retry-after")}`
          }
          const end = Date.now() + 120_000
          while (Date.now() < end) {
            const answer = await fetch(`${service.baseUrl}/readyz`).catch(() => undefined)
            const what =
              answer === undefined ? "refused" : answer.status === 200 ? "ready" : await refusalIn(answer)
            statuses.set(what, (statuses.get(what) ?? 0) + 1)
            if (answer?.status === 200) break
          }
          return [...statuses.keys()]
        })
        expect(seen).toContain("ready")
        for (const what of seen)
          expect([
            "refused",
            "ready",
            "503 starting no-store 1",
            "503 SERVICE_UNAVAILABLE no-store 1"
          ]).toContain(what)
      })
  )
})
