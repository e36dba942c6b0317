// Checks that the database would store a new payment, by a commit on the same path.
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { fullDisk } from "./fullDisk.ts"
import { sqlStateOf } from "./sqlStateOf.ts"

const isPrimary = "NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'"
/** A transaction of a few bytes in the log, without a row. Its commit waits for the disk and for standbys. */
const commits = "pg_logical_emit_message(true, 'quittance', '') IS NOT NULL"
/** Reads the catalogue, so a migration that holds table locks does not delay it. */
const presence = (tables: ReadonlyArray<string>) => `
  NOT EXISTS (SELECT FROM unnest('{${tables.join(",")}}'::text[]) AS name WHERE to_regclass(name) IS NULL)`
/** SQLSTATEs of an engine or a role without this function. */
const missingFunctionStates = /^(42883|42501|0A000)/

/** If the system does not report the space, or the database is a server's, a commit decides. */
const hasSpace = Effect.map(
  AppConfig,
  ({ database }) => database._tag !== "Embedded" || fullDisk(database.directory) === undefined
)

const takesWrites = Effect.fnUntraced(function* (present: string) {
  const sql = yield* SqlClient.SqlClient
  // On its own connection, so no request waits behind it.
  const connection = yield* sql.reserve
  const [row] = yield* connection
    .executeValues(`SELECT ${isPrimary} AND ${present} AND ${commits}`, [])
    .pipe(
      Effect.catch((error) =>
        missingFunctionStates.test(sqlStateOf(error))
          ? connection.executeValues(`SELECT ${isPrimary} AND ${present}`, [])
          : Effect.fail(error)
      )
    )
  return row?.[0] === true
}, Effect.scoped)

/**
 * Runs at most once a second, however many callers there are, and once in advance, so that a start does not wait for
 * it. The layer has migrated the database, and the additions of a later release are no reason to leave the rotation; a
 * missing table is.
 */
export const makeReady = Effect.fnUntraced(function* (tables: ReadonlyArray<string>) {
  const scope = yield* Effect.scope
  const writes = takesWrites(presence(tables))
  const check = Effect.zipWith(hasSpace, writes, (space, taken) => space && taken).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => false)
  )
  // A caller may disconnect; the result is for the others too.
  const checked = Effect.flatMap(Effect.forkIn(check, scope), Fiber.join)
  const cached = yield* Effect.cachedWithTTL(Effect.uninterruptible(checked), "1 second")
  yield* Effect.forkIn(cached, scope)
  return cached
})
