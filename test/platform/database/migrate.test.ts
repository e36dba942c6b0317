// Migrations next to statements that lock the same tables.
import { expect } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Duration, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../src/platform/AppConfig.ts"
import { buildIndexes } from "../../../src/platform/database/buildIndexes.ts"
import { migrate } from "../../../src/platform/database/migrate.ts"
import { tables } from "../../../src/platform/database/migrations.ts"
import { makeReady } from "../../../src/platform/database/ready.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { temporaryDirectory } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const statement = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text))

liveEffect("a migration waits out locks and deadlocks, and nobody waits behind it for long", () =>
  Effect.gen(function* () {
    const url = yield* ownDatabase()
    const others = new SQL(url, { max: 3 })
    yield* Effect.addFinalizer(() => Effect.promise(() => others.close({ timeout: 0 })))
    yield* Effect.promise(() => others.unsafe("CREATE TABLE one (id int); CREATE TABLE two (id int)"))
    const holding = others.begin(async (sql) => {
      await sql`INSERT INTO two VALUES (1)`
      await Bun.sleep(1_500)
      // The migration has this table by now, and wants the one that is locked here.
      await sql`INSERT INTO one VALUES (1)`.catch(() => undefined)
      await Bun.sleep(3_500)
    })
    holding.catch(() => undefined)
    yield* Effect.sleep("300 millis")
    let done = false
    const longest = (async () => {
      let millis = 0
      while (!done) {
        const began = performance.now()
        await others`SELECT count(*) FROM two`
        millis = Math.max(millis, performance.now() - began)
        await Bun.sleep(20)
      }
      return millis
    })()
    yield* migrate(
      {
        "0001_both": {
          up: Effect.andThen(
            statement("ALTER TABLE one ADD COLUMN more int"),
            statement("ALTER TABLE two ADD COLUMN more int")
          )
        }
      },
      "of the test"
    ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
    done = true
    expect(yield* Effect.promise(() => longest)).toBeLessThan(3_500)
    const rows = yield* Effect.promise(() => others`SELECT id, more FROM two`)
    expect(rows.length).toBeLessThanOrEqual(1)
  })
)

const clientOf = (url: string) => PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
liveEffect("indexes are built while others write, and one that a crash left half built is rebuilt", () =>
  Effect.gen(function* () {
    const url = yield* ownDatabase()
    const others = new SQL(url, { max: 4 })
    yield* Effect.addFinalizer(() => Effect.promise(() => others.close({ timeout: 0 })))
    yield* Effect.promise(() => others.unsafe("CREATE TABLE orders (id int, note text)"))
    yield* Effect.promise(() =>
      others.unsafe("INSERT INTO orders SELECT n, repeat('x', 100) FROM generate_series(1, 500000) n")
    )
    // As left by a build that was killed.
    yield* Effect.promise(() => others.unsafe("CREATE INDEX orders_note ON orders (note)"))
    yield* Effect.promise(() =>
      others.unsafe("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'orders_note'::regclass")
    )
    let done = false
    const longest = (async () => {
      let millis = 0
      while (!done) {
        const began = performance.now()
        await others`INSERT INTO orders VALUES (0, 'new')`
        millis = Math.max(millis, performance.now() - began)
      }
      return millis
    })()
    const later = {
      "0001_orders": {
        up: Effect.void,
        indexes: { orders_id: "orders (id)", orders_note: "orders (note)" }
      }
    }
    const build = Effect.andThen(migrate(later, "of the test"), buildIndexes(later, "of the test"))
    const [took] = yield* Effect.timed(Effect.provide(build, clientOf(url)))
    done = true
    // The build took longer than any writer had to wait.
    expect(yield* Effect.promise(() => longest)).toBeLessThan(Duration.toMillis(took) / 2)
    const valid = yield* Effect.promise(
      () => others`
          SELECT indexrelid::regclass::text AS name FROM pg_index
          WHERE indisvalid AND indrelid = 'orders'::regclass ORDER BY name`
    )
    expect([...valid].map(({ name }) => name)).toEqual(["orders_id", "orders_note"])
  })
)

liveEffect("an instance whose database lacks a table is not ready", () =>
  Effect.gen(function* () {
    const url = yield* ownDatabase({ template: yield* Effect.promise(() => templateDatabase(postgresUrl)) })
    // A new one each time, because an answer is cached for a second.
    const ready = Effect.flatten(makeReady(tables)).pipe(
      Effect.provide(AppConfig.layer({ DATABASE_URL: url, DATA_DIR: yield* temporaryDirectory })),
      Effect.provide(clientOf(url))
    )
    expect(yield* ready).toBeTrue()
    yield* Effect.provide(statement("DROP TABLE receiver_balances"), clientOf(url))
    expect(yield* ready).toBeFalse()
  })
)
