// A database of its own for each test, copied from a migrated one, on the Postgres of the tests.
import { connect } from "node:net"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { overheard } from "../../src/database/statementLog.ts"
import { ownDatabase, postgresUrl } from "./ownDatabase.ts"
import { recordStatements } from "./recordedStatements.ts"
import { templateDatabase } from "./testPostgres.ts"

recordStatements()

export interface TestDatabase {
  readonly layer: Layer.Layer<SqlClient.SqlClient | PgClient.PgClient>
}

const copyWith = (options: PgClient.PgPoolConfig): TestDatabase => ({
  layer: Layer.unwrap(
    Effect.gen(function* () {
      const template = yield* Effect.promise(() => templateDatabase(postgresUrl))
      const url = Redacted.make(yield* ownDatabase({ template }))
      const { hostname, port } = new URL(postgresUrl)
      return PgClient.layer({
        url,
        multiplex: true,
        maxConnections: 8,
        stream: () => overheard(connect({ host: hostname, port: Number(port || 5432), noDelay: true })),
        ...options
      })
    })
  ).pipe(Layer.orDie)
})

/** A fresh, migrated database; dropped with the scope. */
export const testDatabase: TestDatabase = copyWith({})

/** One that tells of each round trip of its client. */
export const countingDatabase = (onRoundTrip: () => void): TestDatabase =>
  copyWith({
    maxConnections: 1,
    stream: () => {
      const { hostname, port } = new URL(postgresUrl)
      const socket = connect({ host: hostname, port: Number(port || 5432) })
      const write = socket.write.bind(socket)
      return Object.assign(socket, {
        write: (bytes: Uint8Array) => {
          onRoundTrip()
          return write(bytes)
        }
      })
    }
  })
