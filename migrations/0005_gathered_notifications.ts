// Alerts of a kind are told once an hour, and mails that a person waits for go before all others.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // When people were last notified of alerts of a kind, by merchant (none: the whole service) and environment.
  yield* sql`
    CREATE TABLE notified_groups (
      name text PRIMARY KEY,
      notified_at timestamptz NOT NULL
    )`
  // Of how many alerts a post tells.
  yield* sql`ALTER TABLE alert_posts ADD COLUMN IF NOT EXISTS alerts integer NOT NULL DEFAULT 1`
  yield* sql`ALTER TABLE mails ADD COLUMN IF NOT EXISTS urgent boolean NOT NULL DEFAULT false`
})
