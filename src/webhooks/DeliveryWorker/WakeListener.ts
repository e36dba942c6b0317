// The LISTEN connection: its own, so that it takes nothing from the pool. It must hear
// its own heartbeat; a half-open connection looks alive and receives nothing.
import { type PgClient, PgConnection } from "@effect/sql-pg"
import { Data, type Duration, Effect, Queue, Scope } from "effect"
import { sqlStateOf } from "../../platform/database/sqlStateOf.ts"

/** The listener did not hear its own heartbeat. */
export class ListenerDeaf extends Data.TaggedError("ListenerDeaf") {}

/** The database has no LISTEN. */
export class ListenUnsupported extends Data.TaggedError("ListenUnsupported") {}

/** SQLSTATEs: a feature that is not supported, a statement that is not known. */
const unsupported = ["0A000", "42601"]

/** Listens until the connection is lost or deaf, then fails. */
export const superviseListener = Effect.fnUntraced(function* (options: {
  readonly pg: PgClient.PgClient
  readonly channel: string
  /** Payload of this instance's own notifications, which need no hearing. */
  readonly instance: string
  readonly heartbeat: Duration.Input
  readonly heard: Effect.Effect<void>
}) {
  const { pg, channel, instance, heartbeat, heard } = options
  // The connection's scope is the inner one: it is cut before UNLISTEN could wait on a dead peer.
  const outer = yield* Scope.Scope
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make(pg.config)
      const notifications = yield* Scope.provide(connection.listen(channel), outer).pipe(
        Effect.mapError((error) =>
          unsupported.includes(sqlStateOf(error)) ? new ListenUnsupported() : error
        )
      )
      // Notifications missed while disconnected are found by polling now.
      yield* heard
      let beat = true
      const hear = Effect.forever(
        Effect.flatMap(Queue.take(notifications), ({ payload }) => {
          if (payload === `beat ${instance}`) beat = true
          return payload === instance || payload.startsWith("beat ") ? Effect.void : heard
        })
      )
      const watch = Effect.gen(function* () {
        while (true) {
          yield* Effect.sleep(heartbeat)
          if (!beat) return yield* new ListenerDeaf()
          beat = false
          yield* Effect.ignore(Effect.timeout(pg.notify(channel, `beat ${instance}`), "5 seconds"))
        }
      })
      return yield* Effect.raceFirst(hear, watch)
    })
  )
}, Effect.scoped)
