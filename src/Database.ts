// The one SQL client: on a Postgres by address, or on one of the service's own, in a directory.
import type { Socket } from "node:net"
import { PgClient } from "@effect/sql-pg"
import { Context, type Duration, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as initial from "../migrations/0001_initial.ts"
import * as dashboard from "../migrations/0002_dashboard.ts"
import * as agents from "../migrations/0003_agents.ts"
import * as incomingTransfers from "../migrations/0004_incoming_transfers.ts"
import * as x402 from "../migrations/0005_x402.ts"
import * as receivers from "../migrations/0006_receivers.ts"
import * as reservations from "../migrations/0007_reservations.ts"
import * as webhookWorkers from "../migrations/0008_webhook_workers.ts"
import * as movedReceivers from "../migrations/0009_moved_receivers.ts"
import * as linksAndBrowsers from "../migrations/0010_links_and_browsers.ts"
import * as moneyLevers from "../migrations/0011_money_levers.ts"
import * as auditTriggerAlways from "../migrations/0012_audit_trigger_always.ts"
import * as buyersWays from "../migrations/0013_buyers_ways.ts"
import * as refunds from "../migrations/0014_refunds.ts"
import * as books from "../migrations/0015_books.ts"
import * as eventsFeed from "../migrations/0017_events_feed.ts"
import * as roles from "../migrations/0020_roles.ts"
import * as secondFactors from "../migrations/0021_second_factors.ts"
import * as keyNames from "../migrations/0022_key_names.ts"
import * as telling from "../migrations/0023_telling.ts"
import * as receiptMails from "../migrations/0024_receipt_mails.ts"
import * as acknowledgedBy from "../migrations/0030_acknowledged_by.ts"
import * as findingPayments from "../migrations/0031_finding_payments.ts"
import * as decisions from "../migrations/0032_decisions.ts"
import * as payersTransfers from "../migrations/0033_payers_transfers.ts"
import * as refundsBlock from "../migrations/0034_refunds_block.ts"
import * as payersReports from "../migrations/0035_payers_reports.ts"
import * as settlementsTransaction from "../migrations/0036_settlements_transaction.ts"
import { AppConfig } from "./AppConfig.ts"
import { abandonedSessions, serviceName } from "./database/abandonedSessions.ts"
import { buildIndexes } from "./database/buildIndexes.ts"
import { makeConnector } from "./database/Connector.ts"
import { copyName } from "./database/Copy.ts"
import { DatabaseRefusal } from "./database/DatabaseRefusal.ts"
import { parseDatabaseUrl } from "./database/DatabaseUrl.ts"
import { joinEmbeddedPostgres } from "./database/EmbeddedPostgres.ts"
import { copySilence } from "./database/keptAlive.ts"
import { causeOf, type Migration, migrate } from "./database/migrate.ts"
import { removeLeftBounds } from "./database/partitionBounds.ts"
import { sqlStateOf } from "./database/sqlStateOf.ts"
import { overheard } from "./database/statementLog.ts"
import { PathSilent, watched } from "./database/watched.ts"

/**
 * A server that has said nothing for so long while a statement waits is given up with its connection:
 * the statements fail, and the next ones get another. Statements of the request path take milliseconds.
 */
const silenceTimeout = "1600 millis"
const connectTimeout = "1500 millis"

/**
 * What the server ends by itself, a little later than this process gives it up: otherwise sessions that wait
 * for a lock would pile up until it takes no more.
 */
const sessionBounds = {
  statement_timeout: "3s",
  // Before that: what waits for a lock fails alone, and not with all that shares its connection.
  lock_timeout: "1400ms",
  idle_in_transaction_session_timeout: "60s",
  client_connection_check_interval: "1s"
}
/** SQLSTATEs of servers and poolers that reject these settings at session start. */
const refusesBounds = /^(08P01|22023|42704)/

interface Connection extends Pick<PgClient.PgPoolConfig, "url" | "path" | "username" | "database"> {
  /** Opens a socket; remembers which server answers. */
  readonly stream: () => Socket
  /** How often it is asked before it counts as unreachable, and how long apart. */
  readonly tries: { readonly times: number; readonly apart: Duration.Input }
}

/** One of the service's own that was killed is started again within seconds. */
const embeddedTries = { times: 20, apart: "500 millis" } as const

const pool = (
  { tries: _, stream, ...connection }: Connection,
  bounds: Readonly<Record<string, string>>,
  maxConnections: number
) =>
  PgClient.layer({
    ...connection,
    stream: () => overheard(stream()),
    refuseStandby: true,
    silenceTimeout,
    connectTimeout,
    multiplex: true,
    // Commits that wait for the disk on connections of their own are synced together: 2.6 times the settlements.
    multiplexConcurrency: 4,
    maxConnections,
    minConnections: 1,
    applicationName: serviceName,
    startupParameters: bounds
  })

/** Ends what the pool has abandoned, on a connection of its own. */
const sweeper = ({ tries: _, stream, ...connection }: Connection) =>
  PgClient.layer({
    ...connection,
    stream: () => overheard(stream()),
    refuseStandby: true,
    silenceTimeout,
    connectTimeout,
    maxConnections: 1,
    idleTimeout: "5 seconds",
    applicationName: "quittance sweeper"
  })

/** The bounds, where the server takes them. */
const acceptedBounds = Effect.fnUntraced(function* ({ tries: _, ...connection }: Connection, where: string) {
  const asked = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)
  const bounded = PgClient.layer({
    ...connection,
    refuseStandby: true,
    silenceTimeout,
    connectTimeout,
    maxConnections: 1,
    applicationName: serviceName,
    startupParameters: sessionBounds
  })
  const error = yield* Effect.flip(Effect.provide(asked, bounded)).pipe(Effect.option)
  if (error._tag === "None" || !SqlError.isSqlError(error.value)) return sessionBounds
  if (!refusesBounds.test(sqlStateOf(error.value))) return sessionBounds
  yield* Effect.logWarning(
    `The database ${where} does not accept session settings (${causeOf(error.value)}): set statement_timeout on its role, so that abandoned statements are cancelled`
  )
  return {}
})

