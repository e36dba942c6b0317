// A shop's orders: what the examples share. The order is marked paid and the event's key stored in one
// transaction, and the key is unique: an event that comes twice ships once. So does an order that is paid twice.
import { Database } from "bun:sqlite"
import { idempotencyKey, type WebhookEvent } from "../../src/client/verifyWebhook.ts"

const db = new Database(process.env["SHOP_DB"] ?? ":memory:")
db.run("CREATE TABLE IF NOT EXISTS handled_events (key TEXT PRIMARY KEY)")
db.run(
  "CREATE TABLE IF NOT EXISTS orders (url TEXT PRIMARY KEY, paid INTEGER NOT NULL, shipments INTEGER NOT NULL)"
)
db.run("INSERT INTO orders VALUES ('https://shop.example.com/orders/1042', 0, 0) ON CONFLICT DO NOTHING")

/** Marks the order paid and ships it, once. */
export const fulfilOnce = db.transaction((event: WebhookEvent, orderUrl: string | undefined) => {
  const { changes } = db.run("INSERT INTO handled_events (key) VALUES (?) ON CONFLICT DO NOTHING", [
    idempotencyKey(event)
  ])
  if (changes === 0 || event.type !== "payment.settled") return
  const { changes: shipped } = db.run(
    "UPDATE orders SET paid = 1, shipments = shipments + 1 WHERE url = ? AND paid = 0",
    [orderUrl ?? ""]
  )
  if (shipped === 0) console.error(`${event.transactionId} pays no order, or one that is paid: give it back.`)
})
