// Migrations beside statements that hold what they want to change.
import { expect } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../src/database/migrate.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { liveEffect } from "../support/run.ts"

const statement = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text))

liveEffect(
  "a lock that others hold, or a deadlock with them, is waited out, and nobody waits behind the migration for long",
  () =>
    Effect.gen(function* () {
      const url = yield* ownDatabase()
      const others = new SQL(url, { max: 3 })
      yield* Effect.addFinalizer(() => Effect.promise(() => others.close({ timeout: 0 })))
      yield* Effect.promise(() => others.unsafe("CREATE TABLE one (id int); CREATE TABLE two (id int)"))
      const holding = others.begin(async (sql) => {
        await sql`INSERT INTO two VALUES (1)`
        await Bun.sleep(1_500)
        // What the migration has by now, while it wants what is held here.
        await sql`INSERT INTO one VALUES (1)`.catch(() => undefined)
        await Bun.sleep(3_500)
      })
      holding.catch(() => undefined)
      yield* Effect.sleep("300 millis")
      let done = false
      const longest = (async () => {
        let millis = 0
        while (!done) {
          const began = performance.now()
          await others`SELECT count(*) FROM two`
          millis = Math.max(millis, performance.now() - began)
          await Bun.sleep(20)
        }
        return millis
      })()
      yield* migrate(
        {
          "0001_both": Effect.andThen(
            statement("ALTER TABLE one ADD COLUMN more int"),
            statement("ALTER TABLE two ADD COLUMN more int")
          )
        },
        "of the test"
      ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
      done = true
      expect(yield* Effect.promise(() => longest)).toBeLessThan(3_500)
      const rows = yield* Effect.promise(() => others`SELECT id, more FROM two`)
      expect(rows.length).toBeLessThanOrEqual(1)
    }),
  60_000
)