/** For migrations, which wait for each other and take as long as they take. */
const patient = ({ tries: _, stream, ...connection }: Connection) =>
  PgClient.layer({
    ...connection,
    stream: () => overheard(stream()),
    refuseStandby: true,
    maxConnections: 1,
    applicationName: "quittance migrations"
  })

const connectionOf = Effect.fnUntraced(function* (
  database: (typeof AppConfig.Service)["database"]
): Effect.fn.Return<Connection, DatabaseRefusal, Scope.Scope> {
  if (database._tag === "Embedded") {
    const embedded = yield* joinEmbeddedPostgres(database.directory)
    return { ...embedded, stream: makeConnector([{ path: embedded.path }]), tries: embeddedTries }
  }
  const parsed = parseDatabaseUrl(Redacted.value(database.url))
  if (parsed === undefined)
    return yield* new DatabaseRefusal({
      message: "DATABASE_URL must be a Postgres address, postgres://user:password@host:port/database"
    })
  const { first, servers } = parsed
  // Each of several servers is asked.
  const tries = { times: servers.length, apart: 0 }
  return { url: Redacted.make(first), stream: makeConnector(servers), tries }
})

/** Each runs once, in the order of its number. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001_initial": initial,
  "0002_dashboard": dashboard,
  "0003_agents": agents,
  "0004_incoming_transfers": incomingTransfers,
  "0005_x402": x402,
  "0006_receivers": receivers,
  "0007_reservations": reservations,
  "0008_webhook_workers": webhookWorkers,
  "0009_moved_receivers": movedReceivers,
  "0010_links_and_browsers": linksAndBrowsers,
  "0011_money_levers": moneyLevers,
  "0012_audit_trigger_always": auditTriggerAlways,
  "0013_buyers_ways": buyersWays,
  "0014_refunds": refunds,
  "0015_books": books,
  "0017_events_feed": eventsFeed,
  "0020_roles": roles,
  "0021_second_factors": secondFactors,
  "0022_key_names": keyNames,
  "0023_telling": telling,
  "0024_receipt_mails": receiptMails,
  "0030_acknowledged_by": acknowledgedBy,
  "0031_finding_payments": findingPayments,
  "0032_decisions": decisions,
  "0033_payers_transfers": payersTransfers,
  "0034_refunds_block": refundsBlock,
  "0035_payers_reports": payersReports,
  "0036_settlements_transaction": settlementsTransaction
}

/** Every table that the migrations make. */
export const tables = [
  "agent_payees",
  "agent_payments",
  "agents",
  "alert_hooks",
  "alert_posts",
  "alerts",
  "api_keys",
  "audit_entries",
  "authenticators",
  "authorization_nonces",
  "chain_cursors",
  "claimed_transfers",
  "faucet_grants",
  "faucet_transactions",
  "incoming_transfers",
  "known_browsers",
  "mails",
  "merchant_faces",
  "merchant_members",
  "merchant_receivers",
  "merchants",
  "one_time_links",
  "outgoing_transfers",
  "passkey_challenges",
  "passkeys",
  "payment_attempts",
  "payment_links",
  "payment_reports",
  "payment_verdicts",
  "payments",
  "receipt_keys",
  "receipt_mails",
  "receipts",
  "receiver_balances",
  "receiver_changes",
  "recovery_codes",
  "refunds",
  "relayer_transactions",
  "sessions",
  "shown_addresses",
  "users",
  "wallet_transactions",
  "webhook_attempts",
  "webhook_deliveries",
  "webhook_endpoints",
  "webhook_workers",
  "x402_settlements"
]

