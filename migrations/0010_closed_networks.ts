// A network that was closed with nothing under way stays closed, whatever is opened on it meanwhile.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE chain_cursors ADD COLUMN IF NOT EXISTS closed_at timestamptz`
})
