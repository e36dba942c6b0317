// Ways in which buyers pay: signatures that the service relays, transfers from an exchange, payment links; their receipts, and what they see of
// a merchant.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Who has signed: an agent by x402, or a person in the checkout.
  yield* sql`
    ALTER TABLE x402_settlements ADD COLUMN payer_type text NOT NULL DEFAULT 'agent'
      CHECK (payer_type IN ('human', 'agent'))`

  // Which payment a nonce was asked for: what is signed with it pays nothing else.
  yield* sql`
    CREATE TABLE authorization_nonces (
      nonce bytea PRIMARY KEY CHECK (length(nonce) = 32),
      payment_id uuid NOT NULL,
      asked_at timestamptz NOT NULL
    )`

  // Buyers who were shown the address: a transfer of the amount from anywhere is likely theirs.
  yield* sql`
    CREATE TABLE shown_addresses (
      payment_id uuid PRIMARY KEY,
      shown_at timestamptz NOT NULL
    )`

  // Public parts stay for as long as receipts are shown; the private one is sealed.
  yield* sql`
    CREATE TABLE receipt_keys (
      kid text PRIMARY KEY,
      public_jwk text NOT NULL,
      private_kid text NOT NULL,
      private_sealed bytea NOT NULL,
      created_at timestamptz NOT NULL
    )`
  yield* sql`
    CREATE TABLE merchant_faces (
      merchant_id uuid PRIMARY KEY REFERENCES merchants (id),
      logo bytea CHECK (length(logo) <= 65536),
      accent_color text CHECK (accent_color ~ '^#[0-9a-f]{6}$'),
      support text CHECK (length(support) <= 200)
    )`

  // A link that pays once leads to one payment, whose id it keeps. Its publishable key is public anyway.
  yield* sql`
    CREATE TABLE payment_links (
      id text PRIMARY KEY CHECK (length(id) >= 22),
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      publishable_key text NOT NULL,
      description text NOT NULL CHECK (length(description) <= 500),
      amount numeric(20,0) CHECK (amount > 0),
      least numeric(20,0) CHECK (least > 0),
      most numeric(20,0) CHECK (most >= least),
      once boolean NOT NULL,
      payment_id uuid,
      created_at timestamptz NOT NULL,
      expires_at timestamptz,
      closed_at timestamptz,
      CHECK ((amount IS NULL) = (least IS NOT NULL AND most IS NOT NULL))
    )`
  yield* sql`CREATE INDEX payment_links_newest ON payment_links (merchant_id, env, created_at DESC, id DESC)`

  yield* sql`
    CREATE TABLE receipts (
      id text PRIMARY KEY CHECK (length(id) >= 22),
      payment_id uuid NOT NULL UNIQUE,
      jws text NOT NULL,
      created_at timestamptz NOT NULL
    )`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE payment_links`
  yield* sql`DROP TABLE merchant_faces`
  yield* sql`DROP TABLE receipts`
  yield* sql`DROP TABLE receipt_keys`
  yield* sql`DROP TABLE shown_addresses`
  yield* sql`DROP TABLE authorization_nonces`
  yield* sql`ALTER TABLE x402_settlements DROP COLUMN payer_type`
})
