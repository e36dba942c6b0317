// One statement for all workers, instead of one each: an idle service barely queries the database, and work is taken
// at the time it is due.

import { Clock, Deferred, Duration, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Env } from "../../domain/Chain.ts"
import { Networks } from "../Networks.ts"
import { DueWork, type Queue } from "./DueWork.ts"
import { dueTimes, EarliestDue, earliestDue } from "./earliestDueSql.ts"
import { startPeriodic } from "./startWorker.ts"
import { waitingEndpoints } from "./waitingEndpointsSql.ts"

const pollMillis = 2_500
/** Longer than a statement may take. */
const queryTimeout = "10 seconds"

/** The database's answer: the earliest time of each queue. */
interface Round {
  readonly due: ReadonlyMap<Queue, Date>
}

const decodeRow = Schema.decodeUnknownEffect(
  Schema.Struct({ ...EarliestDue.fields, awaited: Schema.Array(Env) })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { executing } = yield* Networks
  let round = Deferred.makeUnsafe<Round>()
  let awaited: ReadonlyArray<Env> = executing

  const query = Effect.gen(function* () {
    const [row] = yield* sql`
      WITH RECURSIVE ${waitingEndpoints(sql)}
      SELECT ${earliestDue(sql)},
        ARRAY(SELECT DISTINCT env FROM (
          SELECT env FROM payments WHERE status = 'pending' ORDER BY created_at DESC LIMIT 500
        ) newest WHERE env = ANY (${executing}::text[])) AS awaited`
    const dueRow = yield* decodeRow(row)
    const current = round
    round = Deferred.makeUnsafe()
    awaited = dueRow.awaited
    yield* Deferred.succeed(current, { due: dueTimes(dueRow) })
  })

  yield* startPeriodic(
    "Polling for due work",
    Effect.sleep(pollMillis),
    Effect.timeout(query, queryTimeout),
    "Warn"
  )

  /** The time until a row of the queue is due, at most until the next query. */
  const untilDue = (queue: Queue) =>
    Effect.gen(function* () {
      const { due } = yield* Deferred.await(round)
      const at = due.get(queue)
      if (at === undefined) return Option.none<number>()
      const wait = at.getTime() - (yield* Clock.currentTimeMillis)
      return wait < pollMillis ? Option.some(Math.max(0, wait)) : Option.none<number>()
    })

  const shape: DueWork = {
    next: (queue) =>
      untilDue(queue).pipe(
        Effect.repeat({ until: Option.isSome }),
        Effect.flatMap((wait) => Effect.sleep(Duration.millis(Option.getOrElse(wait, () => 0))))
      ),
    isAwaited: (env) => awaited.includes(env)
  }
  return shape
})

export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effect(DueWork, make)
