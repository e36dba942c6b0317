// Invitations have a name and an author, links burn, and browsers in which a person has signed in are known.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE one_time_links
    ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
    ADD COLUMN invited_by uuid REFERENCES users (id),
    ADD COLUMN failures integer NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX one_time_links_email ON one_time_links (email) WHERE used_at IS NULL`
  // The SHA-256 of a browser's token; the token itself is in its cookie alone.
  yield* sql`
    CREATE TABLE known_browsers (
      hash bytea PRIMARY KEY CHECK (length(hash) = 32),
      user_id uuid NOT NULL REFERENCES users (id),
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX known_browsers_user ON known_browsers (user_id)`
  yield* sql`CREATE INDEX known_browsers_expired ON known_browsers (expires_at)`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE known_browsers`
  yield* sql`DROP INDEX one_time_links_email`
  yield* sql`DROP INDEX IF EXISTS one_time_links_expired`
  yield* sql`ALTER TABLE one_time_links DROP COLUMN failures, DROP COLUMN invited_by, DROP COLUMN id`
})

export const indexes = {
  one_time_links_expired: "one_time_links (expires_at)"
}
