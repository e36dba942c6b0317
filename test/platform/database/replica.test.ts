// Lists on a replica: as fresh as the primary, or read from the primary.
import { describe, expect } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { send } from "../../support/contractCheck.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { postgresPair, whyNoPair } from "../../support/postgresPair.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect, longFault } from "../../support/run.ts"

let shops = 0
const shop = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const whole = {
    DATA_DIR: yield* temporaryDirectory,
    RATE_LIMIT_PER_KEY: "100000",
    BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
    ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
    ...env
  }
  const service = yield* spawnService(whole)
  yield* untilReady(service)
  const cli = yield* spawnProgram(
    [
      ...["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--json"],
      ...["--receiver", `0x${(++shops).toString(16).padStart(40, "a")}`]
    ],
    whole
  )
  yield* cli.succeeded
  const { publishable, secret } = JSON.parse(cli.stdout()).keys.test
  const call = (method: string, path: string, key: string, body?: object) =>
    send(service.baseUrl, { method, path, key, ...(body === undefined ? {} : { body }) })
  /** Opens a payment and lists at once; returns the milliseconds of the list. */
  const openAndList = async () => {
    const intent = await call("POST", "/api/v1/payment-intents", secret, {
      amount: "1.00",
      intentUrl: "https://shop.example.com/"
    })
    const { intentToken } = intent.body
    const opened = await call("POST", "/api/v1/payments", publishable, { intentToken })
    const began = performance.now()
    const listed = await call("GET", "/api/v1/payments?limit=1", secret)
    expect([listed.status, listed.body.payments[0]?.id]).toEqual([200, opened.body.payment.id])
    return performance.now() - began
  }
  const rounds = (count: number) =>
    Effect.promise(async () => {
      const millis: Array<number> = []
      for (let round = 0; round < count; round++) millis.push(await openAndList())
      return Math.max(...millis)
    })
  return { rounds, service }
})

const client = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new SQL(url, { max: 1 })),
    (sql) => Effect.promise(() => sql.close({ timeout: 0 }))
  )

/** The service's sessions that have read lists there in the last seconds. */
const listsOn = (sql: SQL) =>
  Effect.promise(async () => {
    const [row] = await sql`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE application_name = 'quittance replica' AND query LIKE '%FROM payments%'
        AND query_start > now() - interval '3 seconds'`
    return Number(row.count)
  })

describe.skipIf(whyNoPair !== "")(`a replica${whyNoPair}`, () => {
  liveEffect(
    "lists come from the replica if it has every answered write, and otherwise from the primary",
    () =>
      Effect.gen(function* () {
        const servers = yield* postgresPair
        const standby = yield* client(servers.standbyUrl)
        const { rounds, service } = yield* shop({
          DATABASE_URL: servers.primaryUrl,
          DATABASE_REPLICA_URL: servers.standbyUrl
        })
        const listsThere = listsOn(standby)
        // On a busy machine the service may stop using the replica for a while.
        const untilRead = Effect.gen(function* () {
          for (let tries = 0; tries < 12; tries++) {
            yield* rounds(20)
            if ((yield* listsThere) > 0) return
          }
          return yield* Effect.die(new Error("no list was read from the replica"))
        })
        yield* untilRead

        yield* Effect.promise(() => standby`SELECT pg_wal_replay_pause()`)
        yield* Effect.sleep("3500 millis")
        expect(yield* rounds(20)).toBeLessThan(3_000)
        expect(yield* listsThere).toBe(0)

        yield* Effect.promise(() => standby`SELECT pg_wal_replay_resume()`)
        yield* untilRead

        // The primary no longer waits for a standby.
        const primary = yield* client(servers.primaryUrl)
        yield* Effect.promise(async () => {
          await primary`ALTER SYSTEM SET synchronous_standby_names = ''`
          await primary`SELECT pg_reload_conf()`
        })
        // A replica that was promoted by mistake, with a longer log than the database's.
        yield* servers.promote
        yield* Effect.promise(() =>
          standby.unsafe("CREATE TABLE junk AS SELECT generate_series(1, 300000) AS n")
        )
        yield* rounds(20)
        // On a busy machine it may be too slow at first, and is then not asked for five seconds.
        for (let tries = 0; tries < 20 && !service.output().includes("is no longer a standby"); tries++) {
          yield* rounds(5)
          yield* Effect.sleep("1 second")
        }
        expect(service.output().match(/is no longer a standby/g)).toHaveLength(1)

        yield* servers.killStandby
        expect(yield* rounds(20)).toBeLessThan(5_000)
      }).pipe(Effect.scoped)
  )

  longFault(
    "after a promotion a replica that follows is used again, and one that stayed with the old primary is not",
    () =>
      Effect.gen(function* () {
        const servers = yield* postgresPair
        const follower = yield* servers.follower("three", "two")
        const rival = yield* servers.follower("four", "one")
        const sql = yield* client(servers.primaryUrl)
        const before = yield* shop({ DATABASE_URL: servers.primaryUrl, DATABASE_REPLICA_URL: rival })
        yield* before.rounds(20)
        expect(yield* listsOn(yield* client(rival))).toBeGreaterThan(0)
        yield* before.service.kill("SIGTERM")
        yield* before.service.exited

        yield* servers.promote
        // The old primary continues, and its log becomes longer than the new one's.
        yield* Effect.promise(() => sql.unsafe("CREATE TABLE junk AS SELECT generate_series(1, 300000) AS n"))
        const at = (replica: string) =>
          shop({ DATABASE_URL: servers.standbyUrl, DATABASE_REPLICA_URL: replica })
        const [second, third] = yield* Effect.all([at(rival), at(follower)], { concurrency: 2 })
        yield* second.rounds(20)
        expect(second.service.output().match(/follows another server than the database/g)).toHaveLength(1)
        yield* third.rounds(40)
        expect(yield* listsOn(yield* client(follower))).toBeGreaterThan(0)
      }).pipe(Effect.scoped)
  )
})

liveEffect("another database is not used as a replica: lists are right, and the log says why", () =>
  Effect.gen(function* () {
    const [own, other] = [yield* ownDatabase(), yield* ownDatabase()]
    const { rounds, service } = yield* shop({ DATABASE_URL: own, DATABASE_REPLICA_URL: other })
    const said = "is not a replica of this database"
    // On a busy machine it may be too slow at first, and is then not used for five seconds.
    for (let tries = 0; tries < 20 && !service.output().includes(said); tries++) {
      yield* rounds(5)
      yield* Effect.sleep("1 second")
    }
    expect(service.output()).toContain(said)
  }).pipe(Effect.scoped)
)

liveEffect("only one replica is allowed: with several, one could be checked and another read", () =>
  Effect.gen(function* () {
    const service = yield* spawnService({
      DATABASE_URL: yield* ownDatabase(),
      DATABASE_REPLICA_URL: "postgres://postgres@127.0.0.1:1,127.0.0.1:2/postgres",
      DATA_DIR: yield* temporaryDirectory
    })
    expect(yield* service.exited).toBe(1)
    expect(service.output()).toContain("DATABASE_REPLICA_URL must name one server")
  }).pipe(Effect.scoped)
)
