// Ends sessions that this process abandoned while their server waits for a synchronous standby: no session setting
// ends that wait, and the server does not check whether anyone still listens.
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import { startPeriodic } from "../workers/startWorker.ts"
import type { Connector } from "./Connector.ts"

/** The name under which the pool connects. */
export const serviceName = "quittance"

const checkInterval = "1500 millis"
/** The number of sweeps after a session has closed: a session counts as abandoned after three seconds. */
const times = 4

/**
 * The connector records each closed socket. While its scope lives, `swept` ends, through `sweeper`, the sessions that
 * still wait behind them.
 */
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
  const swept = startPeriodic(
    "Ending abandoned sessions",
    Effect.sleep(checkInterval),
    // Sends nothing to the database while no connection closes.
    Effect.suspend(() => {
      if (left === 0) return Effect.void
      left -= 1
      return Effect.asVoid(end)
    }),
    "Debug"
  )
  return { connector: noting, swept }
}
