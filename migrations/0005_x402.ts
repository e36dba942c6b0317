// Who has had a settlement's success, and what callers are told before the chain decides; one
// outbox for every wallet of the service; payees that agents are held to.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    ALTER TABLE x402_settlements
    ADD COLUMN answered_at timestamptz,
    ADD COLUMN answered_to text CHECK (length(answered_to) <= 200),
    ADD COLUMN told_reason text`
  // What has settled before was answered then.
  yield* sql`
    UPDATE x402_settlements SET answered_at = coalesce(finished_at, created_at) WHERE status = 'settled'`

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
  // The outboxes of earlier releases move here. Their tables stay, and nobody reads them.
  yield* sql`
    INSERT INTO wallet_transactions (wallet, nonce, purpose, reference, gas, versions, earlier_ids, outcome,
      transaction_id, created_at, signed_at, ended_at)
    SELECT wallet, nonce, asset, grant_id, 0, ARRAY[raw], earlier_ids, outcome,
      CASE WHEN mined_at IS NULL THEN NULL ELSE transaction_id END, created_at, created_at, mined_at
    FROM faucet_transactions
    UNION ALL
    SELECT wallet, nonce, purpose, reference, 0, ARRAY[raw], earlier_ids, outcome,
      CASE WHEN mined_at IS NULL THEN NULL ELSE transaction_id END, created_at, created_at, mined_at
    FROM relayer_transactions
    ON CONFLICT (wallet, nonce) DO NOTHING`
  yield* sql`
    CREATE INDEX wallet_transactions_open ON wallet_transactions (wallet, nonce) WHERE ended_at IS NULL`
  yield* sql`
    CREATE UNIQUE INDEX wallet_transactions_once ON wallet_transactions (reference, purpose)
    WHERE ended_at IS NULL AND purpose <> 'filler'`
  yield* sql`
    CREATE INDEX wallet_transactions_reference ON wallet_transactions (reference, created_at DESC)`
  yield* sql`
    CREATE INDEX wallet_transactions_merchant ON wallet_transactions (merchant_id, created_at)
    INCLUDE (gas, outcome) WHERE merchant_id IS NOT NULL`
  yield* sql`
    CREATE INDEX wallet_transactions_payer ON wallet_transactions (payer, created_at)
    INCLUDE (gas, outcome) WHERE payer IS NOT NULL`

  // The nonce of an authorization for a payment of this service follows from the payment: two
  // agents have the same, and one that has expired may be signed again.
  yield* sql`ALTER TABLE agent_payments DROP CONSTRAINT agent_payments_nonce_key`
  yield* sql`ALTER TABLE agent_payments ADD COLUMN payment_id uuid`
  yield* sql`
    CREATE UNIQUE INDEX agent_payments_nonce ON agent_payments (agent_id, nonce) WHERE status <> 'expired'`

  // Whom an agent's first payment at a host has paid, where its hosts are listed and its payees are not.
  yield* sql`
    CREATE TABLE agent_payees (
      agent_id uuid NOT NULL REFERENCES agents (id),
      host text NOT NULL CHECK (length(host) <= 300),
      pay_to bytea NOT NULL CHECK (length(pay_to) = 20),
      created_at timestamptz NOT NULL,
      PRIMARY KEY (agent_id, host)
    )`
})

export const indexes = {
  agent_payments_payment: "agent_payments (agent_id, payment_id) WHERE payment_id IS NOT NULL"
}
