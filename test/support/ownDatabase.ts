// An empty database of its own on a Postgres, for services that run as processes.
import { SQL } from "bun"
import { Effect, type Scope } from "effect"

/** The Postgres that the database tests run on, where there is one. */
export const postgresUrl = process.env["TEST_DATABASE_URL"]

let count = 0

/** The url of a new database; dropped with the scope. */
export const ownDatabase = (url = postgresUrl ?? ""): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const name = `quittance_own_${process.pid}_${count++}`
    const admin = new SQL(url, { max: 1 })
    yield* Effect.acquireRelease(
      Effect.promise(() => admin.unsafe(`CREATE DATABASE ${name}`)),
      () =>
        Effect.promise(async () => {
          await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
          await admin.close()
        })
    )
    const own = new URL(url)
    own.pathname = `/${name}`
    return own.toString()
  })
