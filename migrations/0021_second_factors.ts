// Sessions that a person can tell apart, passkeys, codes of an authenticator app, recovery codes.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE sessions
    ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
    ADD COLUMN user_agent text CHECK (length(user_agent) <= 300),
    ADD COLUMN address text CHECK (length(address) <= 64),
    ADD COLUMN seen_at timestamptz`
  yield* sql`
    CREATE TABLE passkeys (
      id uuid PRIMARY KEY,
      user_id uuid NOT NULL REFERENCES users (id),
      credential_id text NOT NULL UNIQUE CHECK (length(credential_id) <= 1400),
      public_key bytea NOT NULL,
      counter bigint NOT NULL,
      transports text[] NOT NULL,
      name text NOT NULL CHECK (length(name) <= 100),
      created_at timestamptz NOT NULL,
      last_used_at timestamptz
    )`
  yield* sql`CREATE INDEX passkeys_user ON passkeys (user_id)`
  // A challenge is answered once, for what it was made for.
  yield* sql`
    CREATE TABLE passkey_challenges (
      challenge text PRIMARY KEY,
      purpose text NOT NULL CHECK (purpose IN ('add', 'sign_in', 'confirm')),
      user_id uuid REFERENCES users (id),
      expires_at timestamptz NOT NULL,
      CHECK ((user_id IS NULL) = (purpose = 'sign_in'))
    )`
  yield* sql`CREATE INDEX passkey_challenges_expired ON passkey_challenges (expires_at)`
  // The secret is sealed. Of its codes none older than the last that was taken is taken again.
  yield* sql`
    CREATE TABLE authenticators (
      user_id uuid PRIMARY KEY REFERENCES users (id),
      secret_kid text NOT NULL,
      secret_ciphertext bytea NOT NULL,
      created_at timestamptz NOT NULL,
      confirmed_at timestamptz,
      last_step bigint NOT NULL DEFAULT 0
    )`
  yield* sql`
    CREATE TABLE recovery_codes (
      user_id uuid NOT NULL REFERENCES users (id),
      hash bytea NOT NULL CHECK (length(hash) = 32),
      used_at timestamptz,
      PRIMARY KEY (user_id, hash)
    )`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE recovery_codes`
  yield* sql`DROP TABLE authenticators`
  yield* sql`DROP TABLE passkey_challenges`
  yield* sql`DROP TABLE passkeys`
  yield* sql`
    ALTER TABLE sessions DROP COLUMN id, DROP COLUMN user_agent, DROP COLUMN address, DROP COLUMN seen_at`
})
