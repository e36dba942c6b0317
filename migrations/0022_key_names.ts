// Keys have names, and publishable keys can be read again: they are public.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE api_keys
    ADD COLUMN name text CHECK (length(name) BETWEEN 1 AND 100),
    ADD COLUMN public_key text CHECK (public_key IS NULL OR kind = 'publishable')`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE api_keys DROP COLUMN name, DROP COLUMN public_key`
})
