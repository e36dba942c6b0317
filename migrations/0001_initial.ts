// Merchants, keys, payments with their reports and claimed transfers, webhooks,
// faucet grants, alerts. Ids are uuid, addresses and hashes bytea, amounts atomic
// USDC in numeric(20,0), times timestamptz given by the application's clock.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE merchants (
      id uuid PRIMARY KEY,
      name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
      logo_url text,
      receiver_test bytea NOT NULL CHECK (length(receiver_test) = 20),
      receiver_live bytea NOT NULL CHECK (length(receiver_live) = 20),
      identity_audience text,
      created_at timestamptz NOT NULL
    )`

  yield* sql`
    CREATE TABLE api_keys (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      kind text NOT NULL CHECK (kind IN ('secret', 'publishable', 'agent')),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      permission text NOT NULL CHECK (permission IN ('manage', 'read')),
      hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
      prefix text NOT NULL,
      last_four text NOT NULL CHECK (length(last_four) = 4),
      created_at timestamptz NOT NULL,
      last_used_at timestamptz,
      revoked_at timestamptz
    )`
  yield* sql`CREATE INDEX api_keys_merchant ON api_keys (merchant_id, env, created_at)`

  yield* sql`
    CREATE TABLE payments (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      status text NOT NULL CHECK (status IN ('pending', 'settled', 'failed')),
      amount numeric(20, 0) NOT NULL CHECK (amount > 0),
      ref_code text NOT NULL UNIQUE CHECK (ref_code ~ '^PAY-[A-Z0-9]{8}$'),
      intent_url text NOT NULL,
      receiver bytea NOT NULL CHECK (length(receiver) = 20),
      payer_type text NOT NULL CHECK (payer_type IN ('human', 'agent')),
      created_at timestamptz NOT NULL,
      reported_at timestamptz,
      transaction_id bytea CHECK (length(transaction_id) = 32),
      payer_address bytea CHECK (length(payer_address) = 20),
      token_changes jsonb,
      settled_at timestamptz,
      failed_at timestamptz,
      failure_reason text CHECK (failure_reason IN ('expired', 'unverified')),
      CHECK (
        CASE status
          WHEN 'pending' THEN settled_at IS NULL AND failed_at IS NULL AND failure_reason IS NULL
          WHEN 'settled' THEN settled_at IS NOT NULL AND reported_at IS NOT NULL AND transaction_id IS NOT NULL
            AND payer_address IS NOT NULL AND token_changes IS NOT NULL
            AND failed_at IS NULL AND failure_reason IS NULL
          ELSE failed_at IS NOT NULL AND failure_reason IS NOT NULL AND settled_at IS NULL
        END
      )
    )`
  yield* sql`CREATE INDEX payments_newest ON payments (merchant_id, env, created_at DESC, id DESC)`
  yield* sql`CREATE INDEX payments_pending ON payments (created_at) WHERE status = 'pending'`
  yield* sql`CREATE INDEX payments_transaction ON payments (transaction_id) WHERE transaction_id IS NOT NULL`

  // Unverified reports, each with its own evidence. Nothing here reserves anything.
  yield* sql`
    CREATE TABLE payment_reports (
      payment_id uuid NOT NULL REFERENCES payments (id) ON DELETE CASCADE,
      evidence bytea NOT NULL CHECK (length(evidence) = 32),
      payer_address bytea NOT NULL CHECK (length(payer_address) = 20),
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      token_changes jsonb NOT NULL,
      reported_at timestamptz NOT NULL,
      checks integer NOT NULL DEFAULT 0,
      next_check_at timestamptz,
      outcome text,
      PRIMARY KEY (payment_id, evidence)
    )`
  yield* sql`CREATE INDEX payment_reports_due ON payment_reports (next_check_at) WHERE next_check_at IS NOT NULL`

  // A Transfer log pays one payment. Its position is counted within its transaction,
  // which survives re-inclusion in another block.
  yield* sql`
    CREATE TABLE claimed_transfers (
      chain_id integer NOT NULL,
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      log_position integer NOT NULL CHECK (log_position >= 0),
      payment_id uuid NOT NULL UNIQUE REFERENCES payments (id),
      block_number bigint NOT NULL,
      block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
      watch_at timestamptz,
      dropped_at timestamptz,
      PRIMARY KEY (chain_id, transaction_id, log_position)
    )`
  yield* sql`CREATE INDEX claimed_transfers_watched ON claimed_transfers (watch_at) WHERE watch_at IS NOT NULL`

  yield* sql`
    CREATE TABLE webhook_endpoints (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      url text NOT NULL CHECK (length(url) <= 2048),
      secret_kid text NOT NULL,
      secret_ciphertext bytea NOT NULL,
      secret_last_four text NOT NULL CHECK (length(secret_last_four) = 4),
      listening boolean NOT NULL DEFAULT false,
      failing boolean NOT NULL DEFAULT false,
      last_delivered_at timestamptz,
      verified_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      deleted_at timestamptz
    )`
  yield* sql`
    CREATE UNIQUE INDEX webhook_endpoints_active ON webhook_endpoints (merchant_id, env)
    WHERE deleted_at IS NULL`

  // One message to one endpoint; its url and secret are looked up at each attempt, so
  // that a change applies to what is already waiting. A claim holds a row until due_at.
  yield* sql`
    CREATE TABLE webhook_deliveries (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      endpoint_id uuid REFERENCES webhook_endpoints (id),
      payment_id uuid REFERENCES payments (id),
      type text NOT NULL CHECK (type IN ('payment.settled', 'test')),
      body bytea NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
      attempts integer NOT NULL DEFAULT 0,
      interruptions integer NOT NULL DEFAULT 0,
      due_at timestamptz,
      claim_id uuid,
      resent_from text CHECK (resent_from IN ('delivered', 'failed', 'cancelled')),
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      CHECK ((status = 'pending') = (due_at IS NOT NULL)),
      CHECK (status <> 'pending' OR endpoint_id IS NOT NULL)
    )`
  yield* sql`CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at) WHERE due_at IS NOT NULL`
  yield* sql`CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (merchant_id, env, created_at DESC, id DESC)`
  yield* sql`CREATE INDEX webhook_deliveries_payment ON webhook_deliveries (payment_id) WHERE payment_id IS NOT NULL`

  yield* sql`
    CREATE TABLE webhook_attempts (
      delivery_id uuid NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
      number integer NOT NULL CHECK (number > 0),
      manual boolean NOT NULL DEFAULT false,
      started_at timestamptz NOT NULL,
      duration_ms integer,
      response_status integer,
      failure text,
      response_body bytea,
      PRIMARY KEY (delivery_id, number)
    )`
  yield* sql`CREATE INDEX webhook_attempts_started ON webhook_attempts (started_at)`

  yield* sql`
    CREATE TABLE faucet_grants (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      recipient bytea NOT NULL CHECK (length(recipient) = 20),
      client_address text NOT NULL,
      status text NOT NULL CHECK (status IN ('reserved', 'sent', 'gas_only', 'returned')),
      usdc_atomic numeric(20, 0) NOT NULL,
      gas_wei numeric(30, 0) NOT NULL,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX faucet_grants_recipient ON faucet_grants (recipient, created_at) WHERE status <> 'returned'`
  yield* sql`CREATE INDEX faucet_grants_merchant ON faucet_grants (merchant_id, created_at) WHERE status <> 'returned'`
  yield* sql`CREATE INDEX faucet_grants_client ON faucet_grants (client_address, created_at) WHERE status <> 'returned'`

  // The faucet wallet's outbox: a signed transaction is stored before it is broadcast.
  yield* sql`
    CREATE TABLE faucet_transactions (
      wallet bytea NOT NULL CHECK (length(wallet) = 20),
      nonce bigint NOT NULL,
      grant_id uuid NOT NULL REFERENCES faucet_grants (id),
      asset text NOT NULL CHECK (asset IN ('usdc', 'gas', 'filler')),
      raw bytea NOT NULL,
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      earlier_ids bytea[] NOT NULL DEFAULT '{}',
      outcome text CHECK (outcome IN ('moved', 'reverted', 'lost')),
      created_at timestamptz NOT NULL,
      mined_at timestamptz,
      PRIMARY KEY (wallet, nonce)
    )`
  yield* sql`CREATE INDEX faucet_transactions_open ON faucet_transactions (wallet, nonce) WHERE mined_at IS NULL`

  yield* sql`
    CREATE TABLE alerts (
      id uuid PRIMARY KEY,
      merchant_id uuid REFERENCES merchants (id),
      env text CHECK (env IN ('test', 'live')),
      kind text NOT NULL,
      subject text NOT NULL,
      message text NOT NULL,
      created_at timestamptz NOT NULL,
      acknowledged_at timestamptz
    )`
  yield* sql`CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE acknowledged_at IS NULL`
  yield* sql`CREATE INDEX alerts_newest ON alerts (merchant_id, env, created_at DESC)`
})
