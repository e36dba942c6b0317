// The one SQL client: on a Postgres by address, or on one of the service's own, in a directory.
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import initial from "../migrations/0001_initial.ts"
import dashboard from "../migrations/0002_dashboard.ts"
import agents from "../migrations/0003_agents.ts"
import incomingTransfers from "../migrations/0004_incoming_transfers.ts"
import x402 from "../migrations/0005_x402.ts"
import receivers from "../migrations/0006_receivers.ts"
import reservations from "../migrations/0007_reservations.ts"
import { AppConfig, type AppConfigShape } from "./AppConfig.ts"
import { DatabaseRefusal } from "./database/DatabaseRefusal.ts"
import { joinEmbeddedPostgres } from "./database/EmbeddedPostgres.ts"

const shared = { multiplex: true, maxConnections: 16, minConnections: 1, applicationName: "quittance" }

const embedded = (directory: string) =>
  Layer.unwrap(
    Effect.map(joinEmbeddedPostgres(directory), (connection) => PgClient.layer({ ...shared, ...connection }))
  )

const postgres = ({ url }: Extract<AppConfigShape["database"], { _tag: "Postgres" }>) =>
  PgClient.layer({ ...shared, url })

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
