// Idle connections by origin, so that a burst of deliveries to one endpoint does not dial for each. A connection is
// used only for the name it was secured for, and only while that name still resolves to the address it was dialled to.
import { Clock, Effect, Latch, type Scope } from "effect"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import { startPeriodic } from "../workers/startWorker.ts"
import type { EgressConnection } from "./EgressConnection.ts"

const maxIdle = 512
const distrustMillis = 600_000
const maxDistrusted = 10_000

interface Idle {
  readonly connection: EgressConnection
  readonly since: number
}

export interface ConnectionPool {
  /** An open idle connection of this origin (`scheme://name:port`) to one of these addresses. */
  readonly take: (
    origin: string,
    addresses: ReadonlyArray<string>,
    nowMillis: number
  ) => EgressConnection | undefined
  /** Stores a connection for the next delivery, or closes it if enough are idle. */
  readonly put: (origin: string, connection: EgressConnection, nowMillis: number) => void
  /** Stores nothing of this origin for a while, because it closed a connection that it had left open. */
  readonly distrust: (origin: string, nowMillis: number) => void
}

/**
 * A pool whose connections wait at most `idleMillis`. The endpoint may close one at any moment, and a POST that
 * crosses the close must not be sent twice (RFC 9110 9.2.2): so the wait is short, and the POST is never retried.
 */
export const makeConnectionPool = Effect.fnUntraced(function* ({
  idleMillis,
  maxIdlePerOrigin
}: {
  readonly idleMillis: number
  readonly maxIdlePerOrigin: number
}): Effect.fn.Return<ConnectionPool, never, Scope.Scope> {
  const idle = new Map<string, Array<Idle>>()
  const distrusted = new BoundedMap<string, number>(maxDistrusted)
  let count = 0

  const sweep = (keep: (entry: Idle) => boolean): void => {
    for (const [origin, entries] of idle) {
      const remaining = entries.filter((entry) => {
        const keeps = !entry.connection.closed && keep(entry)
        if (!keeps) entry.connection.close()
        return keeps
      })
      count += remaining.length - entries.length
      if (remaining.length === 0) idle.delete(origin)
      else idle.set(origin, remaining)
    }
  }

  yield* Effect.addFinalizer(() => Effect.sync(() => sweep(() => false)))
  // Wakes only while a connection waits, so that an idle service, or a leaping test clock, costs nothing.
  const occupied = yield* Latch.make(false)
  yield* startPeriodic(
    "Closing idle connections",
    Effect.andThen(occupied.await, Effect.sleep(Math.max(idleMillis, 100))),
    Effect.map(Clock.currentTimeMillis, (now) => {
      sweep(({ since }) => now - since < idleMillis)
      if (count === 0) occupied.closeUnsafe()
    })
  )

  return {
    take: (origin, addresses, nowMillis) => {
      const entries = idle.get(origin)
      for (let entry = entries?.pop(); entry !== undefined; entry = entries?.pop()) {
        count--
        const { connection, since } = entry
        if (!connection.closed && nowMillis - since < idleMillis && addresses.includes(connection.address)) {
          return connection
        }
        connection.close()
      }
      return undefined
    },
    distrust: (origin, nowMillis) => {
      distrusted.set(origin, nowMillis)
    },
    put: (origin, connection, nowMillis) => {
      const since = distrusted.get(origin)
      if (since !== undefined && nowMillis - since < distrustMillis) {
        connection.close()
        return
      }
      const entries = idle.get(origin) ?? []
      if (connection.closed) return
      if (count >= maxIdle || entries.length >= maxIdlePerOrigin) return connection.close()
      entries.push({ connection, since: nowMillis })
      idle.set(origin, entries)
      count++
      occupied.openUnsafe()
    }
  }
})
