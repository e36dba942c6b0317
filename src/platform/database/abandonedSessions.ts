// Sessions that this process has given up while their server waits for a synchronous standby: no setting
// of the session ends that wait, and the server does not look whether anybody still listens.
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import { periodic } from "../workers/supervised.ts"
import type { Connector } from "./Connector.ts"

/** The name under which the pool connects. */
export const serviceName = "quittance"

const every = "1500 millis"
/** The number of sweeps after a session has closed: a session counts as abandoned after three seconds. */
const times = 4

/** The connector notes that a socket has closed; `swept` ends what may still wait behind it, through `sweeper`, while its scope lives. */
export const abandonedSessions = <E>(connector: Connector, sweeper: Layer.Layer<SqlClient.SqlClient, E>) => {
  let left = 0
  const noting: Connector = {
    ...connector,
    open: (silenceMillis) =>
      connector.open(silenceMillis).once("close", () => {
        left = times
      })
  }
  const end = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND usename = current_user AND application_name = ${serviceName}
        AND wait_event = 'SyncRep' AND state_change < clock_timestamp() - interval '3 seconds'`
  ).pipe(Effect.provide(sweeper))
  const swept = periodic(
    "Ending abandoned sessions",
    Effect.sleep(every),
    // Asks nothing of the database while no connection closes.
    Effect.suspend(() => {
      if (left === 0) return Effect.void
      left -= 1
      return Effect.asVoid(end)
    }),
    "Debug"
  )
  return { connector: noting, swept }
}
