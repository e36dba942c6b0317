// The quarters of divided tables over the years, on Postgres.
import { expect } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { buildIndexes } from "../../src/database/buildIndexes.ts"
import { copyFrom } from "../../src/database/Copy.ts"
import { migrations } from "../../src/database/migrations.ts"
import { partition } from "../../src/database/partition.ts"
import { removeLeftBounds } from "../../src/database/partitionBounds.ts"
import { atTime, testDatabase } from "../support/database.ts"
import { ownDatabase, postgresUrl } from "../support/ownDatabase.ts"
import { liveEffect } from "../support/run.ts"
import { databaseUrl, templateDatabase } from "../support/testPostgres.ts"

const merchant = "01a1fc34-7205-710e-9410-874fee9a4996"
const address = Buffer.alloc(20, 1)

const insert = (at: string, refCode: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const id = Bun.randomUUIDv7("hex", Date.parse(at))
    yield* sql`
      INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
      VALUES (${id}, ${merchant}, 'test', 'pending', 1, ${refCode}, 'u', ${address}, 'human', ${new Date(at)})`
    yield* sql`
      INSERT INTO webhook_deliveries (id, merchant_id, env, payment_id, type, body, status, created_at)
      VALUES (${id}, ${merchant}, 'test', ${id}, 'payment.settled', ${address}, 'cancelled', ${new Date(at)})`
    return id
  })

const places = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`SELECT tableoid::regclass::text AS place FROM ${sql(table)} ORDER BY created_at`
    return rows.map((row) => row["place"])
  })

const divideAt = (at: string) =>
  atTime(
    at,
    partition("of the test", () => Effect.void)
  )

liveEffect(
  "each row is in its quarter; later runs add quarters, and what came after the last one is kept",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
      VALUES (${merchant}, 'M', ${address}, ${address}, now())`
      yield* insert("2025-03-03T00:00:00Z", "PAY-00000001")
      const [first] = yield* divideAt("2026-05-05T00:00:00Z")
      expect(first?.until).toEqual(new Date("2027-07-01T00:00:00Z"))
      yield* insert("2026-06-30T23:59:59.999Z", "PAY-00000002")
      yield* insert("2026-07-01T00:00:00Z", "PAY-00000003")
      yield* insert("2027-06-30T23:59:59.999Z", "PAY-00000004")
      yield* insert("2027-12-01T00:00:00Z", "PAY-00000005")
      for (const table of ["payments", "webhook_deliveries"])
        expect(yield* places(table)).toEqual(
          ["before_2026_q3", "before_2026_q3", "2026_q3", "2027_q2", "later"].map((one) => `${table}_${one}`)
        )

      // Soon after, there is nothing to do; in time, quarters follow.
      expect((yield* divideAt("2026-08-01T00:00:00Z"))[0]?.partitions).toEqual([])
      yield* divideAt("2028-02-02T00:00:00Z")
      yield* insert("2028-04-01T00:00:00Z", "PAY-00000006")
      expect(yield* places("payments")).toEqual(
        ["before_2026_q3", "before_2026_q3", "2026_q3", "2027_q2", "before_2028_q2", "2028_q2"].map(
          (one) => `payments_${one}`
        )
      )
      yield* divideAt("2028-11-11T00:00:00Z")
      yield* insert("2029-04-01T00:00:00Z", "PAY-00000007")
      expect((yield* places("payments")).at(-1)).toBe("payments_2029_q2")

      // A reference code is its payment's within a quarter, and references hold over all of them.
      expect(String(yield* Effect.flip(insert("2029-05-01T00:00:00Z", "PAY-00000007")))).toContain("SqlError")
      const stranger = yield* Effect.flip(
        sql`INSERT INTO payment_verdicts (payment_id, at, evidence, reported_at, transaction_id, payer_address, verdict)
        VALUES (${merchant}, now(), ${Buffer.alloc(32)}, now(), ${Buffer.alloc(32)}, ${address}, 'x')`
      )
      expect(String(stranger.reason._tag)).toContain("Constraint")
      // A copy reads the rows of all partitions through their table, and knows no partition.
      const copied = new Map<string, number>()
      yield* copyFrom("of the test", {
        begin: () => Effect.void,
        rows: (table, rows) =>
          Effect.sync(() => void copied.set(table, (copied.get(table) ?? 0) + rows.length)),
        end: () => Effect.void
      })
      expect(copied).toEqual(
        new Map([
          ["merchants", 1],
          ["payments", 7],
          ["webhook_deliveries", 7]
        ])
      )

      // The indexes of the migrations are there, so that a start has none to build.
      const [before] = yield* sql`SELECT count(*)::int AS indexes FROM pg_class WHERE relkind IN ('i', 'I')`
      yield* buildIndexes(migrations, "of the test")
      expect(yield* sql`SELECT count(*)::int AS indexes FROM pg_class WHERE relkind IN ('i', 'I')`).toEqual([
        before ?? {}
      ])
      const [invalid] = yield* sql`SELECT count(*)::int AS indexes FROM pg_index WHERE NOT indisvalid`
      expect(invalid).toEqual({ indexes: 0 })

      // One that is missing, and one that a crash has left half built, are built on each partition.
      const indexes = sql`
        SELECT tablename, regexp_replace(indexdef, '.* ON ', '') AS definition FROM pg_indexes
        WHERE schemaname = 'public' ORDER BY 1, 2`
      const all = yield* indexes
      yield* sql`DROP INDEX payments_failed`
      yield* buildIndexes(migrations, "of the test")
      expect(yield* indexes).toEqual(all)
      yield* sql`DROP INDEX payments_failed`
      yield* sql`CREATE INDEX payments_failed_2028_q2 ON payments_2028_q2 (merchant_id, env, failed_at) WHERE status = 'failed'`
      yield* sql`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'payments_failed_2028_q2'::regclass`
      yield* sql`CREATE INDEX payments_failed ON ONLY payments (merchant_id, env, failed_at) WHERE status = 'failed'`
      yield* buildIndexes(migrations, "of the test")
      expect(yield* indexes).toEqual(all)
      const [half] = yield* sql`SELECT count(*)::int AS indexes FROM pg_index WHERE NOT indisvalid`
      expect(half).toEqual({ indexes: 0 })
    }).pipe(Effect.provide(testDatabase.layer))
)

const bounds = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT conname FROM pg_constraint WHERE conname LIKE '%bound' AND contype = 'c'`
)
const untilBound = bounds.pipe(
  Effect.delay("20 millis"),
  Effect.repeat({ until: (rows) => rows.length > 0, times: 200 })
)

