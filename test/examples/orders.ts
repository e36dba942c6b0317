// The orders that the example shops share. One transaction marks the order paid and stores the event's unique
// key, so an event that arrives twice, or an order that is paid twice, ships once.
import { Database } from "bun:sqlite"
import type { Quittance } from "../../src/packages/client/Quittance.ts"
import { QuittanceError } from "../../src/packages/client/QuittanceError.ts"
import { idempotencyKey, type WebhookEvent } from "../../src/packages/client/verifyWebhook.ts"

interface Order {
  readonly amount: string
  readonly paid: number
  readonly token: string | null
  readonly payment: string | null
  readonly created_at: number | null
}

const db = new Database(process.env["SHOP_DB"] ?? ":memory:")
db.run("CREATE TABLE IF NOT EXISTS handled_events (key TEXT PRIMARY KEY)")
db.run(
  `CREATE TABLE IF NOT EXISTS orders (url TEXT PRIMARY KEY, amount TEXT NOT NULL, paid INTEGER NOT NULL,
    shipments INTEGER NOT NULL, token TEXT, payment TEXT, created_at INTEGER)`
)
db.run(
  "INSERT INTO orders VALUES ('https://shop.example.com/orders/1042', '10.00', 0, 0, NULL, NULL, NULL) ON CONFLICT DO NOTHING"
)
const orderAt = (url: string) => db.query<Order, [string]>("SELECT * FROM orders WHERE url = ?").get(url)

/** True if the payment failed, or nobody opened it for four minutes: a token expires after five. */
const isOver = async (quittance: Quittance, payment: string, askedAt: number): Promise<boolean> => {
  try {
    return (await quittance.payments.retrieve(payment)).status === "failed"
  } catch (error) {
    if (!(error instanceof QuittanceError && error.code === "PAYMENT_NOT_FOUND")) throw error
    return Date.now() - askedAt > 240_000
  }
}

/**
 * The token for the order's page; undefined once the order is paid. Each token creates a new payment, so the shop
 * stores the token with the order and reuses it.
 */
export const tokenOf = async (quittance: Quittance, url: string): Promise<string | undefined> => {
  const order = orderAt(url)
  if (order === null || order.paid === 1) return undefined
  const { amount, created_at, payment, token } = order
  if (payment !== null && token !== null && !(await isOver(quittance, payment, created_at ?? 0))) return token
  const intent = await quittance.paymentIntents.create({ amount, intentUrl: url })
  // If two requests create a token at once, the first stored token wins.
  db.run("UPDATE orders SET token = ?, payment = ?, created_at = ? WHERE url = ? AND payment IS ?", [
    ...[intent.intentToken, intent.paymentId, Date.now(), url, payment]
  ])
  return orderAt(url)?.token ?? undefined
}

/** Marks the order paid and ships it once. */
export const fulfilOnce = db.transaction((event: WebhookEvent, orderUrl: string | undefined) => {
  const { changes } = db.run("INSERT INTO handled_events (key) VALUES (?) ON CONFLICT DO NOTHING", [
    idempotencyKey(event)
  ])
  if (changes === 0 || event.type !== "payment.settled") return
  const { changes: shipped } = db.run(
    "UPDATE orders SET paid = 1, shipments = shipments + 1 WHERE url = ? AND paid = 0",
    [orderUrl ?? ""]
  )
  if (shipped === 0) console.error(`${event.transactionId} pays no open order: refund it.`)
})