/** Of what each migration adds to a table of another, one column. */
export const addedColumns = [
  "agent_payments.payment_id",
  "alerts.tell_at",
  "alerts.acknowledged_by",
  "alerts.user_id",
  "api_keys.public_key",
  "claimed_transfers.ordinal",
  "claimed_transfers.refund_id",
  "merchant_members.role",
  "merchant_members.told_alerts",
  "merchant_receivers.watched_since",
  "merchants.moved_receivers",
  "merchants.time_zone",
  "merchants.token_lifetime_seconds",
  "one_time_links.invited_by",
  "payment_reports.payer_type",
  "payments.failed_earlier_at",
  "refunds.created_block",
  "sessions.confirmed_at",
  "sessions.seen_at",
  "webhook_attempts.request_head",
  "webhook_deliveries.claimed_by",
  "x402_settlements.answered_at",
  "x402_settlements.payer_type",
  "x402_settlements.reserves"
]

/** What this release runs and needs. A later release has more, and may share a database with this one. */
export const Migrations = Context.Reference<Readonly<Record<string, Migration>>>("quittance/Migrations", {
  defaultValue: () => migrations
})

/** Database and server, without the password. */
export const whereOf = (database: (typeof AppConfig.Service)["database"]): string =>
  database._tag === "Embedded"
    ? `in ${database.directory}`
    : (parseDatabaseUrl(Redacted.value(database.url))?.shown ?? "of DATABASE_URL")

/** The server starts, stops or recovers. */
const cannotConnectNow = "57P03"

const askingAgain = ({ apart, times }: Connection["tries"]) =>
  Effect.retry({
    times: times - 1,
    schedule: Schedule.spaced(apart),
    while: (error: unknown) =>
      SqlError.isSqlError(error) &&
      (error.reason._tag === "ConnectionError" || sqlStateOf(error) === cannotConnectNow)
  })

/** What to do about it. */
const remedyOf = (cause: string, otherwise: string) =>
  /certificate/i.test(cause)
    ? "The server's certificate is checked: set NODE_EXTRA_CA_CERTS to the file of its authority's certificate, and name the server as the certificate does"
    : otherwise

const unusable = (where: string) => (error: unknown) =>
  new DatabaseRefusal({
    message: `The database ${where} cannot be used: ${causeOf(error)}. ${remedyOf(causeOf(error), "Check its address and password, and that it runs")}.`
  })

/** The client of one session, which the first server that takes one has begun. */
const connected = <E>(
  client: Layer.Layer<SqlClient.SqlClient, E>,
  tries: Connection["tries"],
  where: string
) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const sql = Context.get(yield* Layer.build(client), SqlClient.SqlClient)
      yield* sql`SELECT 1`.pipe(askingAgain(tries))
      return sql
    }).pipe(Effect.mapError(unusable(where)))
  )

/** A client for copies, on a database as it is: nothing is migrated. */
const copyClient = Effect.fnUntraced(function* (database: (typeof AppConfig.Service)["database"]) {
  const { tries, ...connection } = yield* connectionOf(database)
  const client = PgClient.layer({
    ...connection,
    refuseStandby: true,
    silenceTimeout: copySilence,
    connectTimeout: "5 seconds",
    maxConnections: 1,
    applicationName: copyName
  })
  return connected(client, tries, whereOf(database))
})

/** The configured database, for copies. */
export const layerCopy = Layer.unwrap(Effect.flatMap(AppConfig, ({ database }) => copyClient(database)))

/** The Postgres at this address, for copies. */
export const layerCopyAt = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(copyClient({ _tag: "Postgres", url }))

