// Long work on one session, whose path may go silent: a migration says nothing for as long as it takes.
// What its server says of it, asked on another connection, tells the one from the other.
import { Effect, type Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { causeOf } from "./migrate.ts"

/** The server waits for this process, which waits for the server; or nothing answers at all. */
export class PathSilent extends Schema.TaggedError<PathSilent>()("PathSilent", { message: Schema.String }) {}

const every = "2 seconds"
/** The number of consecutive checks that may find a session waiting, or fail. */
const patience = 3

const decodePid = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ pid: Schema.Int })]))
const decodeStates = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ since: Schema.NullOr(Schema.String), works: Schema.Boolean }))
)

/** `work` in the session of a client that has one alone; `other` opens another, and bounds its silence. */
export const watched = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  other: Layer.Layer<SqlClient.SqlClient, E2>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const silent = (message: string) => new PathSilent({ message })
    const [{ pid }] = yield* Effect.flatMap(sql`SELECT pg_backend_pid() AS pid`, decodePid).pipe(
      Effect.timeoutOrElse({
        duration: "15 seconds",
        orElse: () => Effect.fail(silent("it does not answer"))
      })
    )
    const state = Effect.flatMap(SqlClient.SqlClient, (asking) =>
      Effect.flatMap(
        asking`
          SELECT state_change::text AS since,
            coalesce(state NOT LIKE 'idle%' AND wait_event_type IS DISTINCT FROM 'Client', true) AS works
          FROM pg_stat_activity WHERE pid = ${pid}`,
        decodeStates
      )
    )
    const endSession = Effect.flatMap(
      SqlClient.SqlClient,
      (asking) => asking`SELECT pg_terminate_backend(${pid})`
    )
    const watch = Effect.gen(function* () {
      let last: string | null | undefined
      let waits = 0
      let unanswered = 0
      for (;;) {
        yield* Effect.sleep(every)
        const asked = yield* Effect.result(state)
        if (asked._tag === "Failure") {
          unanswered += 1
          if (unanswered >= patience)
            return yield* silent(`its server does not answer: ${causeOf(asked.failure)}`)
          continue
        }
        unanswered = 0
        const [now] = asked.success
        waits = now?.works !== true && now?.since === last ? waits + 1 : 0
        last = now?.since
        if (waits < patience) continue
        // With it goes the lock that keeps other instances waiting.
        yield* Effect.ignore(endSession)
        return yield* silent("its answers do not arrive here")
      }
    }).pipe(Effect.provide(other))
    return yield* Effect.raceFirst(work, watch)
  })
