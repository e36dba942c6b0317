// Runs long work in one session and detects a dead path: a migration sends nothing for as long as it takes. Another
// connection asks the server about the session to distinguish a long migration from a dead path.
import { Effect, type Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { causeOf } from "./migrate.ts"

/** The server and this process wait for each other, or nothing responds at all. */
export class PathSilent extends Schema.TaggedError<PathSilent>()("PathSilent", { message: Schema.String }) {}

const checkInterval = "2 seconds"
/** The number of consecutive checks that may fail or find the session waiting. */
const maxChecks = 3

const decodePid = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ pid: Schema.Int })]))
const decodeStates = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ since: Schema.NullOr(Schema.String), works: Schema.Boolean }))
)

/** Runs `work` in the only session of its client. `other` opens a second session, whose silence is bounded. */
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
    const state = Effect.flatMap(SqlClient.SqlClient, (observer) =>
      Effect.flatMap(
        observer`
          SELECT state_change::text AS since,
            coalesce(state NOT LIKE 'idle%' AND wait_event_type IS DISTINCT FROM 'Client', true) AS works
          FROM pg_stat_activity WHERE pid = ${pid}`,
        decodeStates
      )
    )
    const endSession = Effect.flatMap(
      SqlClient.SqlClient,
      (observer) => observer`SELECT pg_terminate_backend(${pid})`
    )
    const watch = Effect.gen(function* () {
      let last: string | null | undefined
      let waits = 0
      let unanswered = 0
      for (;;) {
        yield* Effect.sleep(checkInterval)
        const observed = yield* Effect.result(state)
        if (observed._tag === "Failure") {
          unanswered += 1
          if (unanswered >= maxChecks)
            return yield* silent(`its server does not answer: ${causeOf(observed.failure)}`)
          continue
        }
        unanswered = 0
        const [now] = observed.success
        waits = now?.works !== true && now?.since === last ? waits + 1 : 0
        last = now?.since
        if (waits < maxChecks) continue
        // This releases the lock for which other instances wait.
        yield* Effect.ignore(endSession)
        return yield* silent("its answers do not arrive here")
      }
    }).pipe(Effect.provide(other))
    return yield* Effect.raceFirst(work, watch)
  })
