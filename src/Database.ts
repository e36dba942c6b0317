// The one SQL client. Postgres by address, or Postgres compiled to WASM (PGlite)
// inside the process, spoken to over an in-process stream by the same client.
import { Database as SqliteFile } from "bun:sqlite"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Duplex } from "node:stream"
import { PgClient } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { Context, Data, Effect, Layer } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import initial from "../migrations/0001_initial.ts"
import dashboard from "../migrations/0002_dashboard.ts"
import agents from "../migrations/0003_agents.ts"
import incomingTransfers from "../migrations/0004_incoming_transfers.ts"
import x402 from "../migrations/0005_x402.ts"
import receivers from "../migrations/0006_receivers.ts"
import reservations from "../migrations/0007_reservations.ts"
import { AppConfig, type AppConfigShape } from "./AppConfig.ts"

/** The database cannot be used. `message` is the whole sentence for the operator. */
export class DatabaseRefusal extends Data.TaggedError("DatabaseRefusal")<{ readonly message: string }> {}

/**
 * Holds the embedded directory for this process. The lock is the operating
 * system's (SQLite's exclusive file lock), so it ends with the process however it dies.
 */
const holdDirectory = (directory: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        const file = new SqliteFile(join(directory, "quittance.lock"))
        file.run("PRAGMA locking_mode = EXCLUSIVE")
        file.run("BEGIN EXCLUSIVE")
        return file
      },
      catch: (error) =>
        new DatabaseRefusal({
          message:
            error instanceof Error && /locked|busy/i.test(error.message)
              ? `The embedded database in ${directory} is in use by another process. Stop it first, set DATA_DIR to another directory, or set DATABASE_URL to a Postgres that both can share.`
              : `The embedded database directory ${directory} cannot be opened: ${error instanceof Error ? error.message : "unknown"}. Set DATA_DIR to a writable directory.`
        })
    }),
    (file) => Effect.sync(() => file.close())
  )

/** The answer of `execProtocolRaw` would also be parsed and every row of it kept for ever (PGlite 0.5.16). */
const exec = async (pglite: PGlite, message: Uint8Array): Promise<ReadonlyArray<Uint8Array>> => {
  const answer: Array<Uint8Array> = []
  // What it is called with is PGlite's own memory, written again by the next message.
  await pglite.execProtocolRawStream(message, { onRawData: (bytes) => void answer.push(bytes.slice()) })
  return answer
}

const pgliteStream = (pglite: PGlite): Duplex =>
  new Duplex({
    read() {},
    write(message: Uint8Array, _encoding, done) {
      exec(pglite, message).then(
        (answer) => {
          for (const bytes of answer) this.push(bytes)
          done()
        },
        (error: Error) => done(error)
      )
    }
  })

const openPglite = (dataDir: string) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => PGlite.create({ dataDir }),
      catch: (error) =>
        new DatabaseRefusal({
          message: `The embedded database does not start: ${error instanceof Error ? error.message : "unknown"}`
        })
    }),
    (pglite) => Effect.promise(() => pglite.close())
  )

/** The client on an open PGlite. A single connection: no LISTEN, no concurrent transactions. */
export const embeddedClient = (pglite: PGlite) =>
  PgClient.layer({
    stream: () => pgliteStream(pglite),
    maxConnections: 1,
    username: "postgres",
    database: "postgres"
  })

const embedded = (directory: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* holdDirectory(directory)
      return embeddedClient(yield* openPglite(join(directory, "pgdata")))
    })
  )

const postgres = (config: Extract<AppConfigShape["database"], { _tag: "Postgres" }>) =>
  PgClient.layer({
    url: config.url,
    multiplex: true,
    maxConnections: 16,
    minConnections: 1,
    applicationName: "quittance"
  })

type Migration = Effect.Effect<unknown, unknown, SqlClient.SqlClient>

/** Each migration runs once, in id order, under a table lock: instances may start together. */
export const migrations = {
  "0001_initial": initial,
  "0002_dashboard": dashboard,
  "0003_agents": agents,
  "0004_incoming_transfers": incomingTransfers,
  "0005_x402": x402,
  "0006_receivers": receivers,
  "0007_reservations": reservations
}

/** What this release runs and needs. A later release has more, and may share a database with this one. */
export const Migrations = Context.Reference<Readonly<Record<string, Migration>>>("quittance/Migrations", {
  defaultValue: () => migrations
})

const migrate = Effect.flatMap(Migrations, (all) =>
  Migrator.make({})({ loader: Migrator.fromRecord(all) })
).pipe(
  Effect.catchTag("MigrationError", (error) =>
    // Another instance holds the lock and is doing the same work.
    error.kind === "Locked" ? Effect.succeed([]) : Effect.fail(error)
  )
)

const migrated = Layer.effectDiscard(migrate)

const refuse = (error: { readonly message: string; readonly cause?: unknown }) =>
  new DatabaseRefusal({
    message: `The database cannot be used: ${error.cause instanceof Error ? error.cause.message : error.message}. Check DATABASE_URL.`
  })

const refused = <A, R>(
  database: Layer.Layer<A, SqlError.SqlError | Migrator.MigrationError | DatabaseRefusal, R>
) =>
  Layer.catch(database, (error) =>
    Layer.effectContext(Effect.fail(error._tag === "DatabaseRefusal" ? error : refuse(error)))
  )

/** The configured database, migrated. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { database } = yield* AppConfig
    return refused(
      database._tag === "Postgres"
        ? Layer.provideMerge(migrated, postgres(database))
        : Layer.provideMerge(migrated, embedded(database.directory))
    )
  })
)

/** Whether the database answers and carries every migration of this version; a newer instance may have run more. */
export const ready = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const wanted = yield* Migrations
  const rows = yield* sql`SELECT count(*)::int AS count FROM effect_sql_migrations`
  const [row] = rows
  return row !== undefined && Number(row["count"]) >= Object.keys(wanted).length
})
