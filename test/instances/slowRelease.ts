// The service as a release whose migration takes seconds, and whose index takes longer than any probe waits.
import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as App from "../../src/app/App.ts"
import { launch } from "../../src/app/launch.ts"
import { Migrations, migrations } from "../../src/platform/database/migrations.ts"

const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT pg_sleep(4)`
  yield* sql`
    CREATE OR REPLACE FUNCTION slowly(id uuid) RETURNS uuid IMMUTABLE LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN id; END $$`
})

launch(
  App.layer.pipe(
    Layer.provide(
      Layer.succeed(Migrations, {
        ...migrations,
        "9000_slow": { up, indexes: { merchants_slowly: "merchants (slowly(id))" } }
      })
    )
  )
)
