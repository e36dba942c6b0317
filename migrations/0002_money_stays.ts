// A claim, a settled payment and a proven refund keep their money: nobody hands it to another, or empties their tables.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE OR REPLACE FUNCTION truncation_refused() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: rows of money are not truncated', TG_TABLE_NAME
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$`

  yield* sql`
    CREATE OR REPLACE TRIGGER payments_moved AFTER UPDATE ON payments
    FOR EACH ROW WHEN (NOT ((OLD.status = NEW.status AND OLD.status <> 'settled')
      OR (OLD.status = 'pending' AND NEW.status = 'settled')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'failed' AND NEW.status = 'settled')
      OR (OLD.status = 'settled' AND NEW.status = 'settled' AND ROW(OLD.merchant_id, OLD.env, OLD.amount, OLD.receiver, OLD.payer_address, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.merchant_id, NEW.env, NEW.amount, NEW.receiver, NEW.payer_address, NEW.transaction_id)))) EXECUTE FUNCTION payments_move_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER payments_truncated BEFORE TRUNCATE ON payments
    FOR EACH STATEMENT EXECUTE FUNCTION truncation_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER claimed_transfers_moved AFTER UPDATE ON claimed_transfers
    FOR EACH ROW WHEN (NOT ((CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END AND CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END <> 'held' AND CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END <> 'dropped')
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND ROW(OLD.chain_id, OLD.payer, OLD.receiver, OLD.amount, OLD.payment_id, OLD.refund_id, OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.chain_id, NEW.payer, NEW.receiver, NEW.amount, NEW.payment_id, NEW.refund_id, NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND (OLD.watch_at IS NOT NULL OR OLD.refund_id IS NOT NULL) AND ROW(OLD.chain_id, OLD.payer, OLD.receiver, OLD.amount, OLD.payment_id, OLD.refund_id, OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.chain_id, NEW.payer, NEW.receiver, NEW.amount, NEW.payment_id, NEW.refund_id, NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND ROW(OLD.chain_id, OLD.payer, OLD.receiver, OLD.amount, OLD.payment_id, OLD.refund_id, OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.chain_id, NEW.payer, NEW.receiver, NEW.amount, NEW.payment_id, NEW.refund_id, NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND ROW(OLD.chain_id, OLD.payer, OLD.receiver, OLD.amount, OLD.payment_id, OLD.refund_id, OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.chain_id, NEW.payer, NEW.receiver, NEW.amount, NEW.payment_id, NEW.refund_id, NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND ROW(OLD.chain_id, OLD.payer, OLD.receiver, OLD.amount, OLD.payment_id, OLD.refund_id) IS NOT DISTINCT FROM ROW(NEW.chain_id, NEW.payer, NEW.receiver, NEW.amount, NEW.payment_id, NEW.refund_id) AND OLD.transaction_id <> NEW.transaction_id))) EXECUTE FUNCTION claimed_transfers_move_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER claimed_transfers_truncated BEFORE TRUNCATE ON claimed_transfers
    FOR EACH STATEMENT EXECUTE FUNCTION truncation_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER incoming_transfers_truncated BEFORE TRUNCATE ON incoming_transfers
    FOR EACH STATEMENT EXECUTE FUNCTION truncation_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER refunds_moved AFTER UPDATE ON refunds
    FOR EACH ROW WHEN (NOT ((CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END AND CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END <> 'proven' AND CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END <> 'dropped')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'failed')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'cancelled')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'proven' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven' AND ROW(OLD.merchant_id, OLD.env, OLD.payment_id, OLD.transfer_id, OLD.amount, OLD.recipient, OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.merchant_id, NEW.env, NEW.payment_id, NEW.transfer_id, NEW.amount, NEW.recipient, NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'proven' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'dropped' AND ROW(OLD.merchant_id, OLD.env, OLD.payment_id, OLD.transfer_id, OLD.amount, OLD.recipient, OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.merchant_id, NEW.env, NEW.payment_id, NEW.transfer_id, NEW.amount, NEW.recipient, NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'dropped' AND ROW(OLD.merchant_id, OLD.env, OLD.payment_id, OLD.transfer_id, OLD.amount, OLD.recipient, OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.merchant_id, NEW.env, NEW.payment_id, NEW.transfer_id, NEW.amount, NEW.recipient, NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven' AND ROW(OLD.merchant_id, OLD.env, OLD.payment_id, OLD.transfer_id, OLD.amount, OLD.recipient, OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.merchant_id, NEW.env, NEW.payment_id, NEW.transfer_id, NEW.amount, NEW.recipient, NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'failed')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'cancelled'))) EXECUTE FUNCTION refunds_move_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER refunds_truncated BEFORE TRUNCATE ON refunds
    FOR EACH STATEMENT EXECUTE FUNCTION truncation_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER x402_settlements_truncated BEFORE TRUNCATE ON x402_settlements
    FOR EACH STATEMENT EXECUTE FUNCTION truncation_refused()`
})
