// Who is told what: by mail in their language, and by posts to an address of the merchant's.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE users ADD COLUMN locale text NOT NULL DEFAULT 'en'
      CHECK (locale IN ('en', 'de', 'es', 'fr', 'pt', 'ja', 'zh', 'ar'))`
  yield* sql`
    ALTER TABLE merchant_members
    ADD COLUMN told_alerts text NOT NULL DEFAULT 'all' CHECK (told_alerts IN ('all', 'live', 'none')),
    ADD COLUMN told_weekly boolean NOT NULL DEFAULT true`

  // What was raised before is not told now; what the release before raises from here on is.
  yield* sql`ALTER TABLE alerts ADD COLUMN tell_at timestamptz`
  yield* sql`ALTER TABLE alerts ALTER COLUMN tell_at SET DEFAULT now()`

  // The end of the last week that was told; null before the first.
  yield* sql`
    ALTER TABLE merchants
    ADD COLUMN summary_until timestamptz,
    ADD COLUMN summary_at timestamptz NOT NULL DEFAULT now()`
  yield* sql`CREATE INDEX merchants_summary ON merchants (summary_at)`

  // The address is sealed with the secret: of chat services it is one.
  yield* sql`
    CREATE TABLE alert_hooks (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      shape text NOT NULL CHECK (shape IN ('slack', 'plain')),
      host text NOT NULL,
      secret_kid text NOT NULL,
      secret_ciphertext bytea NOT NULL,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX alert_hooks_merchant ON alert_hooks (merchant_id, env)`
  yield* sql`
    CREATE TABLE alert_posts (
      hook_id uuid NOT NULL REFERENCES alert_hooks (id) ON DELETE CASCADE,
      alert_id uuid NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
      due_at timestamptz,
      attempts integer NOT NULL DEFAULT 0,
      sent_at timestamptz,
      error text,
      PRIMARY KEY (hook_id, alert_id)
    )`
  yield* sql`CREATE INDEX alert_posts_due ON alert_posts (due_at) WHERE due_at IS NOT NULL`
  yield* sql`CREATE INDEX alert_posts_alert ON alert_posts (alert_id)`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE alert_posts`
  yield* sql`DROP TABLE alert_hooks`
  yield* sql`ALTER TABLE merchants DROP COLUMN summary_at, DROP COLUMN summary_until`
  yield* sql`DROP INDEX IF EXISTS alerts_untold`
  yield* sql`ALTER TABLE alerts DROP COLUMN tell_at`
  yield* sql`ALTER TABLE merchant_members DROP COLUMN told_weekly, DROP COLUMN told_alerts`
  yield* sql`ALTER TABLE users DROP COLUMN locale`
})

export const indexes = {
  alerts_untold: "alerts (tell_at) WHERE tell_at IS NOT NULL"
}
