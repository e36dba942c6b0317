// A database of its own on the Postgres of TEST_DATABASE_URL, for services that run as processes.
import { SQL } from "bun"
import { Effect, type Scope } from "effect"

export const postgresUrl = process.env["TEST_DATABASE_URL"]

let count = 0

/** Dropped with the scope. */
export const ownDatabase: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  const name = `quittance_agents_${process.pid}_${count++}`
  const admin = new SQL(postgresUrl ?? "", { max: 1 })
  yield* Effect.acquireRelease(
    Effect.promise(() => admin.unsafe(`CREATE DATABASE ${name}`)),
    () =>
      Effect.promise(async () => {
        await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
        await admin.close()
      })
  )
  const url = new URL(postgresUrl ?? "")
  url.pathname = `/${name}`
  return url.toString()
})
