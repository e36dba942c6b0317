// Changes of where money goes and who may change it: confirmed by a password, told to every member,
// written down for good, and for live receiving addresses delayed. Mail that waits to be sent.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // When the session's person last gave the password.
  yield* sql`ALTER TABLE sessions ADD COLUMN confirmed_at timestamptz NOT NULL DEFAULT 'epoch'`

  // Each entry's hash covers the one before: what is changed, removed or put between shows.
  yield* sql`
    CREATE TABLE audit_entries (
      position bigint PRIMARY KEY,
      merchant_id uuid REFERENCES merchants (id),
      env text CHECK (env IN ('test', 'live')),
      at timestamptz NOT NULL,
      actor_id uuid REFERENCES users (id),
      actor text NOT NULL,
      action text NOT NULL,
      summary text NOT NULL,
      hash bytea NOT NULL CHECK (length(hash) = 32)
    )`
  yield* sql`CREATE INDEX audit_entries_merchant ON audit_entries (merchant_id, position DESC)`
  yield* sql`
    CREATE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'Entries of the audit log are neither changed nor removed'
        USING ERRCODE = 'restrict_violation';
    END $$`
  yield* sql`
    CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_stay()`

  // Told to one member; others have a row of their own.
  yield* sql`ALTER TABLE alerts ADD COLUMN user_id uuid REFERENCES users (id)`

  yield* sql`
    CREATE TABLE receiver_changes (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      address bytea NOT NULL CHECK (length(address) = 20),
      requested_by uuid NOT NULL REFERENCES users (id),
      requested_at timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      ended_at timestamptz,
      outcome text CHECK (outcome IN ('applied', 'withdrawn', 'replaced', 'lost')),
      CHECK ((ended_at IS NULL) = (outcome IS NULL))
    )`
  yield* sql`
    CREATE UNIQUE INDEX receiver_changes_open ON receiver_changes (merchant_id, env) WHERE ended_at IS NULL`
  yield* sql`CREATE INDEX receiver_changes_due ON receiver_changes (due_at) WHERE ended_at IS NULL`

  // Since when money that reaches an address is looked for, whoever receives there.
  yield* sql`ALTER TABLE merchant_receivers ADD COLUMN watched_since timestamptz NOT NULL DEFAULT now()`
  yield* sql`UPDATE merchant_receivers SET watched_since = since`

  yield* sql`
    CREATE TABLE mails (
      id uuid PRIMARY KEY,
      recipient text NOT NULL,
      subject text NOT NULL,
      body text NOT NULL,
      created_at timestamptz NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      due_at timestamptz,
      sent_at timestamptz,
      error text
    )`
  yield* sql`CREATE INDEX mails_due ON mails (due_at) WHERE due_at IS NOT NULL`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE mails`
  yield* sql`DROP INDEX IF EXISTS alerts_subject`
  yield* sql`ALTER TABLE merchant_receivers DROP COLUMN watched_since`
  yield* sql`DROP TABLE receiver_changes`
  yield* sql`DELETE FROM alerts WHERE user_id IS NOT NULL`
  yield* sql`ALTER TABLE alerts DROP COLUMN user_id`
  yield* sql`DROP TABLE audit_entries`
  yield* sql`DROP FUNCTION audit_entries_stay`
  yield* sql`ALTER TABLE sessions DROP COLUMN confirmed_at`
})

export const indexes = {
  mails_ended: "mails (created_at) WHERE due_at IS NULL",
  alerts_subject: "alerts (kind, subject)"
}
