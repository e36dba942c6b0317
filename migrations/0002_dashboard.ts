// People who sign in, the merchants they belong to, their sessions and one-time
// links; what a payment's and a delivery's history show; indexes of the dashboard.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE users (
      id uuid PRIMARY KEY,
      email text NOT NULL UNIQUE CHECK (email = lower(email) AND length(email) <= 254),
      password_hash text,
      operator boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL
    )`

  yield* sql`
    CREATE TABLE merchant_members (
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      user_id uuid NOT NULL REFERENCES users (id),
      created_at timestamptz NOT NULL,
      PRIMARY KEY (merchant_id, user_id)
    )`
  yield* sql`CREATE INDEX merchant_members_user ON merchant_members (user_id)`

  // The SHA-256 of a session's token; the token itself is in the browser's cookie alone.
  yield* sql`
    CREATE TABLE sessions (
      hash bytea PRIMARY KEY CHECK (length(hash) = 32),
      user_id uuid NOT NULL REFERENCES users (id),
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX sessions_user ON sessions (user_id)`
  yield* sql`CREATE INDEX sessions_expired ON sessions (expires_at)`

  // An invitation to a merchant, or with reset_password the operator's way to set a password.
  yield* sql`
    CREATE TABLE one_time_links (
      hash bytea PRIMARY KEY CHECK (length(hash) = 32),
      email text NOT NULL,
      merchant_id uuid REFERENCES merchants (id),
      reset_password boolean NOT NULL,
      operator boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz
    )`
  yield* sql`CREATE INDEX one_time_links_merchant ON one_time_links (merchant_id, created_at)`

  // Each change of what the chain says about a report; a bounded number for each payment.
  yield* sql`
    CREATE TABLE payment_verdicts (
      payment_id uuid NOT NULL REFERENCES payments (id) ON DELETE CASCADE,
      at timestamptz NOT NULL,
      evidence bytea NOT NULL CHECK (length(evidence) = 32),
      reported_at timestamptz NOT NULL,
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      payer_address bytea NOT NULL CHECK (length(payer_address) = 20),
      verdict text NOT NULL,
      expected text,
      actual text
    )`
  yield* sql`CREATE INDEX payment_verdicts_payment ON payment_verdicts (payment_id, at)`

  // What was sent: where to, and the request's head; the body is the delivery's.
  yield* sql`ALTER TABLE webhook_attempts ADD COLUMN request_head text`
})

export const indexes = {
  payments_status_newest: "payments (merchant_id, env, status, created_at DESC, id DESC)",
  payments_settled: "payments (merchant_id, env, settled_at) INCLUDE (amount) WHERE status = 'settled'",
  payments_failed: "payments (merchant_id, env, failed_at) WHERE status = 'failed'",
  payment_reports_transaction: "payment_reports (transaction_id)",
  alerts_open_newest: "alerts (merchant_id, env, created_at DESC) WHERE acknowledged_at IS NULL"
}
