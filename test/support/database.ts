// The databases that the suite runs on: PGlite always, and a real Postgres where
// TEST_DATABASE_URL names one. Each test gets a database of its own or an empty one.
import { describe } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer, Redacted } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as Database from "../../src/Database.ts"

const testDatabaseUrl = process.env["TEST_DATABASE_URL"]

let count = 0

/** A fresh, migrated database on the Postgres of TEST_DATABASE_URL; dropped with the scope. */
const postgresDatabase = (url: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const name = `quittance_${process.pid}_${count++}`
      const admin = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
      const run = (statement: string) =>
        SqlClient.SqlClient.pipe(
          Effect.flatMap((sql) => sql.unsafe(statement)),
          Effect.provide(admin)
        )
      yield* Effect.acquireRelease(run(`CREATE DATABASE ${name}`), () =>
        Effect.orDie(run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
      )
      const own = new URL(url)
      own.pathname = `/${name}`
      const migrate = Migrator.make({})({ loader: Migrator.fromRecord(Database.migrations) })
      return Layer.provideMerge(
        Layer.effectDiscard(migrate),
        PgClient.layer({ url: Redacted.make(own.toString()), multiplex: true, maxConnections: 8 })
      )
    })
  )

/** A migrated PGlite, made once and copied for each test: several times faster than a new one. */
let snapshot: Promise<Blob> | undefined
const takeSnapshot = async (): Promise<Blob> => {
  const pglite = await PGlite.create()
  const migrate = Migrator.make({})({ loader: Migrator.fromRecord(Database.migrations) })
  await Effect.runPromise(migrate.pipe(Effect.provide(Database.embeddedClient(pglite)), Effect.orDie))
  return pglite.dumpDataDir("none")
}

const openPglite = Effect.acquireRelease(
  Effect.promise(async () => {
    snapshot ??= takeSnapshot()
    return PGlite.create({ loadDataDir: await snapshot })
  }),
  (pglite) => Effect.promise(() => pglite.close())
)

const pgliteDatabase = Layer.unwrap(Effect.map(openPglite, Database.embeddedClient))

/** PGlite that tells of each round trip of its client. */
export const countingDatabase = (onRoundTrip: () => void): TestDatabase => ({
  name: "PGlite",
  layer: Layer.unwrap(
    Effect.map(openPglite, (pglite) => {
      const exec = pglite.execProtocolRawStream.bind(pglite)
      pglite.execProtocolRawStream = (...args) => {
        onRoundTrip()
        return exec(...args)
      }
      return Database.embeddedClient(pglite)
    })
  ).pipe(Layer.orDie)
})

type DatabaseLayer = Layer.Layer<SqlClient.SqlClient | PgClient.PgClient>

export interface TestDatabase {
  readonly name: "PGlite" | "Postgres"
  readonly layer: DatabaseLayer
}

export const databases: ReadonlyArray<TestDatabase> = [
  { name: "PGlite", layer: Layer.orDie(pgliteDatabase) },
  ...(testDatabaseUrl === undefined
    ? []
    : [{ name: "Postgres" as const, layer: Layer.orDie(postgresDatabase(testDatabaseUrl)) }])
]

/** Describes the same behaviour once for each database. */
export const onEachDatabase = (title: string, tests: (database: TestDatabase) => void): void => {
  for (const database of databases) describe(`${title} on ${database.name}`, () => tests(database))
  if (testDatabaseUrl === undefined) {
    describe.skip(`${title} on Postgres: TEST_DATABASE_URL is not set`, () => {})
  }
}
