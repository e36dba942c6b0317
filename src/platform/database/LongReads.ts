// Reads that may take seconds, such as a large merchant's year. They have their own connections and time limit, so
// that they take none from other requests, and run one at a time per caller. Most take milliseconds and stay on the
// regular pool.
import { PgClient } from "@effect/sql-pg"
import { Cause, Clock, Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import { AppConfig } from "../AppConfig.ts"
import { connectionOf } from "./clients.ts"
import type { DatabaseRefusal } from "./DatabaseRefusal.ts"
import { loggedSocket } from "./statementLog.ts"

/** A read that takes longer than this on the pool starts again as a long read. */
const shortRead = "500ms"
/** The time limit of a long read; it ends before the client abandons the connection as silent. */
const longRead = "25s"
/** A server that is silent for this long is abandoned together with its connection. */
const silenceMillis = 27_000
const connections = 2
/** For this long, a query that needed a long read starts as one. */
const longForMillis = 600_000
const maxRemembered = 1_000

export interface LongReads {
  /** Runs `read` with a suitable client, on behalf of `who`: a merchant's id. */
  readonly run: <A, E>(
    who: string,
    read: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E, SqlClient.SqlClient>
}

/** Without a layer, each read is an ordinary one. */
export const LongReads = Context.Reference<LongReads>("quittance/platform/LongReads", {
  defaultValue: () => ({ run: (_, read) => Effect.flatMap(SqlClient.SqlClient, read) })
})

const isTimeout = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) => {
    const error = Cause.isFailReason(reason)
      ? reason.error
      : Cause.isDieReason(reason)
        ? reason.defect
        : undefined
    return SqlError.isSqlError(error) && error.reason._tag === "StatementTimeoutError"
  })

export const layer: Layer.Layer<never, DatabaseRefusal | SqlError.SqlError, AppConfig> = Layer.effect(
  LongReads,
  Effect.gen(function* () {
    const { database } = yield* AppConfig
    const { connector, tries: _, ...connection } = yield* connectionOf(database)
    const context = yield* Layer.build(
      PgClient.layer({
        ...connection,
        stream: () => loggedSocket(connector.open(silenceMillis)),
        connectTimeout: "1500 millis",
        minConnections: 0,
        maxConnections: connections,
        idleTimeout: "10 seconds",
        applicationName: "quittance long reads"
      })
    )
    const long = Context.get(context, SqlClient.SqlClient)
    const turns = new BoundedMap<string, { readonly turn: Semaphore.Semaphore; longUntil: number }>(
      maxRemembered
    )
    const turnOf = (who: string) => {
      const entry = turns.get(who) ?? { turn: Semaphore.makeUnsafe(1), longUntil: 0 }
      turns.set(who, entry)
      return entry
    }
    const bounded = <A, E>(
      sql: SqlClient.SqlClient,
      timeout: string,
      read: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
    ) =>
      sql
        .withTransaction(
          Effect.andThen(
            // Postgres's JIT takes longer to compile a year's sums than to read them.
            Effect.orDie(
              sql`SELECT set_config('statement_timeout', ${timeout}, true), set_config('jit', 'off', true)`
            ),
            read(sql)
          )
        )
        .pipe(Effect.catchIf(SqlError.isSqlError, Effect.die))
    return {
      run: (who, read) =>
        Effect.gen(function* () {
          const pool = yield* SqlClient.SqlClient
          const now = yield* Clock.currentTimeMillis
          const own = turnOf(who)
          const asLong = own.turn.withPermit(bounded(long, longRead, read))
          if (own.longUntil > now) return yield* asLong
          return yield* bounded(pool, shortRead, read).pipe(
            Effect.catchCause((cause) => {
              if (!isTimeout(cause)) return Effect.failCause(cause)
              own.longUntil = now + longForMillis
              return asLong
            })
          )
        })
    }
  })
)
