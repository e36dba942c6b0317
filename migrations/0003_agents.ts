// Agents with their caps and signed x402 payments; the facilitator's settlements and
// the outbox of the wallet that relays them.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    ALTER TABLE payment_reports
    ADD COLUMN payer_type text NOT NULL DEFAULT 'human' CHECK (payer_type IN ('human', 'agent'))`

  // The wallet's private key is derived from the mnemonic and this index, and kept nowhere.
  yield* sql`
    CREATE TABLE agents (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
      wallet_index integer GENERATED ALWAYS AS IDENTITY UNIQUE,
      address bytea CHECK (length(address) = 20),
      key_id uuid NOT NULL UNIQUE REFERENCES api_keys (id),
      cap_per_payment numeric(20, 0) NOT NULL CHECK (cap_per_payment > 0),
      cap_per_day numeric(20, 0) NOT NULL CHECK (cap_per_day > 0),
      allowed_hosts text[],
      allowed_payees text[],
      status text NOT NULL CHECK (status IN ('active', 'paused', 'revoked')),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX agents_merchant ON agents (merchant_id, env, created_at)`

  // An amount is reserved before its authorization is signed. It counts against the day's
  // cap until the chain shows that the authorization can no longer be used.
  yield* sql`
    CREATE TABLE agent_payments (
      id uuid PRIMARY KEY,
      agent_id uuid NOT NULL REFERENCES agents (id),
      request_id text NOT NULL CHECK (length(request_id) BETWEEN 1 AND 128),
      request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
      status text NOT NULL CHECK (status IN ('reserved', 'used', 'expired', 'released')),
      x402_version integer NOT NULL CHECK (x402_version IN (1, 2)),
      resource text NOT NULL CHECK (length(resource) <= 2048),
      requirements text NOT NULL,
      pay_to bytea NOT NULL CHECK (length(pay_to) = 20),
      amount numeric(20, 0) NOT NULL CHECK (amount > 0),
      valid_after bigint NOT NULL,
      valid_before bigint NOT NULL,
      nonce bytea NOT NULL UNIQUE CHECK (length(nonce) = 32),
      transaction_id bytea CHECK (length(transaction_id) = 32),
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      next_look_at timestamptz,
      UNIQUE (agent_id, request_id)
    )`
  yield* sql`CREATE INDEX agent_payments_counted ON agent_payments (agent_id, created_at DESC) INCLUDE (amount, status)`
  yield* sql`CREATE INDEX agent_payments_due ON agent_payments (next_look_at) WHERE next_look_at IS NOT NULL`

  // One row an authorization: (chain, asset, payer, nonce) is what the token contract itself
  // lets through once.
  yield* sql`
    CREATE TABLE x402_settlements (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      payment_id uuid NOT NULL,
      opens_payment boolean NOT NULL,
      chain_id integer NOT NULL,
      asset bytea NOT NULL CHECK (length(asset) = 20),
      payer bytea NOT NULL CHECK (length(payer) = 20),
      nonce bytea NOT NULL CHECK (length(nonce) = 32),
      receiver bytea NOT NULL CHECK (length(receiver) = 20),
      amount numeric(20, 0) NOT NULL CHECK (amount > 0),
      valid_after numeric(78, 0) NOT NULL,
      valid_before numeric(78, 0) NOT NULL,
      signature bytea NOT NULL,
      resource text NOT NULL CHECK (length(resource) <= 2048),
      status text NOT NULL CHECK (status IN ('pending', 'settled', 'failed')),
      error_reason text,
      transaction_id bytea CHECK (length(transaction_id) = 32),
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      next_look_at timestamptz,
      UNIQUE (chain_id, asset, payer, nonce),
      CHECK ((status = 'failed') = (error_reason IS NOT NULL)),
      CHECK (status <> 'settled' OR transaction_id IS NOT NULL)
    )`
  yield* sql`
    CREATE UNIQUE INDEX x402_settlements_payment ON x402_settlements (payment_id) WHERE status <> 'failed'`
  yield* sql`CREATE INDEX x402_settlements_due ON x402_settlements (next_look_at) WHERE next_look_at IS NOT NULL`

  // A signed transaction is stored before it is broadcast.
  yield* sql`
    CREATE TABLE relayer_transactions (
      wallet bytea NOT NULL CHECK (length(wallet) = 20),
      nonce bigint NOT NULL,
      purpose text NOT NULL CHECK (purpose IN ('settle', 'cancel')),
      reference uuid NOT NULL,
      raw bytea NOT NULL,
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      earlier_ids bytea[] NOT NULL DEFAULT '{}',
      outcome text CHECK (outcome IN ('moved', 'reverted', 'lost')),
      created_at timestamptz NOT NULL,
      mined_at timestamptz,
      PRIMARY KEY (wallet, nonce)
    )`
  yield* sql`
    CREATE UNIQUE INDEX relayer_transactions_open ON relayer_transactions (reference) WHERE mined_at IS NULL`
  yield* sql`CREATE INDEX relayer_transactions_reference ON relayer_transactions (reference, created_at DESC)`
})
