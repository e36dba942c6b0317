// A shop's orders, as files. In a database the event's key is unique, and stored in the transaction that marks
// the order paid; here a link to a complete file does both at once: it fails where the name is taken.
import { link, mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { idempotencyKey, type WebhookEvent } from "@quittance/client"

const { SHOP_DB = "shop-orders" } = process.env
const nameOf = (text: string) => Buffer.from(text).toString("base64url")

/** Marks the order paid, once: whoever ships takes it from there. */
export const fulfilOnce = async (event: WebhookEvent, orderUrl: string | undefined): Promise<void> => {
  if (event.type !== "payment.settled") return
  await mkdir(SHOP_DB, { recursive: true })
  const written = join(SHOP_DB, `${crypto.randomUUID()}.tmp`)
  await writeFile(written, JSON.stringify({ url: orderUrl, transactionId: event.transactionId }), {
    flush: true
  })
  try {
    await link(written, join(SHOP_DB, `${nameOf(idempotencyKey(event))}.json`))
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
  } finally {
    await rm(written)
  }
}
