// A database of its own for each test, copied from a migrated one, on the Postgres of the tests.
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { loggedSocket } from "../../src/platform/database/statementLog.ts"
import { ownDatabase, postgresSocket, postgresUrl } from "./ownDatabase.ts"
import { recordStatements } from "./recordedStatements.ts"
import { templateDatabase } from "./testPostgres.ts"

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
        stream: () => loggedSocket(postgresSocket()),
        ...options
      })
    })
  ).pipe(Layer.orDie)
})

/** A fresh, migrated database; dropped with the scope. */
export const testDatabase: TestDatabase = copyOf(templateDatabase)

/** A database that reports each round trip of its client. */
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
