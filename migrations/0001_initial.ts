// The database of 0.1.0. Ids are uuid, addresses and hashes bytea, amounts atomic USDC in numeric(20, 0),
// times timestamptz given by the application's clock.
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
      created_at timestamptz NOT NULL,
      bound_tokens_only boolean NOT NULL DEFAULT false,
      token_lifetime_seconds integer NOT NULL DEFAULT 86400 CHECK (token_lifetime_seconds BETWEEN 60 AND 31536000),
      moved_receivers text[] NOT NULL DEFAULT '{}',
      time_zone text NOT NULL DEFAULT 'UTC' CHECK (length(time_zone) BETWEEN 1 AND 64),
      -- End of the last week that was summarised; null before the first.
      summary_until timestamptz,
      summary_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`CREATE INDEX merchants_summary ON merchants (summary_at)`

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
      revoked_at timestamptz,
      name text CHECK (length(name) BETWEEN 1 AND 100),
      public_key text,
      CHECK (public_key IS NULL OR kind = 'publishable')
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
      -- Height of the chain when the payment opened, if the process knew it.
      opened_block bigint,
      -- When a settled payment had failed before.
      failed_earlier_at timestamptz,
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
  yield* sql`CREATE INDEX payments_amount ON payments (merchant_id, env, amount, created_at, id)`
  yield* sql`CREATE INDEX payments_failed ON payments (merchant_id, env, failed_at) WHERE status = 'failed'`
  yield* sql`
    CREATE INDEX payments_intent_url ON payments (merchant_id, env, hashtextextended(intent_url, 0), created_at DESC, id DESC)`
  yield* sql`CREATE INDEX payments_newest ON payments (merchant_id, env, created_at DESC, id DESC)`
  yield* sql`
    CREATE INDEX payments_order ON payments (merchant_id, env, left(intent_url, 300) text_pattern_ops)`
  yield* sql`
    CREATE INDEX payments_payer ON payments (merchant_id, env, payer_address)
    WHERE payer_address IS NOT NULL`
  yield* sql`CREATE INDEX payments_pending ON payments (created_at) WHERE status = 'pending'`
  yield* sql`
    CREATE INDEX payments_settled ON payments (merchant_id, env, settled_at) INCLUDE (amount)
    WHERE status = 'settled'`
  yield* sql`
    CREATE INDEX payments_status_newest ON payments (merchant_id, env, status, created_at DESC, id DESC)`
  yield* sql`
    CREATE INDEX payments_transaction ON payments (transaction_id)
    WHERE transaction_id IS NOT NULL`

  // Unverified reports, each with its own evidence. A report reserves nothing.
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
      payer_type text NOT NULL DEFAULT 'human' CHECK (payer_type IN ('human', 'agent')),
      PRIMARY KEY (payment_id, evidence)
    )`
  yield* sql`
    CREATE INDEX payment_reports_due ON payment_reports (next_check_at)
    WHERE next_check_at IS NOT NULL`
  yield* sql`
    CREATE INDEX payment_reports_ended ON payment_reports (reported_at)
    WHERE next_check_at IS NULL`
  yield* sql`
    CREATE INDEX payment_reports_payer ON payment_reports (payer_address)
    WHERE next_check_at IS NOT NULL`
  yield* sql`CREATE INDEX payment_reports_transaction ON payment_reports (transaction_id)`

  // Every USDC transfer to a receiver. A payment claims it or a person explains it; until then it is open.
  yield* sql`
    CREATE TABLE incoming_transfers (
      id uuid PRIMARY KEY,
      chain_id integer NOT NULL,
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      payer bytea NOT NULL CHECK (length(payer) = 20),
      receiver bytea NOT NULL CHECK (length(receiver) = 20),
      amount numeric(78, 0) NOT NULL CHECK (amount > 0),
      ordinal integer NOT NULL CHECK (ordinal >= 0),
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      block_number bigint NOT NULL,
      block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
      block_time timestamptz NOT NULL,
      kind text CHECK (kind IN ('late', 'short', 'over', 'second', 'unknown')),
      payment_id uuid REFERENCES payments (id),
      match_at timestamptz,
      alerted_at timestamptz,
      dropped_at timestamptz,
      handled_at timestamptz,
      handled_by text,
      attached_to uuid REFERENCES payments (id),
      note text CHECK (length(note) <= 2000),
      created_at timestamptz NOT NULL,
      UNIQUE (chain_id, transaction_id, payer, receiver, amount, ordinal),
      CHECK ((handled_at IS NULL) = (handled_by IS NULL)),
      CHECK (attached_to IS NULL OR handled_at IS NOT NULL)
    )`
  yield* sql`CREATE INDEX incoming_transfers_block ON incoming_transfers (chain_id, block_number)`
  yield* sql`
    CREATE INDEX incoming_transfers_newest ON incoming_transfers (merchant_id, env, block_time DESC, id DESC)`
  yield* sql`
    CREATE INDEX incoming_transfers_open ON incoming_transfers (merchant_id, env, block_time DESC, id DESC)
    WHERE payment_id IS NULL AND dropped_at IS NULL`
  yield* sql`
    CREATE INDEX incoming_transfers_payer ON incoming_transfers (payer, receiver, amount)
    WHERE payment_id IS NULL AND dropped_at IS NULL`
  yield* sql`
    CREATE INDEX incoming_transfers_unmatched ON incoming_transfers (match_at)
    WHERE match_at IS NOT NULL`

  yield* sql`
    CREATE TABLE refunds (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      payment_id uuid REFERENCES payments (id),
      transfer_id uuid REFERENCES incoming_transfers (id),
      amount numeric(20, 0) NOT NULL CHECK (amount > 0),
      recipient bytea NOT NULL CHECK (length(recipient) = 20),
      since_block bigint NOT NULL,
      beyond_paid boolean NOT NULL,
      reason text CHECK (length(reason) <= 500),
      created_by text NOT NULL,
      created_at timestamptz NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'proven', 'failed', 'cancelled')),
      took_transfer boolean NOT NULL DEFAULT false,
      transaction_id bytea CHECK (length(transaction_id) = 32),
      named_at timestamptz,
      sender bytea CHECK (length(sender) = 20),
      ordinal integer CHECK (ordinal >= 0),
      block_number bigint,
      block_hash bytea CHECK (length(block_hash) = 32),
      proven_at timestamptz,
      ended_at timestamptz,
      failure_reason text,
      dropped_at timestamptz,
      next_look_at timestamptz,
      created_block bigint,
      CHECK (num_nonnulls(payment_id, transfer_id) = 1),
      CHECK (status <> 'proven' OR num_nonnulls(transaction_id, sender, ordinal, block_number, block_hash, proven_at) = 6)
    )`
  yield* sql`CREATE INDEX refunds_due ON refunds (next_look_at) WHERE next_look_at IS NOT NULL`
  yield* sql`CREATE INDEX refunds_newest ON refunds (merchant_id, env, created_at DESC, id DESC)`
  yield* sql`CREATE INDEX refunds_payment ON refunds (payment_id) WHERE payment_id IS NOT NULL`
  yield* sql`
    CREATE INDEX refunds_proven ON refunds (merchant_id, env, proven_at, id)
    WHERE status = 'proven'`
  yield* sql`CREATE INDEX refunds_transaction ON refunds (transaction_id) WHERE transaction_id IS NOT NULL`
  yield* sql`CREATE INDEX refunds_transfer ON refunds (transfer_id) WHERE transfer_id IS NOT NULL`

  // A Transfer log pays one payment. Its position is counted within its transaction,
  // which survives re-inclusion in another block.
  yield* sql`
    CREATE TABLE claimed_transfers (
      chain_id integer NOT NULL,
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      log_position integer NOT NULL CHECK (log_position >= 0),
      payment_id uuid UNIQUE REFERENCES payments (id),
      block_number bigint NOT NULL,
      block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
      watch_at timestamptz,
      dropped_at timestamptz,
      payer bytea NOT NULL CHECK (length(payer) = 20),
      receiver bytea NOT NULL CHECK (length(receiver) = 20),
      amount numeric(20, 0) NOT NULL,
      ordinal integer NOT NULL CHECK (ordinal >= 0),
      refund_id uuid REFERENCES refunds (id),
      PRIMARY KEY (chain_id, transaction_id, payer, receiver, amount, ordinal),
      CONSTRAINT claimed_transfers_one CHECK (num_nonnulls(payment_id, refund_id) = 1)
    )`
  yield* sql`
    CREATE INDEX claimed_transfers_dropped ON claimed_transfers (payment_id)
    WHERE dropped_at IS NOT NULL`
  yield* sql`
    CREATE INDEX claimed_transfers_watched ON claimed_transfers (watch_at)
    WHERE watch_at IS NOT NULL`

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
      claimed_by uuid,
      feed_position bigint,
      CHECK ((status = 'pending') = (due_at IS NOT NULL)),
      CHECK (status <> 'pending' OR endpoint_id IS NOT NULL)
    )`
  yield* sql`
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at)
    WHERE due_at IS NOT NULL`
  yield* sql`
    CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (merchant_id, env, created_at DESC, id DESC)`
  yield* sql`
    CREATE INDEX webhook_deliveries_payment ON webhook_deliveries (payment_id)
    WHERE payment_id IS NOT NULL`
  yield* sql`
    CREATE INDEX webhook_deliveries_placed ON webhook_deliveries (merchant_id, env, feed_position)
    WHERE feed_position IS NOT NULL`
  yield* sql`
    CREATE INDEX webhook_deliveries_unplaced ON webhook_deliveries (merchant_id, env, created_at, id)
    WHERE feed_position IS NULL`

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
      -- URL and head of the request; the body is the delivery's.
      request_head text,
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
  yield* sql`
    CREATE INDEX faucet_grants_client ON faucet_grants (client_address, created_at)
    WHERE status <> 'returned'`
  yield* sql`
    CREATE INDEX faucet_grants_merchant ON faucet_grants (merchant_id, created_at)
    WHERE status <> 'returned'`
  yield* sql`
    CREATE INDEX faucet_grants_recipient ON faucet_grants (recipient, created_at)
    WHERE status <> 'returned'`

  yield* sql`
    CREATE TABLE users (
      id uuid PRIMARY KEY,
      email text NOT NULL UNIQUE CHECK (email = lower(email) AND length(email) <= 254),
      password_hash text,
      operator boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL,
      locale text NOT NULL DEFAULT 'en' CHECK (locale IN ('en', 'de', 'es', 'fr', 'pt', 'ja', 'zh', 'ar'))
    )`

  yield* sql`
    CREATE TABLE alerts (
      id uuid PRIMARY KEY,
      merchant_id uuid REFERENCES merchants (id),
      env text CHECK (env IN ('test', 'live')),
      kind text NOT NULL,
      subject text NOT NULL,
      message text NOT NULL,
      created_at timestamptz NOT NULL,
      acknowledged_at timestamptz,
      -- For one member; other members have rows of their own.
      user_id uuid REFERENCES users (id),
      notify_at timestamptz DEFAULT now(),
      acknowledged_by text,
      note text CHECK (length(note) <= 500)
    )`
  yield* sql`CREATE INDEX alerts_newest ON alerts (merchant_id, env, created_at DESC)`
  yield* sql`CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE acknowledged_at IS NULL`
  yield* sql`
    CREATE INDEX alerts_open_newest ON alerts (merchant_id, env, created_at DESC)
    WHERE acknowledged_at IS NULL`
  yield* sql`CREATE INDEX alerts_subject ON alerts (kind, subject)`
  yield* sql`CREATE INDEX alerts_to_notify ON alerts (notify_at) WHERE notify_at IS NOT NULL`

  yield* sql`
    CREATE TABLE merchant_members (
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      user_id uuid NOT NULL REFERENCES users (id),
      created_at timestamptz NOT NULL,
      role text NOT NULL CHECK (role IN ('owner', 'developer', 'support', 'read_only')),
      notified_alerts text NOT NULL DEFAULT 'all' CHECK (notified_alerts IN ('all', 'live', 'none')),
      notified_weekly boolean NOT NULL DEFAULT true,
      PRIMARY KEY (merchant_id, user_id)
    )`
  yield* sql`CREATE INDEX merchant_members_user ON merchant_members (user_id)`
  yield* sql`
    CREATE FUNCTION merchant_keeps_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM merchants WHERE id = OLD.merchant_id FOR NO KEY UPDATE;
      IF NOT EXISTS (SELECT FROM merchant_members WHERE merchant_id = OLD.merchant_id AND role = 'owner') THEN
        RAISE EXCEPTION 'A merchant keeps its last owner' USING ERRCODE = 'restrict_violation';
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER merchant_keeps_an_owner AFTER DELETE OR UPDATE OF role, user_id, merchant_id ON merchant_members
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION merchant_keeps_an_owner()`

  // The SHA-256 of a session's token; the token itself is in the browser's cookie alone.
  yield* sql`
    CREATE TABLE sessions (
      hash bytea PRIMARY KEY CHECK (length(hash) = 32),
      user_id uuid NOT NULL REFERENCES users (id),
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      -- When the person last confirmed the password.
      confirmed_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00',
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      user_agent text CHECK (length(user_agent) <= 300),
      address text CHECK (length(address) <= 64),
      seen_at timestamptz
    )`
  yield* sql`CREATE INDEX sessions_expired ON sessions (expires_at)`
  yield* sql`CREATE INDEX sessions_user ON sessions (user_id)`

  // An invitation to a merchant or, with reset_password, a link to set a new password.
  yield* sql`
    CREATE TABLE one_time_links (
      hash bytea PRIMARY KEY CHECK (length(hash) = 32),
      email text NOT NULL,
      merchant_id uuid REFERENCES merchants (id),
      reset_password boolean NOT NULL,
      operator boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      invited_by uuid REFERENCES users (id),
      failures integer NOT NULL DEFAULT 0,
      role text NOT NULL DEFAULT 'owner' CHECK (role IN ('owner', 'developer', 'support', 'read_only'))
    )`
  yield* sql`CREATE INDEX one_time_links_email ON one_time_links (email) WHERE used_at IS NULL`
  yield* sql`CREATE INDEX one_time_links_expired ON one_time_links (expires_at)`
  yield* sql`CREATE INDEX one_time_links_merchant ON one_time_links (merchant_id, created_at)`

  // Each change of the chain's verdict on a report; a bounded number for each payment.
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

  // The wallet's private key is derived from the mnemonic and this index, and stored nowhere.
  yield* sql`
    CREATE TABLE agents (
      id uuid PRIMARY KEY,
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
      wallet_index integer NOT NULL GENERATED ALWAYS AS IDENTITY UNIQUE,
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
      nonce bytea NOT NULL CHECK (length(nonce) = 32),
      transaction_id bytea CHECK (length(transaction_id) = 32),
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      next_look_at timestamptz,
      payment_id uuid,
      UNIQUE (agent_id, request_id)
    )`
  yield* sql`
    CREATE INDEX agent_payments_counted ON agent_payments (agent_id, created_at DESC)
    INCLUDE (amount, status)`
  yield* sql`
    CREATE INDEX agent_payments_due ON agent_payments (next_look_at)
    WHERE next_look_at IS NOT NULL`
  yield* sql`
    CREATE UNIQUE INDEX agent_payments_nonce ON agent_payments (agent_id, nonce)
    WHERE status <> 'expired'`
  yield* sql`
    CREATE INDEX agent_payments_payment ON agent_payments (agent_id, payment_id)
    WHERE payment_id IS NOT NULL`

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
      answered_at timestamptz,
      answered_to text CHECK (length(answered_to) <= 200),
      told_reason text,
      reserves boolean NOT NULL DEFAULT true,
      -- An agent signed over x402, or a person in the checkout.
      payer_type text NOT NULL DEFAULT 'agent' CHECK (payer_type IN ('human', 'agent')),
      UNIQUE (chain_id, asset, payer, nonce),
      CHECK ((status = 'failed') = (error_reason IS NOT NULL)),
      CHECK (status <> 'settled' OR transaction_id IS NOT NULL)
    )`
  yield* sql`
    CREATE INDEX x402_settlements_due ON x402_settlements (next_look_at)
    WHERE next_look_at IS NOT NULL`
  yield* sql`CREATE INDEX x402_settlements_of_payment ON x402_settlements (payment_id)`
  yield* sql`
    CREATE UNIQUE INDEX x402_settlements_reserves ON x402_settlements (payment_id)
    WHERE status <> 'failed' AND reserves`
  yield* sql`
    CREATE INDEX x402_settlements_transaction ON x402_settlements (transaction_id)
    WHERE transaction_id IS NOT NULL`

  // A wallet announces that it is about to pay: one open attempt of a wallet for a payment.
  yield* sql`
    CREATE TABLE payment_attempts (
      id uuid PRIMARY KEY,
      payment_id uuid NOT NULL REFERENCES payments (id) ON DELETE CASCADE,
      payer_address bytea NOT NULL CHECK (length(payer_address) = 20),
      method text NOT NULL CHECK (method IN ('transfer', 'authorization')),
      block_number bigint NOT NULL CHECK (block_number >= 0),
      nonce bigint CHECK (nonce >= 0),
      announced_at timestamptz NOT NULL,
      closed_at timestamptz,
      closed_reason text CHECK (closed_reason IN ('declined', 'nonce_used', 'expired')),
      CHECK ((closed_at IS NULL) = (closed_reason IS NULL))
    )`
  yield* sql`
    CREATE UNIQUE INDEX payment_attempts_open ON payment_attempts (payment_id, payer_address)
    WHERE closed_at IS NULL`
  yield* sql`CREATE INDEX payment_attempts_payer ON payment_attempts (payer_address, announced_at)`
  yield* sql`CREATE INDEX payment_attempts_payment ON payment_attempts (payment_id, announced_at)`

  // Up to which block a chain's transfers have been read, and who reads on until when.
  yield* sql`
    CREATE TABLE chain_cursors (
      chain_id integer PRIMARY KEY,
      block_number bigint NOT NULL,
      block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
      block_time timestamptz NOT NULL,
      lease_id uuid,
      leased_until timestamptz
    )`

  // A signed transaction is stored before it is broadcast, and no signed version is ever
  // forgotten: each may still be the one that a block holds.
  yield* sql`
    CREATE TABLE wallet_transactions (
      wallet bytea NOT NULL CHECK (length(wallet) = 20),
      nonce bigint NOT NULL,
      purpose text NOT NULL CHECK (purpose IN ('settle', 'cancel', 'gas', 'usdc', 'filler')),
      reference uuid NOT NULL,
      merchant_id uuid REFERENCES merchants (id),
      payer bytea CHECK (length(payer) = 20),
      gas bigint NOT NULL,
      versions bytea[] NOT NULL CHECK (cardinality(versions) > 0),
      earlier_ids bytea[] NOT NULL DEFAULT '{}',
      refused_at timestamptz,
      outcome text CHECK (outcome IN ('moved', 'reverted', 'lost', 'filled')),
      transaction_id bytea CHECK (length(transaction_id) = 32),
      block_number bigint,
      created_at timestamptz NOT NULL,
      signed_at timestamptz NOT NULL,
      ended_at timestamptz,
      PRIMARY KEY (wallet, nonce),
      CHECK ((ended_at IS NULL) = (outcome IS NULL))
    )`
  yield* sql`
    CREATE INDEX wallet_transactions_merchant ON wallet_transactions (merchant_id, created_at) INCLUDE (gas, outcome)
    WHERE merchant_id IS NOT NULL`
  yield* sql`
    CREATE UNIQUE INDEX wallet_transactions_once ON wallet_transactions (reference, purpose)
    WHERE ended_at IS NULL AND purpose <> 'filler'`
  yield* sql`
    CREATE INDEX wallet_transactions_open ON wallet_transactions (wallet, nonce)
    WHERE ended_at IS NULL`
  yield* sql`
    CREATE INDEX wallet_transactions_payer ON wallet_transactions (payer, created_at) INCLUDE (gas, outcome)
    WHERE payer IS NOT NULL`
  yield* sql`CREATE INDEX wallet_transactions_reference ON wallet_transactions (reference, created_at DESC)`

  // The payee of an agent's first payment at a host, if its hosts are listed and its payees are not.
  yield* sql`
    CREATE TABLE agent_payees (
      agent_id uuid NOT NULL REFERENCES agents (id),
      host text NOT NULL CHECK (length(host) <= 300),
      pay_to bytea NOT NULL CHECK (length(pay_to) = 20),
      created_at timestamptz NOT NULL,
      PRIMARY KEY (agent_id, host)
    )`

  // An address stays its merchant's after another one replaces it: open payments still name it.
  yield* sql`
    CREATE TABLE merchant_receivers (
      env text NOT NULL CHECK (env IN ('test', 'live')),
      address bytea NOT NULL CHECK (length(address) = 20),
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      since timestamptz NOT NULL,
      -- Since when transfers to the address are read, whoever owns it.
      watched_since timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (env, address)
    )`
  yield* sql`CREATE INDEX merchant_receivers_merchant ON merchant_receivers (merchant_id, env)`

  yield* sql`
    CREATE TABLE webhook_workers (
      id uuid PRIMARY KEY,
      beat bigint NOT NULL,
      beat_at timestamptz NOT NULL DEFAULT now()
    )`

  // The SHA-256 of a browser's token; the token itself is in its cookie alone.
  yield* sql`
    CREATE TABLE known_browsers (
      hash bytea PRIMARY KEY CHECK (length(hash) = 32),
      user_id uuid NOT NULL REFERENCES users (id),
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX known_browsers_expired ON known_browsers (expires_at)`
  yield* sql`CREATE INDEX known_browsers_user ON known_browsers (user_id)`

  // Each entry's hash covers the entry before: a change, removal or insertion shows.
  yield* sql`
    CREATE TABLE audit_entries (
      position bigint NOT NULL,
      merchant_id uuid REFERENCES merchants (id),
      env text CHECK (env IN ('test', 'live')),
      at timestamptz NOT NULL,
      actor_id uuid REFERENCES users (id),
      actor text NOT NULL,
      action text NOT NULL,
      summary text NOT NULL,
      hash bytea NOT NULL CHECK (length(hash) = 32),
      PRIMARY KEY ("position")
    )`
  yield* sql`CREATE INDEX audit_entries_merchant ON audit_entries (merchant_id, "position" DESC)`
  yield* sql`
    CREATE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'Entries of the audit log are neither changed nor removed'
        USING ERRCODE = 'restrict_violation';
    END $$`
  yield* sql`
    CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_stay()`
  // Also in sessions that replay or restore with `session_replication_role`.
  yield* sql`ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay`

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
  yield* sql`CREATE INDEX receiver_changes_due ON receiver_changes (due_at) WHERE ended_at IS NULL`
  yield* sql`
    CREATE UNIQUE INDEX receiver_changes_open ON receiver_changes (merchant_id, env)
    WHERE ended_at IS NULL`

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
  yield* sql`CREATE INDEX mails_ended ON mails (created_at) WHERE due_at IS NULL`

  // The payment for which a nonce was issued: a signature with it pays nothing else.
  yield* sql`
    CREATE TABLE authorization_nonces (
      nonce bytea PRIMARY KEY CHECK (length(nonce) = 32),
      payment_id uuid NOT NULL,
      asked_at timestamptz NOT NULL
    )`

  // Payments whose address was shown to the buyer: a transfer of the amount from anywhere is likely theirs.
  yield* sql`
    CREATE TABLE shown_addresses (
      payment_id uuid PRIMARY KEY,
      shown_at timestamptz NOT NULL
    )`

  // The public part stays as long as receipts are shown; the private part is sealed.
  yield* sql`
    CREATE TABLE receipt_keys (
      kid text PRIMARY KEY,
      public_jwk text NOT NULL,
      private_kid text NOT NULL,
      private_sealed bytea NOT NULL,
      created_at timestamptz NOT NULL
    )`

  yield* sql`
    CREATE TABLE merchant_branding (
      merchant_id uuid PRIMARY KEY REFERENCES merchants (id),
      logo bytea CHECK (length(logo) <= 65536),
      accent_color text CHECK (accent_color ~ '^#[0-9a-f]{6}$'),
      support text CHECK (length(support) <= 200)
    )`

  // A one-time link leads to one payment, whose id it stores.
  yield* sql`
    CREATE TABLE payment_links (
      id text PRIMARY KEY CHECK (length(id) >= 22),
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      publishable_key text NOT NULL,
      description text NOT NULL CHECK (length(description) <= 500),
      amount numeric(20, 0) CHECK (amount > 0),
      least numeric(20, 0),
      most numeric(20, 0),
      once boolean NOT NULL,
      payment_id uuid,
      created_at timestamptz NOT NULL,
      expires_at timestamptz,
      closed_at timestamptz,
      -- An incoming transfer's id.
      rest_of uuid,
      rest_for uuid,
      CHECK (most >= "least"),
      CHECK ((amount IS NULL) = (least IS NOT NULL AND most IS NOT NULL)),
      CONSTRAINT payment_links_least_check CHECK ("least" > 0)
    )`
  yield* sql`
    CREATE INDEX payment_links_newest ON payment_links (merchant_id, env, created_at DESC, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX payment_links_rest ON payment_links (rest_of)
    WHERE rest_of IS NOT NULL AND closed_at IS NULL`
  yield* sql`CREATE INDEX payment_links_rests ON payment_links (rest_of) WHERE rest_of IS NOT NULL`

  yield* sql`
    CREATE TABLE receipts (
      id text PRIMARY KEY CHECK (length(id) >= 22),
      payment_id uuid NOT NULL UNIQUE,
      jws text NOT NULL,
      created_at timestamptz NOT NULL
    )`

  // Every USDC transfer that left a receiver.
  yield* sql`
    CREATE TABLE outgoing_transfers (
      chain_id integer NOT NULL,
      transaction_id bytea NOT NULL CHECK (length(transaction_id) = 32),
      payer bytea NOT NULL CHECK (length(payer) = 20),
      receiver bytea NOT NULL CHECK (length(receiver) = 20),
      amount numeric(78, 0) NOT NULL CHECK (amount > 0),
      ordinal integer NOT NULL CHECK (ordinal >= 0),
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      block_number bigint NOT NULL,
      block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
      block_time timestamptz NOT NULL,
      dropped_at timestamptz,
      PRIMARY KEY (chain_id, transaction_id, payer, receiver, amount, ordinal)
    )`
  yield* sql`CREATE INDEX outgoing_transfers_block ON outgoing_transfers (chain_id, block_number)`
  yield* sql`
    CREATE INDEX outgoing_transfers_newest ON outgoing_transfers (merchant_id, env, block_time, transaction_id)`
  yield* sql`CREATE INDEX outgoing_transfers_receiver ON outgoing_transfers (receiver, amount)`

  // Balances at past blocks, read from the chain once: they do not change.
  yield* sql`
    CREATE TABLE receiver_balances (
      env text NOT NULL CHECK (env IN ('test', 'live')),
      address bytea NOT NULL CHECK (length(address) = 20),
      at timestamptz NOT NULL,
      block_number bigint NOT NULL,
      balance numeric(78, 0) NOT NULL,
      PRIMARY KEY (env, address, at)
    )`

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

  // A challenge is answered once, for one purpose.
  yield* sql`
    CREATE TABLE passkey_challenges (
      challenge text PRIMARY KEY,
      purpose text NOT NULL CHECK (purpose IN ('add', 'sign_in', 'confirm')),
      user_id uuid REFERENCES users (id),
      expires_at timestamptz NOT NULL,
      CHECK ((user_id IS NULL) = (purpose = 'sign_in'))
    )`
  yield* sql`CREATE INDEX passkey_challenges_expired ON passkey_challenges (expires_at)`

  // The secret is sealed. No code as old as the last accepted one is accepted again.
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

  // The address is sealed: for chat services it is a secret.
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
  yield* sql`CREATE INDEX alert_posts_alert ON alert_posts (alert_id)`
  yield* sql`CREATE INDEX alert_posts_due ON alert_posts (due_at) WHERE due_at IS NOT NULL`

  yield* sql`
    CREATE TABLE receipt_mails (
      receipt_id text NOT NULL REFERENCES receipts (id),
      address_hash bytea NOT NULL CHECK (length(address_hash) = 32),
      asked_at timestamptz NOT NULL,
      PRIMARY KEY (receipt_id, address_hash)
    )`

  // The moves of money that 0.1.0 knew.
  yield* sql`
    CREATE FUNCTION payments_move_refused() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE OLD.status END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE NEW.status END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$`
  yield* sql`
    CREATE TRIGGER payments_created AFTER INSERT ON payments
    FOR EACH ROW WHEN (NOT ((NEW.status = 'pending'))) EXECUTE FUNCTION payments_move_refused()`
  yield* sql`
    CREATE TRIGGER payments_moved AFTER UPDATE ON payments
    FOR EACH ROW WHEN (NOT ((OLD.status = NEW.status)
      OR (OLD.status = 'pending' AND NEW.status = 'settled')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'failed' AND NEW.status = 'settled'))) EXECUTE FUNCTION payments_move_refused()`
  yield* sql`
    CREATE TRIGGER payments_deleted AFTER DELETE ON payments
    FOR EACH ROW WHEN (NOT (false)) EXECUTE FUNCTION payments_move_refused()`
  yield* sql`
    CREATE FUNCTION claimed_transfers_move_refused() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$`
  yield* sql`
    CREATE TRIGGER claimed_transfers_created AFTER INSERT ON claimed_transfers
    FOR EACH ROW WHEN (NOT ((CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND NEW.payment_id IS NOT NULL)
      OR (CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND NEW.refund_id IS NOT NULL))) EXECUTE FUNCTION claimed_transfers_move_refused()`
  yield* sql`
    CREATE TRIGGER claimed_transfers_moved AFTER UPDATE ON claimed_transfers
    FOR EACH ROW WHEN (NOT ((CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END AND CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END <> 'held' AND CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END <> 'dropped')
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND (OLD.chain_id, OLD.transaction_id, OLD.payer, OLD.receiver, OLD.amount, OLD.ordinal) = (NEW.chain_id, NEW.transaction_id, NEW.payer, NEW.receiver, NEW.amount, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND (OLD.watch_at IS NOT NULL OR OLD.refund_id IS NOT NULL) AND (OLD.chain_id, OLD.transaction_id, OLD.payer, OLD.receiver, OLD.amount, OLD.ordinal) = (NEW.chain_id, NEW.transaction_id, NEW.payer, NEW.receiver, NEW.amount, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND (OLD.chain_id, OLD.transaction_id, OLD.payer, OLD.receiver, OLD.amount, OLD.ordinal) = (NEW.chain_id, NEW.transaction_id, NEW.payer, NEW.receiver, NEW.amount, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND (OLD.chain_id, OLD.transaction_id, OLD.payer, OLD.receiver, OLD.amount, OLD.ordinal) = (NEW.chain_id, NEW.transaction_id, NEW.payer, NEW.receiver, NEW.amount, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND (OLD.chain_id, OLD.transaction_id, OLD.payer, OLD.receiver, OLD.amount, OLD.ordinal) <> (NEW.chain_id, NEW.transaction_id, NEW.payer, NEW.receiver, NEW.amount, NEW.ordinal)))) EXECUTE FUNCTION claimed_transfers_move_refused()`
  yield* sql`
    CREATE TRIGGER claimed_transfers_deleted AFTER DELETE ON claimed_transfers
    FOR EACH ROW WHEN (NOT ((CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND OLD.refund_id IS NOT NULL))) EXECUTE FUNCTION claimed_transfers_move_refused()`
  yield* sql`
    CREATE FUNCTION incoming_transfers_move_refused() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$`
  yield* sql`
    CREATE TRIGGER incoming_transfers_created AFTER INSERT ON incoming_transfers
    FOR EACH ROW WHEN (NOT ((CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open')
      OR (CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'paid'))) EXECUTE FUNCTION incoming_transfers_move_refused()`
  yield* sql`
    CREATE TRIGGER incoming_transfers_moved AFTER UPDATE ON incoming_transfers
    FOR EACH ROW WHEN (NOT ((CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END)
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'paid')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'attaching')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'attaching' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'paid')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'attaching' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'handled')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'attaching' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'handled')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'handled' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'open')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'paid' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'paid')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'attaching' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'attaching')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'handled' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped')
      OR (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'dropped' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'handled'))) EXECUTE FUNCTION incoming_transfers_move_refused()`
  yield* sql`
    CREATE TRIGGER incoming_transfers_deleted AFTER DELETE ON incoming_transfers
    FOR EACH ROW WHEN (NOT (false)) EXECUTE FUNCTION incoming_transfers_move_refused()`
  yield* sql`
    CREATE FUNCTION refunds_move_refused() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$`
  yield* sql`
    CREATE TRIGGER refunds_created AFTER INSERT ON refunds
    FOR EACH ROW WHEN (NOT ((CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'pending'))) EXECUTE FUNCTION refunds_move_refused()`
  yield* sql`
    CREATE TRIGGER refunds_moved AFTER UPDATE ON refunds
    FOR EACH ROW WHEN (NOT ((CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END)
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'failed')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'cancelled')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'proven' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'dropped')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'failed')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'cancelled'))) EXECUTE FUNCTION refunds_move_refused()`
  yield* sql`
    CREATE TRIGGER refunds_deleted AFTER DELETE ON refunds
    FOR EACH ROW WHEN (NOT (false)) EXECUTE FUNCTION refunds_move_refused()`
  yield* sql`
    CREATE FUNCTION x402_settlements_move_refused() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$`
  yield* sql`
    CREATE TRIGGER x402_settlements_created AFTER INSERT ON x402_settlements
    FOR EACH ROW WHEN (NOT ((CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'reserved'))) EXECUTE FUNCTION x402_settlements_move_refused()`
  yield* sql`
    CREATE TRIGGER x402_settlements_moved AFTER UPDATE ON x402_settlements
    FOR EACH ROW WHEN (NOT ((CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END)
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'reserved' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'released')
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'released' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'reserved')
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'reserved' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'settled')
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'released' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'settled')
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'reserved' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'failed')
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'released' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'failed')
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'failed' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'reserved')
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'settled' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'delivered'))) EXECUTE FUNCTION x402_settlements_move_refused()`
  yield* sql`
    CREATE TRIGGER x402_settlements_deleted AFTER DELETE ON x402_settlements
    FOR EACH ROW WHEN (NOT (false)) EXECUTE FUNCTION x402_settlements_move_refused()`
})
