// The service as its next release: the same code and one more migration, which adds columns to the most used tables.
import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as App from "../../src/app/App.ts"
import { launch } from "../../src/app/launch.ts"
import { Migrations, migrations } from "../../src/platform/database/migrations.ts"

const tables = [
  "api_keys",
  "merchants",
  "payments",
  "payment_reports",
  "webhook_deliveries",
  "webhook_endpoints"
]

const addColumns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of tables) yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN next_note text`
})

launch(
  App.layer.pipe(
    Layer.provide(Layer.succeed(Migrations, { ...migrations, "9000_next_release": { up: addColumns } }))
  )
)
