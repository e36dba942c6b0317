// The LISTEN connection. It has its own connection, so it takes none from the pool. It must receive its own
// heartbeat, because a half-open connection looks alive and receives nothing.
import { type PgClient, PgConnection } from "@effect/sql-pg"
import { Data, type Duration, Effect, Queue, Scope } from "effect"
import { sqlStateOf } from "../../platform/database/sqlStateOf.ts"

/** The listener did not receive its own heartbeat. */
export class HeartbeatMissed extends Data.TaggedError("ListenerDeaf") {}

/** The database does not support LISTEN. */
export class ListenUnsupported extends Data.TaggedError("ListenUnsupported") {}

/** SQLSTATEs: an unsupported feature, an unknown statement. */
const unsupported = ["0A000", "42601"]

/** Listens until the connection is lost or deaf, then fails. */
export const superviseListener = Effect.fnUntraced(function* (options: {
  readonly pg: PgClient.PgClient
  readonly channel: string
  /** The payload of this instance's own notifications, which the listener ignores. */
  readonly instance: string
  readonly heartbeat: Duration.Input
  readonly onNotify: Effect.Effect<void>
}) {
  const { pg, channel, instance, heartbeat, onNotify } = options
  // The connection's scope is the inner one: it closes before UNLISTEN could wait for a dead peer.
  const outer = yield* Scope.Scope
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make(pg.config)
      const notifications = yield* Scope.provide(connection.listen(channel), outer).pipe(
        Effect.mapError((error) =>
          unsupported.includes(sqlStateOf(error)) ? new ListenUnsupported() : error
        )
      )
      // Polls now, because notifications were missed while disconnected.
      yield* onNotify
      let hasHeartbeat = true
      const hear = Effect.forever(
        Effect.flatMap(Queue.take(notifications), ({ payload }) => {
          if (payload === `beat ${instance}`) hasHeartbeat = true
          return payload === instance || payload.startsWith("beat ") ? Effect.void : onNotify
        })
      )
      const watch = Effect.gen(function* () {
        while (true) {
          yield* Effect.sleep(heartbeat)
          if (!hasHeartbeat) return yield* new HeartbeatMissed()
          hasHeartbeat = false
          yield* Effect.ignore(Effect.timeout(pg.notify(channel, `beat ${instance}`), "5 seconds"))
        }
      })
      return yield* Effect.raceFirst(hear, watch)
    })
  )
}, Effect.scoped)
