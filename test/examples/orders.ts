// A shop's orders: what the examples share. Fulfilment and the event's key go into
// one transaction, and the key is unique: an event that comes twice ships once.
import { Database } from "bun:sqlite"
import { idempotencyKey, type WebhookEvent } from "../../src/client/verifyWebhook.ts"

const db = new Database(process.env["SHOP_DB"] ?? ":memory:")
db.run("CREATE TABLE IF NOT EXISTS handled_events (key TEXT PRIMARY KEY)")
db.run("CREATE TABLE IF NOT EXISTS shipments (transaction_id TEXT NOT NULL, amount_atomic TEXT NOT NULL)")

/** Fulfils the order behind a settled payment, once. */
export const fulfilOnce = db.transaction((event: WebhookEvent) => {
  const { changes } = db.run("INSERT INTO handled_events (key) VALUES (?) ON CONFLICT DO NOTHING", [
    idempotencyKey(event)
  ])
  if (changes === 0 || event.type !== "payment.settled") return
  const amount = event.tokenChanges[0]?.amountAtomic ?? "0"
  db.run("INSERT INTO shipments (transaction_id, amount_atomic) VALUES (?, ?)", [event.transactionId, amount])
})

export const shipments = () => db.query("SELECT transaction_id, amount_atomic FROM shipments").all()
