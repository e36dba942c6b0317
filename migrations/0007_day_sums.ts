// A merchant's days that are over are summed once. Triggers record each later change of what such a day holds.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Margin between the end of a day and its sum, and half of it: no transaction lasts so long. */
const recent = "interval '1 hour'"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const text = sql.literal

  yield* sql`
    CREATE TABLE IF NOT EXISTS day_sums (
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      kind text NOT NULL,
      start_at timestamptz NOT NULL,
      end_at timestamptz NOT NULL,
      figures jsonb NOT NULL,
      PRIMARY KEY (merchant_id, env, kind, start_at, end_at)
    )`
  // Only added to, so that two transactions that change one day never wait for each other.
  yield* sql`
    CREATE TABLE IF NOT EXISTS day_sum_changes (
      merchant_id uuid NOT NULL,
      env text NOT NULL,
      kind text NOT NULL,
      start_at timestamptz NOT NULL,
      end_at timestamptz NOT NULL
    )`
  yield* sql`
    CREATE INDEX IF NOT EXISTS day_sum_changes_day ON day_sum_changes (merchant_id, env, kind, start_at, end_at)`

  // Shared by all that change days; whoever sums takes it exclusively, and so sees every change or precedes it.
  yield* sql`
    CREATE OR REPLACE FUNCTION day_sum_changed(of_merchant uuid, of_env text, of_kind text, VARIADIC instants timestamptz[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(hashtextextended('day sums ' || of_merchant || ' ' || of_env, 0));
      INSERT INTO day_sum_changes (merchant_id, env, kind, start_at, end_at)
      SELECT s.merchant_id, s.env, s.kind, s.start_at, s.end_at FROM day_sums s
      WHERE s.merchant_id = of_merchant AND s.env = of_env AND s.kind = of_kind
        AND EXISTS (SELECT FROM unnest(instants) AS i (at) WHERE i.at >= s.start_at AND i.at < s.end_at)
        AND NOT EXISTS (SELECT FROM day_sum_changes c WHERE c.merchant_id = s.merchant_id AND c.env = s.env
          AND c.kind = s.kind AND c.start_at = s.start_at AND c.end_at = s.end_at);
    END $$`

  const trigger = Effect.fnUntraced(function* (table: string, events: string, when: string, body: string) {
    const name = `${table}_day_${/^\w+/.exec(events)?.[0].toLowerCase()}`
    const row = events.startsWith("DELETE") ? "OLD" : "NEW"
    yield* sql`
      CREATE OR REPLACE FUNCTION ${text(name)}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        ${text(body)}
        RETURN ${text(row)};
      END $$`
    yield* sql`
      CREATE OR REPLACE TRIGGER ${text(name)} AFTER ${text(events)} ON ${text(table)}
      FOR EACH ROW WHEN (${text(when)}) EXECUTE FUNCTION ${text(name)}()`
  })
  const differs = (...columns: ReadonlyArray<string>) => {
    const row = (of: string) => `ROW(${columns.map((column) => `${of}.${column}`).join(", ")})`
    return `${row("OLD")} IS DISTINCT FROM ${row("NEW")}`
  }
  const isOld = (...instants: ReadonlyArray<string>) => `least(${instants.join(", ")}) < now() - ${recent}`

  yield* trigger(
    "payments",
    "UPDATE OF status, created_at, settled_at, failed_at",
    `${differs("status", "created_at", "settled_at", "failed_at")}
      AND ${isOld("OLD.created_at", "OLD.settled_at", "OLD.failed_at", "NEW.created_at", "NEW.settled_at", "NEW.failed_at")}`,
    `PERFORM day_sum_changed(NEW.merchant_id, NEW.env, 'overview', OLD.created_at, OLD.settled_at, OLD.failed_at,
          NEW.created_at, NEW.settled_at, NEW.failed_at);`
  )
  yield* trigger(
    "refunds",
    "UPDATE OF status, proven_at, dropped_at",
    `${differs("status", "proven_at", "dropped_at")} AND ${isOld("OLD.proven_at", "NEW.proven_at")}`,
    "PERFORM day_sum_changed(NEW.merchant_id, NEW.env, 'overview', OLD.proven_at, NEW.proven_at);"
  )
  yield* trigger(
    "webhook_deliveries",
    "UPDATE OF status",
    `${differs("status")} AND ${isOld("OLD.created_at")}`,
    "PERFORM day_sum_changed(NEW.merchant_id, NEW.env, 'overview', NEW.created_at);"
  )

  const moved = (row: string) =>
    `PERFORM day_sum_changed(${row}.merchant_id, ${row}.env, 'transfers', ${row}.block_time);`
  yield* trigger("incoming_transfers", "INSERT", isOld("NEW.block_time"), moved("NEW"))
  yield* trigger(
    "incoming_transfers",
    "UPDATE OF merchant_id, block_time, payment_id, handled_at, attached_to, dropped_at",
    `${differs("merchant_id", "block_time", "payment_id", "handled_at", "attached_to", "dropped_at")}
      AND ${isOld("OLD.block_time", "NEW.block_time")}`,
    `${moved("OLD")} ${moved("NEW")}`
  )
  yield* trigger("outgoing_transfers", "INSERT", isOld("NEW.block_time"), moved("NEW"))
  yield* trigger(
    "outgoing_transfers",
    "UPDATE OF merchant_id, block_time, dropped_at",
    `${differs("merchant_id", "block_time", "dropped_at")} AND ${isOld("OLD.block_time", "NEW.block_time")}`,
    `${moved("OLD")} ${moved("NEW")}`
  )

  // A refund's claim explains an outgoing transfer; a claim that the chain has lost takes its payment out of the sums.
  const outgoing = (row: string) => `
        PERFORM day_sum_changed(t.merchant_id, t.env, 'transfers', t.block_time) FROM outgoing_transfers t
        WHERE t.chain_id = ${row}.chain_id AND t.transaction_id = ${row}.transaction_id AND t.payer = ${row}.payer
          AND t.receiver = ${row}.receiver AND t.amount = ${row}.amount AND t.ordinal = ${row}.ordinal
          AND t.block_time < now() - ${recent};`
  yield* trigger("claimed_transfers", "INSERT", "NEW.refund_id IS NOT NULL", outgoing("NEW"))
  yield* trigger("claimed_transfers", "DELETE", "OLD.refund_id IS NOT NULL", outgoing("OLD"))
  yield* trigger(
    "claimed_transfers",
    "UPDATE",
    `OLD.refund_id IS NOT NULL OR ${differs("dropped_at")}`,
    `IF NEW.refund_id IS NOT NULL THEN ${outgoing("OLD")} ${outgoing("NEW")}
        ELSE
          PERFORM day_sum_changed(p.merchant_id, p.env, 'overview', p.settled_at) FROM payments p
          WHERE p.id = NEW.payment_id AND p.settled_at < now() - ${recent};
        END IF;`
  )
})
