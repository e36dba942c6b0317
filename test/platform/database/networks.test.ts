// Each environment is in the database's schema: in every CHECK of a column `env`, and in columns of its own.
import { expect, test } from "bun:test"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { envs, networks } from "../../../src/domain/networks.ts"
import { testDatabase } from "../../support/database.ts"

const decode = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ table: Schema.String, name: Schema.String, definition: Schema.String }))
)
const inDatabase = (statement: string) =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.flatMap(sql.unsafe(statement), decode)).pipe(
      Effect.provide(testDatabase.layer),
      Effect.orDie
    )
  )

test("every CHECK of a column `env` lists each environment", async () => {
  const checks = await inDatabase(`
    SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace
      AND pg_get_constraintdef(oid) ~ '\\(env = ANY'
    ORDER BY 1`)
  expect(checks.length).toBeGreaterThan(10)
  expect(
    envs.flatMap((env) =>
      checks
        .filter(({ definition }) => !definition.includes(`'${env}'`))
        .map(({ name, table }) => `${table}: a migration adds '${env}' to the CHECK ${name}`)
    )
  ).toEqual([])
})

test("a table with a column for one environment has one for each", async () => {
  const columns = await inDatabase(`
    SELECT table_name AS table, column_name AS name, data_type AS definition FROM information_schema.columns WHERE table_schema = 'public'`)
  const isThere = (table: string, name: string) =>
    columns.some((column) => column.table === table && column.name === name)
  const ofTest = columns.filter(({ name }) => name.endsWith(`_${networks.test.env}`))
  expect(ofTest).not.toEqual([])
  expect(
    ofTest.flatMap(({ name, table }) =>
      envs
        .map((env) => name.replace(/_[a-z]+$/, `_${env}`))
        .filter((wanted) => !isThere(table, wanted))
        .map((wanted) => `${table}: a migration adds the column ${wanted}, and src reads it beside ${name}`)
    )
  ).toEqual([])
})
