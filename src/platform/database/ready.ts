// Checks that the database would store a new payment, by a commit that takes the same path.
import { statfs } from "node:fs/promises"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { sqlStateOf } from "./sqlStateOf.ts"

/** The space that the next file of the embedded database's log needs. */
const leastFreeBytes = 16 * 1024 * 1024

const stands = "NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'"
/** A transaction of some bytes of the log, and no row. Its commit waits for the disk, and for standbys. */
const commits = "pg_logical_emit_message(true, 'quittance', '') IS NOT NULL"
/** Read off the catalogue: a migration that holds table locks does not delay it. */
const presence = (tables: ReadonlyArray<string>) => `
  NOT EXISTS (SELECT FROM unnest('{${tables.join(",")}}'::text[]) AS name WHERE to_regclass(name) IS NULL)`
/** SQLSTATEs of an engine, or a role, that has no such function. */
const isMissing = /^(42883|42501|0A000)/

const hasSpace = Effect.gen(function* () {
  const { database } = yield* AppConfig
  if (database._tag !== "Embedded") return true
  // Where the system does not say, a commit decides.
  return yield* Effect.tryPromise(() => statfs(database.directory)).pipe(
    Effect.map(({ bavail, bsize }) => bavail * bsize >= leastFreeBytes),
    Effect.orElseSucceed(() => true)
  )
})

const takesWrites = Effect.fnUntraced(function* (present: string) {
  const sql = yield* SqlClient.SqlClient
  // A connection of its own while it takes: no request waits behind it.
  const connection = yield* sql.reserve
  const [row] = yield* connection
    .executeValues(`SELECT ${stands} AND ${present} AND ${commits}`, [])
    .pipe(
      Effect.catch((error) =>
        isMissing.test(sqlStateOf(error))
          ? connection.executeValues(`SELECT ${stands} AND ${present}`, [])
          : Effect.fail(error)
      )
    )
  return row?.[0] === true
}, Effect.scoped)

/**
 * Asked once a second at most, however many ask, and once beforehand, so that a start does not wait for it. The
 * layer has migrated the database, and what a later release adds is no reason to leave the rotation: a table that is
 * gone is one.
 */
export const makeReady = Effect.fnUntraced(function* (tables: ReadonlyArray<string>) {
  const scope = yield* Effect.scope
  const writes = takesWrites(presence(tables))
  const check = Effect.zipWith(hasSpace, writes, (space, taken) => space && taken).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => false)
  )
  // Who asks may go away; the answer is the others' too.
  const asked = Effect.flatMap(Effect.forkIn(check, scope), Fiber.join)
  const known = yield* Effect.cachedWithTTL(Effect.uninterruptible(asked), "1 second")
  yield* Effect.forkIn(known, scope)
  return known
})