/** Which of this release's tables are not there. */
const missingTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT name FROM unnest(${tables}::text[]) AS name WHERE to_regclass(name) IS NULL`
  return rows.map((row) => String(row["name"]))
})

const readOnly = "25006"

const refused = (where: string) => (error: unknown) => {
  if (error instanceof DatabaseRefusal) return error
  const why =
    SqlError.isSqlError(error) && sqlStateOf(error) === readOnly
      ? "it is closed to writing, as `database move` leaves it. Set DATABASE_URL to where the shop was moved; to go on with this one instead, run: bun run cli database reopen"
      : `${causeOf(error)}. ${remedyOf(causeOf(error), "Check DATABASE_URL")}.`
  return new DatabaseRefusal({ message: `The database ${where} cannot be used: ${why}` })
}

/** Asks what a session of `patient` does. */
const witness = ({ tries: _, stream, ...connection }: Connection) =>
  PgClient.layer({
    ...connection,
    stream: () => overheard(stream()),
    refuseStandby: true,
    silenceTimeout: "3 seconds",
    connectTimeout: "3 seconds",
    maxConnections: 1,
    applicationName: "quittance witness"
  })

/** How often migrations are begun on a path that goes silent. */
const silentTries = 3

/** Brings the database to this release. */
const prepared = Effect.fnUntraced(function* (connection: Connection, where: string) {
  const work = Effect.gen(function* () {
    const wanted = yield* Migrations
    yield* migrate(wanted, where)
    const isWhole = Object.keys(migrations).every((name) => name in wanted)
    const missing = isWhole ? yield* missingTables : []
    if (missing.length > 0)
      return yield* new DatabaseRefusal({
        message: `The database ${where} cannot be used: its migrations have run, and these tables are missing: ${missing.join(", ")}. Restore a backup.`
      })
    yield* removeLeftBounds(where)
    yield* buildIndexes(wanted, where)
  })
  const watchedWork = watched(work, witness(connection)).pipe(
    Effect.provide(patient(connection)),
    Effect.tapError((error) =>
      error instanceof PathSilent
        ? Effect.logWarning(`The database ${where} is silent while it is migrated: ${error.message}`)
        : Effect.void
    )
  )
  yield* watchedWork.pipe(
    Effect.retry({
      times: silentTries - 1,
      schedule: Schedule.spaced("1 second"),
      while: (error) => error instanceof PathSilent
    }),
    askingAgain(connection.tries),
    Effect.mapError((error) =>
      error instanceof PathSilent
        ? new DatabaseRefusal({
            message: `The database ${where} cannot be used: its migrations were begun ${silentTries} times, and ${error.message}. Check what lies between this process and the database.`
          })
        : refused(where)(error)
    )
  )
})

/** Runs the migrations, and builds the indexes, that a copy has not brought. */
export const prepare = (database: (typeof AppConfig.Service)["database"]) =>
  Effect.scoped(
    Effect.flatMap(connectionOf(database), (connection) => prepared(connection, whereOf(database)))
  )

/** Long work on the configured database: given up where its path is silent, and not for how long it takes. */
export const patiently = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const { database } = yield* AppConfig
    const connection = yield* connectionOf(database)
    const where = whereOf(database)
    return yield* watched(work, witness(connection)).pipe(
      Effect.provide(connected(patient(connection), connection.tries, where)),
      Effect.mapError((error) => {
        if (error instanceof DatabaseRefusal) return error
        return error instanceof PathSilent
          ? new DatabaseRefusal({
              message: `The database ${where} is given up: ${error.message}. Run it again once the path to it is good.`
            })
          : new DatabaseRefusal({ message: `The database ${where}: ${causeOf(error)}` })
      })
    )
  }).pipe(Effect.scoped)

/** Of a server elsewhere, for the pool's first session. */
const firstTries = { times: 4, apart: "500 millis" } as const

const opened = Effect.gen(function* () {
  const { connections, database } = yield* AppConfig
  const where = whereOf(database)
  const connection = yield* connectionOf(database)
  yield* prepared(connection, where)
  const sessions = abandonedSessions(connection.stream, sweeper(connection))
  yield* sessions.swept
  const bounds = yield* acceptedBounds(connection, where)
  // What is built on the pool asks it at once, and does not ask twice.
  const answers = Layer.effectDiscard(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`).pipe(
      askingAgain(database._tag === "Embedded" ? connection.tries : firstTries)
    )
  )
  return answers.pipe(
    Layer.provideMerge(pool({ ...connection, stream: sessions.stream }, bounds, connections.database)),
    Layer.catch((error) => Layer.effectContext(Effect.fail(refused(where)(error))))
  )
})

/** The configured database, migrated. */
export const layer = Layer.unwrap(opened)
