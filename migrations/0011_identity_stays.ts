// No update of a row of money changes whose it is, how much or what for, nor the transaction of money that has moved.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE OR REPLACE TRIGGER payments_moved AFTER UPDATE ON payments
    FOR EACH ROW WHEN (NOT (ROW(OLD.id, OLD.merchant_id, OLD.env, OLD.amount, OLD.receiver, OLD.ref_code, OLD.intent_url) IS NOT DISTINCT FROM ROW(NEW.id, NEW.merchant_id, NEW.env, NEW.amount, NEW.receiver, NEW.ref_code, NEW.intent_url) AND (
      (OLD.status = NEW.status AND OLD.status <> 'settled')
      OR (OLD.status = 'pending' AND NEW.status = 'settled')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'pending' AND NEW.status = 'failed')
      OR (OLD.status = 'failed' AND NEW.status = 'settled')
      OR (OLD.status = 'settled' AND NEW.status = 'settled' AND ROW(OLD.payer_address, OLD.transaction_id, OLD.token_changes) IS NOT DISTINCT FROM ROW(NEW.payer_address, NEW.transaction_id, NEW.token_changes))))) EXECUTE FUNCTION payments_move_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER claimed_transfers_moved AFTER UPDATE ON claimed_transfers
    FOR EACH ROW WHEN (NOT (ROW(OLD.chain_id, OLD.payer, OLD.receiver, OLD.amount, OLD.payment_id, OLD.refund_id) IS NOT DISTINCT FROM ROW(NEW.chain_id, NEW.payer, NEW.receiver, NEW.amount, NEW.payment_id, NEW.refund_id) AND (
      (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END AND CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END <> 'held' AND CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END <> 'dropped')
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND ROW(OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND (OLD.watch_at IS NOT NULL OR OLD.refund_id IS NOT NULL) AND ROW(OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND ROW(OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND ROW(OLD.transaction_id, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.transaction_id, NEW.ordinal))
      OR (CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'dropped' AND CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END = 'held' AND OLD.transaction_id <> NEW.transaction_id)))) EXECUTE FUNCTION claimed_transfers_move_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER incoming_transfers_moved AFTER UPDATE ON incoming_transfers
    FOR EACH ROW WHEN (NOT (ROW(OLD.id, OLD.env, OLD.chain_id, OLD.transaction_id, OLD.payer, OLD.receiver, OLD.amount, OLD.ordinal) IS NOT DISTINCT FROM ROW(NEW.id, NEW.env, NEW.chain_id, NEW.transaction_id, NEW.payer, NEW.receiver, NEW.amount, NEW.ordinal) AND (
      (CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END AND CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END <> 'paid')
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
      ELSE 'open' END = 'paid' AND CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END = 'paid' AND ROW(OLD.payment_id) IS NOT DISTINCT FROM ROW(NEW.payment_id))
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
      ELSE 'open' END = 'handled')))) EXECUTE FUNCTION incoming_transfers_move_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER refunds_moved AFTER UPDATE ON refunds
    FOR EACH ROW WHEN (NOT (ROW(OLD.id, OLD.merchant_id, OLD.env, OLD.payment_id, OLD.transfer_id, OLD.amount, OLD.recipient) IS NOT DISTINCT FROM ROW(NEW.id, NEW.merchant_id, NEW.env, NEW.payment_id, NEW.transfer_id, NEW.amount, NEW.recipient) AND (
      (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END AND CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END <> 'proven' AND CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END <> 'dropped')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'failed')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'pending' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'cancelled')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'proven' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven' AND ROW(OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'proven' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'dropped' AND ROW(OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'dropped' AND ROW(OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'proven' AND ROW(OLD.sender, OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.sender, NEW.transaction_id))
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'failed')
      OR (CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END = 'dropped' AND CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END = 'cancelled')))) EXECUTE FUNCTION refunds_move_refused()`

  yield* sql`
    CREATE OR REPLACE TRIGGER x402_settlements_moved AFTER UPDATE ON x402_settlements
    FOR EACH ROW WHEN (NOT (ROW(OLD.id, OLD.merchant_id, OLD.env, OLD.payment_id, OLD.chain_id, OLD.asset, OLD.payer, OLD.nonce, OLD.receiver, OLD.amount) IS NOT DISTINCT FROM ROW(NEW.id, NEW.merchant_id, NEW.env, NEW.payment_id, NEW.chain_id, NEW.asset, NEW.payer, NEW.nonce, NEW.receiver, NEW.amount) AND (
      (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END AND CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END <> 'settled' AND CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END <> 'delivered')
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
      ELSE NEW.status END = 'settled' AND ROW(OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.transaction_id))
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'settled' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'delivered' AND ROW(OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.transaction_id))
      OR (CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END = 'delivered' AND CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END = 'delivered' AND ROW(OLD.transaction_id) IS NOT DISTINCT FROM ROW(NEW.transaction_id))))) EXECUTE FUNCTION x402_settlements_move_refused()`
})
