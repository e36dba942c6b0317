// Refunds, which claim the transfers that prove them in the one table that payments claim theirs in, and the
// transfers that leave receiving addresses.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // First: a wait for the busiest table then holds up no other.
  yield* sql`LOCK TABLE claimed_transfers IN ACCESS EXCLUSIVE MODE`
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
      CHECK (num_nonnulls(payment_id, transfer_id) = 1),
      CHECK (status <> 'proven' OR num_nonnulls(transaction_id, sender, ordinal, block_number, block_hash, proven_at) = 6)
    )`
  yield* sql`CREATE INDEX refunds_newest ON refunds (merchant_id, env, created_at DESC, id DESC)`
  yield* sql`CREATE INDEX refunds_payment ON refunds (payment_id) WHERE payment_id IS NOT NULL`
  yield* sql`CREATE INDEX refunds_transfer ON refunds (transfer_id) WHERE transfer_id IS NOT NULL`
  yield* sql`CREATE INDEX refunds_due ON refunds (next_look_at) WHERE next_look_at IS NOT NULL`
  yield* sql`CREATE INDEX refunds_proven ON refunds (merchant_id, env, proven_at, id) WHERE status = 'proven'`
  yield* sql`
    CREATE INDEX refunds_transaction ON refunds (transaction_id) WHERE transaction_id IS NOT NULL`

  // A log pays one payment or proves one refund: both claim it under one key.
  yield* sql`ALTER TABLE claimed_transfers ALTER COLUMN payment_id DROP NOT NULL`
  yield* sql`ALTER TABLE claimed_transfers ADD COLUMN refund_id uuid REFERENCES refunds (id)`
  yield* sql`
    ALTER TABLE claimed_transfers ADD CONSTRAINT claimed_transfers_one
    CHECK (num_nonnulls(payment_id, refund_id) = 1) NOT VALID`

  // Every USDC transfer that left a receiver since this release began to read them.
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
  yield* sql`
    CREATE INDEX outgoing_transfers_newest ON outgoing_transfers (merchant_id, env, block_time, transaction_id)`
  yield* sql`CREATE INDEX outgoing_transfers_block ON outgoing_transfers (chain_id, block_number)`
  yield* sql`CREATE INDEX outgoing_transfers_receiver ON outgoing_transfers (receiver, amount)`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM claimed_transfers WHERE refund_id IS NOT NULL`
  yield* sql`ALTER TABLE claimed_transfers DROP CONSTRAINT claimed_transfers_one`
  yield* sql`ALTER TABLE claimed_transfers DROP COLUMN refund_id`
  yield* sql`ALTER TABLE claimed_transfers ALTER COLUMN payment_id SET NOT NULL`
  yield* sql`DROP TABLE outgoing_transfers`
  yield* sql`DROP TABLE refunds`
})
