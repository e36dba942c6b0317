// A database of its own on the Postgres of the tests.
import { connect } from "node:net"
import { SQL } from "bun"
import { Effect, type Scope } from "effect"
import { databaseUrl } from "./testPostgres.ts"

/** The Postgres that the tests run on: the preload has set it. */
export const postgresUrl = process.env["TEST_DATABASE_URL"] ?? ""

/** A socket to that server. */
export const postgresSocket = () => {
  const { hostname, port } = new URL(postgresUrl)
  return connect({ host: hostname, port: Number(port || 5432), noDelay: true })
}

let count = 0

/** The url of a new database, dropped with the scope: empty for services that migrate it, or a copy. */
export const ownDatabase = ({
  server = postgresUrl,
  template = "template1"
}: {
  readonly server?: string
  readonly template?: string
} = {}): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const name = `quittance_${process.pid}_${Bun.randomUUIDv7().slice(-8)}_${count++}`
    const admin = new SQL(server, { max: 1 })
    yield* Effect.acquireRelease(
      // Without fsync, copying files takes a third of the time of writing their pages to the log.
      Effect.promise(() => admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)),
      () =>
        Effect.promise(async () => {
          await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
          await admin.close()
        })
    )
    return databaseUrl(server, name)
  })
