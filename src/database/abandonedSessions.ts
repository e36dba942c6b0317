// Sessions that this process has given up while their server waits for a synchronous standby: no setting
// of the session ends that wait, and the server does not look whether anybody still listens.
import type { Socket } from "node:net"
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import { periodic } from "../workers/supervised.ts"

/** The name under which the pool connects. */
export const serviceName = "quittance"

const every = "1500 millis"
/** How often it sweeps after one has closed: a session is taken for abandoned after three seconds. */
const times = 4

/** `stream` notes that a socket has closed; `swept` ends what may still wait behind it, through `sweeper`, while its scope lives. */
export const abandonedSessions = <E>(open: () => Socket, sweeper: Layer.Layer<SqlClient.SqlClient, E>) => {
  let left = 0
  const stream = (): Socket => {
    const socket = open()
    socket.once("close", () => {
      left = times
    })
    return socket
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
  return { stream, swept }
}
