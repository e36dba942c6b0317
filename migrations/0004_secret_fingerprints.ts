// By what each secret of the configuration is recognised: a database never again meets another one under its name.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE secret_fingerprints (
      variable text NOT NULL,
      -- The key's id; empty where the variable holds one secret without a name.
      kid text NOT NULL,
      fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
      first_used_at timestamptz NOT NULL,
      PRIMARY KEY (variable, kid)
    )`
})
