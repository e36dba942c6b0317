// Announced attempts to pay, the transfers that reach receivers, and how far each chain has
// been read. A claim names its transfer by what equal transfers of one transaction share
// and its ordinal among them.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

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
  yield* sql`CREATE INDEX payment_attempts_payment ON payment_attempts (payment_id, announced_at)`
  yield* sql`CREATE INDEX payment_attempts_payer ON payment_attempts (payer_address, announced_at)`

  // Height of the chain when the payment opened, as far as the process knew it.
  yield* sql`ALTER TABLE payments ADD COLUMN opened_block bigint`

  // When a payment that settled had failed before.
  yield* sql`ALTER TABLE payments ADD COLUMN failed_earlier_at timestamptz`

  yield* sql`ALTER TABLE claimed_transfers ADD COLUMN payer bytea CHECK (length(payer) = 20)`
  yield* sql`ALTER TABLE claimed_transfers ADD COLUMN receiver bytea CHECK (length(receiver) = 20)`
  yield* sql`ALTER TABLE claimed_transfers ADD COLUMN amount numeric(20, 0)`
  yield* sql`ALTER TABLE claimed_transfers ADD COLUMN ordinal integer CHECK (ordinal >= 0)`
  yield* sql`
    UPDATE claimed_transfers c SET payer = equal.payer_address, receiver = equal.receiver, amount = equal.amount,
      ordinal = equal.ordinal
    FROM (
      SELECT o.payment_id, p.payer_address, p.receiver, p.amount,
        row_number() OVER (
          PARTITION BY o.chain_id, o.transaction_id, p.payer_address, p.receiver, p.amount ORDER BY o.log_position
        ) - 1 AS ordinal
      FROM claimed_transfers o JOIN payments p ON p.id = o.payment_id
    ) equal
    WHERE equal.payment_id = c.payment_id`
  yield* sql`
    ALTER TABLE claimed_transfers
      ALTER COLUMN payer SET NOT NULL, ALTER COLUMN receiver SET NOT NULL,
      ALTER COLUMN amount SET NOT NULL, ALTER COLUMN ordinal SET NOT NULL`
  yield* sql`ALTER TABLE claimed_transfers DROP CONSTRAINT claimed_transfers_pkey`
  yield* sql`
    ALTER TABLE claimed_transfers
    ADD PRIMARY KEY (chain_id, transaction_id, payer, receiver, amount, ordinal)`

  // An instance of the release before writes claims by their position alone. Its report names the payer.
  yield* sql`
    CREATE FUNCTION complete_claimed_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.payer IS NULL THEN
        SELECT r.payer_address INTO NEW.payer FROM payment_reports r
        WHERE r.payment_id = NEW.payment_id AND r.transaction_id = NEW.transaction_id
        ORDER BY r.reported_at DESC LIMIT 1;
        SELECT p.receiver, p.amount INTO NEW.receiver, NEW.amount FROM payments p WHERE p.id = NEW.payment_id;
        SELECT count(*) INTO NEW.ordinal FROM claimed_transfers c
        WHERE c.chain_id = NEW.chain_id AND c.transaction_id = NEW.transaction_id AND c.payer = NEW.payer
          AND c.receiver = NEW.receiver AND c.amount = NEW.amount AND c.log_position <> NEW.log_position;
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    CREATE TRIGGER claimed_transfers_complete BEFORE INSERT ON claimed_transfers
    FOR EACH ROW EXECUTE FUNCTION complete_claimed_transfer()`

  // Every USDC transfer that reached a receiver. It is explained by the payment that claimed it,
  // or by a person; until then it is open.
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
  yield* sql`
    CREATE INDEX incoming_transfers_newest ON incoming_transfers (merchant_id, env, block_time DESC, id DESC)`
  yield* sql`
    CREATE INDEX incoming_transfers_open ON incoming_transfers (merchant_id, env, block_time DESC, id DESC)
    WHERE payment_id IS NULL AND dropped_at IS NULL`
  yield* sql`CREATE INDEX incoming_transfers_unmatched ON incoming_transfers (match_at) WHERE match_at IS NOT NULL`
  yield* sql`CREATE INDEX incoming_transfers_block ON incoming_transfers (chain_id, block_number)`

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
})

export const indexes = {
  payment_reports_ended: "payment_reports (reported_at) WHERE next_check_at IS NULL"
}
