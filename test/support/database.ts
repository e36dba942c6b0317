// A database of its own for each test, copied from a migrated one, on the Postgres of the tests.
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { partition } from "../../src/database/partition.ts"
import { overheard } from "../../src/database/statementLog.ts"
import { ownDatabase, postgresSocket, postgresUrl } from "./ownDatabase.ts"
import { recordStatements } from "./recordedStatements.ts"
import { makeTemplate, templateDatabase } from "./testPostgres.ts"

recordStatements()

export interface TestDatabase {
  readonly layer: Layer.Layer<SqlClient.SqlClient | PgClient.PgClient>
}

const copyOf = (
  templateOn: (server: string) => Promise<string>,
  options: PgClient.PgPoolConfig = {}
): TestDatabase => ({
  layer: Layer.unwrap(
    Effect.gen(function* () {
      const template = yield* Effect.promise(() => templateOn(postgresUrl))
      const url = Redacted.make(yield* ownDatabase({ template }))
      return PgClient.layer({
        url,
        multiplex: true,
        maxConnections: 8,
        stream: () => overheard(postgresSocket()),
        ...options
      })
    })
  ).pipe(Layer.orDie)
})

/** A fresh, migrated database; dropped with the scope. */
export const testDatabase: TestDatabase = copyOf(templateDatabase)

/** As if it were that time. */
export const atTime = <A, E, R>(at: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const clock = yield* TestClock.make()
    yield* clock.setTime(Date.parse(at))
    return yield* Effect.provideService(effect, Clock.Clock, clock)
  }).pipe(Effect.scoped)

/** Tables divided by quarters, the first of which ends before what tests write in 2026. */
const dividedIn2026 = atTime(
  "2026-02-01T00:00:00Z",
  partition("of the test", () => Effect.void)
)

/** Made once in this process, whose number has it dropped once that has ended. */
const dividedTemplate = async (server: string) =>
  makeTemplate(server, `quittance_${process.pid}_divided`, {
    from: await templateDatabase(server),
    fill: (url) =>
      Effect.runPromise(
        dividedIn2026.pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })), Effect.orDie)
      )
  })

/** As `testDatabase`, with payments and deliveries divided by time. */
export const partitionedDatabase: TestDatabase = copyOf(dividedTemplate)

/** One that tells of each round trip of its client. */
export const countingDatabase = (onRoundTrip: () => void): TestDatabase =>
  copyOf(templateDatabase, {
    maxConnections: 1,
    stream: () => {
      const socket = postgresSocket()
      const write = socket.write.bind(socket)
      return Object.assign(socket, {
        write: (bytes: Uint8Array) => {
          onRoundTrip()
          return write(bytes)
        }
      })
    }
  })