liveEffect("a division that fails, is interrupted or is killed leaves no bound on a table", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
      VALUES (${merchant}, 'M', ${address}, ${address}, now())`
    yield* insert("2030-03-03T00:00:00Z", "PAY-00000001")
    const failed = yield* Effect.flip(divideAt("2026-05-05T00:00:00Z"))
    expect(String(failed)).toContain("Each table is as it was, or done")
    expect(yield* bounds).toEqual([])
    yield* sql`DELETE FROM webhook_deliveries`
    yield* sql`DELETE FROM payments`

    // The division waits for whoever writes a merchant, its bound on the table.
    const [row] = yield* sql`SELECT current_database() AS name`
    const url = Redacted.make(databaseUrl(postgresUrl, String(row?.["name"])))
    const isHeld = yield* Deferred.make<void>()
    const dividing = yield* Deferred.await(isHeld).pipe(
      Effect.andThen(divideAt("2026-05-05T00:00:00Z")),
      Effect.provide(PgClient.layer({ url, maxConnections: 1 })),
      Effect.forkChild
    )
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`UPDATE merchants SET name = 'N'`
        yield* Deferred.succeed(isHeld, undefined)
        expect(yield* untilBound).toHaveLength(1)
        yield* Fiber.interrupt(dividing)
        expect(yield* bounds).toEqual([])
      })
    )

    yield* sql`ALTER TABLE payments ADD CONSTRAINT payments_bound CHECK (id < '01a1fc34-7205-710e-9410-874fee9a4996')`
    yield* removeLeftBounds("of the test")
    expect(yield* bounds).toEqual([])
    yield* sql`ALTER TABLE payments ADD CONSTRAINT payments_bound CHECK (id < '01a1fc34-7205-710e-9410-874fee9a4996')`
    yield* divideAt("2026-05-05T00:00:00Z")
    yield* sql`ALTER TABLE payments_later ADD CONSTRAINT payments_later_bound CHECK (id < '01a1fc34-7205-710e-9410-874fee9a4996')`
    yield* removeLeftBounds("of the test")
    expect(yield* bounds).toEqual([])
  }).pipe(Effect.provide(testDatabase.layer))
)

liveEffect("a division waits for a long transaction to end, and nobody waits behind it meanwhile", () =>
  Effect.gen(function* () {
    const url = yield* ownDatabase({ template: yield* Effect.promise(() => templateDatabase(postgresUrl)) })
    const others = new SQL(url, { max: 2 })
    yield* Effect.addFinalizer(() => Effect.promise(() => others.close({ timeout: 0 })))
    const reading = Promise.withResolvers<void>()
    let ended = false
    const reader = others.begin(async (sql) => {
      await sql`SELECT count(*) FROM payments`
      await Bun.sleep(1_100)
      reading.resolve()
      await Bun.sleep(3_000)
      ended = true
    })
    yield* Effect.promise(() => reading.promise)
    let longest = 0
    const readers = (async () => {
      while (!ended) {
        const began = performance.now()
        await others`SELECT count(*) FROM payments`
        longest = Math.max(longest, performance.now() - began)
        await Bun.sleep(20)
      }
    })()
    const said: Array<string> = []
    const done = yield* partition("of the test", (line) => Effect.sync(() => void said.push(line))).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
    )
    expect(ended).toBeTrue()
    expect(done.map(({ table }) => table)).toEqual(["payments", "webhook_deliveries"])
    expect(said[0]).toMatch(/waits for the end of a transaction: process \d+ of role/)
    yield* Effect.promise(() => Promise.all([reader, readers]))
    expect(longest).toBeLessThan(1_500)
  })
)
