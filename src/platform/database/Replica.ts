// Reads of lists and pages on a replica, while it is as fresh as the database at the moment of the request. A replica
// read returns only what this database had already returned. Otherwise, and while the replica is silent, the database
// serves the read.
import { PgClient } from "@effect/sql-pg"
import { Cause, Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { batched } from "./batched.ts"
import { makeConnector } from "./Connector.ts"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import { parseDatabaseUrl } from "./DatabaseUrl.ts"
import { isDatabaseOutage } from "./isDatabaseOutage.ts"
import { causeOf } from "./migrate.ts"

/** The delays in milliseconds before each check whether a replica is up to date. */
const waits = [0, 2, 8] as const
/** The time that a replica has to respond to this check. */
const checkTimeout = "150 millis"
/** The time for which a failed replica is not used. */
const pauseMillis = 5_000

export interface Replica {
  /** The SQL client for reads on the replica. */
  readonly sql: SqlClient.SqlClient
  /** Reads from the replica (`onReplica`) or from the database (`onPrimary`), whichever may serve now. */
  readonly read: <A, E, R>(
    onReplica: Effect.Effect<A, E, R>,
    onPrimary: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
}

/** Undefined without `DATABASE_REPLICA_URL`. */
export const Replica = Context.Reference<Replica | undefined>("quittance/platform/Replica", {
  defaultValue: () => undefined
})

const Position = Schema.Struct({ cluster: Schema.String, timeline: Schema.Finite, position: Schema.String })
const decodePosition = Schema.decodeUnknownEffect(Schema.Tuple([Position]))
const decodeState = Schema.decodeUnknownEffect(
  Schema.Tuple([
    Schema.Struct({
      cluster: Schema.String,
      timeline: Schema.Finite,
      follows: Schema.Boolean,
      fresh: Schema.Boolean
    })
  ])
)

/** The cluster and the database. A replica has the same as its primary. */
const cluster = "(SELECT system_identifier::text FROM pg_control_system()) || ' ' || current_database()"

const make = Effect.fnUntraced(function* (address: string, maxConnections: number) {
  const primarySql = yield* SqlClient.SqlClient
  const parsed = parseDatabaseUrl(address)
  const mustBe =
    "DATABASE_REPLICA_URL must be a Postgres address, postgres://user:password@host:port/database"
  if (parsed === undefined) return yield* new DatabaseRefusal({ message: mustBe })
  // The position of one server says nothing about another.
  if (parsed.servers.length > 1)
    return yield* new DatabaseRefusal({ message: "DATABASE_REPLICA_URL must name one server" })
  const connector = makeConnector(parsed.servers, { takesStandby: true })
  const client = yield* Layer.build(
    PgClient.layer({
      url: Redacted.make(parsed.first),
      stream: () => connector.open(2_000),
      connectTimeout: "2 seconds",
      multiplex: true,
      maxConnections,
      applicationName: "quittance replica"
    })
  ).pipe(Effect.mapError((error) => new DatabaseRefusal({ message: `${mustBe}: ${causeOf(error)}` })))
  const sql = Context.get(client, SqlClient.SqlClient)

  let pausedUntil = 0
  const pause = (why: string) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (now >= pausedUntil)
        yield* Effect.logWarning(
          `The replica ${parsed.shown} failed; reading from the primary for a while: ${why}`
        )
      pausedUntil = now + pauseMillis
    })

  /** The timeline is the log's history: each promotion begins another. */
  const position = yield* batched((requests: ReadonlyArray<undefined>) =>
    Effect.map(
      Effect.flatMap(
        primarySql`
          SELECT ${primarySql.literal(cluster)} AS cluster, position::text AS position,
            ('x' || left(pg_walfile_name(position), 8))::bit(32)::int AS timeline
          FROM pg_current_wal_insert_lsn() AS position`,
        decodePosition
      ),
      ([row]) => requests.map(() => row)
    )
  )
  /**
   * A position is comparable only within the same history. The received timeline is newer than the control file, which
   * is written now and then; a role without pg_read_all_stats sees only the file.
   */
  const stateAt = (position: string) =>
    Effect.map(
      Effect.flatMap(
        sql`
          SELECT ${sql.literal(cluster)} AS cluster, pg_is_in_recovery() AS follows,
            coalesce(pg_last_wal_replay_lsn() >= ${position}::text::pg_lsn, false) AS fresh,
            greatest(
              (SELECT timeline_id FROM pg_control_checkpoint()),
              (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
              (SELECT received_tli FROM pg_stat_wal_receiver)
            ) AS timeline`,
        decodeState
      ),
      ([state]) => state
    )
  /** The reason, logged last, why the replica may not be used. */
  let logged: string | undefined
  const unfit = (why: string) =>
    Effect.gen(function* () {
      if (logged !== why)
        yield* Effect.logWarning(
          `The replica ${parsed.shown} ${why}, and is not used: set DATABASE_REPLICA_URL to one that follows the database`
        )
      logged = why
      pausedUntil = (yield* Clock.currentTimeMillis) + pauseMillis
      return false
    })
  const isFresh = Effect.gen(function* () {
    if ((yield* Clock.currentTimeMillis) < pausedUntil) return false
    const primary = yield* position(undefined)
    for (const wait of waits) {
      if (wait > 0) yield* Effect.sleep(wait)
      const state = yield* stateAt(primary.position)
      if (state.cluster !== primary.cluster)
        return yield* unfit(`is not a replica of this database (${state.cluster}, not ${primary.cluster})`)
      if (!state.follows) return yield* unfit("is no longer a standby")
      if (state.timeline !== primary.timeline)
        return yield* unfit(
          `follows another server than the database (its timeline is ${state.timeline}, not ${primary.timeline})`
        )
      logged = undefined
      if (state.fresh) return true
    }
    return false
  }).pipe(
    Effect.timeout(checkTimeout),
    Effect.catchCause((cause) => Effect.as(pause(causeOf(Cause.squash(cause))), false))
  )

  const shape: Replica = {
    sql,
    read: (onReplica, onPrimary) =>
      Effect.flatMap(isFresh, (fresh) =>
        fresh
          ? Effect.catchCause(onReplica, (cause) =>
              isDatabaseOutage(cause)
                ? Effect.andThen(pause("it does not serve"), onPrimary)
                : Effect.failCause(cause)
            )
          : onPrimary
      )
  }
  return shape
})

/** The configured replica; undefined without `DATABASE_REPLICA_URL`. */
export const layer = Layer.effect(
  Replica,
  Effect.flatMap(AppConfig, ({ connections, replicaUrl }) =>
    Option.match(replicaUrl, {
      onNone: () => Effect.succeed(undefined),
      onSome: (url) => make(Redacted.value(url), connections.replica)
    })
  )
)
