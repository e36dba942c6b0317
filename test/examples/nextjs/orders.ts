// A shop's orders, as files. In a database the event's key is unique, and stored in the transaction that marks
// the order paid; here a link to a complete file does both at once: it fails where the name is taken.
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { idempotencyKey, type Quittance, QuittanceError, type WebhookEvent } from "@quittance/client"

const { SHOP_DB = "shop-orders" } = process.env
const nameOf = (text: string) => Buffer.from(text).toString("base64url")
const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined)

interface Intent {
  readonly intentToken: string
  readonly paymentId: string
  readonly at: number
}

/** Keeps what nobody has kept under the name yet. */
const keepOnce = async (room: string, name: string, value: object): Promise<void> => {
  const directory = join(SHOP_DB, room)
  await mkdir(directory, { recursive: true })
  const written = join(directory, `${crypto.randomUUID()}.tmp`)
  await writeFile(written, JSON.stringify(value), { flush: true })
  try {
    await link(written, join(directory, `${name}.json`))
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  } finally {
    await rm(written)
  }
}

const intentAt = async (name: string): Promise<Intent | undefined> => {
  try {
    return JSON.parse(await readFile(join(SHOP_DB, "intents", `${name}.json`), "utf8"))
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error
    return undefined
  }
}

/** Nobody has opened it in its five minutes, or its payment has failed. */
const isOver = async (quittance: Quittance, { at, paymentId }: Intent): Promise<boolean> => {
  try {
    return (await quittance.payments.retrieve(paymentId)).status === "failed"
  } catch (error) {
    if (!(error instanceof QuittanceError && error.code === "PAYMENT_NOT_FOUND")) throw error
    return Date.now() - at > 240_000
  }
}

/**
 * The token that the order's page shows. Another token is another payment, so it is kept with the order: a page that
 * is reloaded, or opened twice at once, shows the same one. One that takes the place of another is kept by that one.
 */
export const tokenOf = async (quittance: Quittance, url: string, amount: string): Promise<string> => {
  let name = nameOf(url)
  while (true) {
    const kept = await intentAt(name)
    if (kept === undefined) {
      const { intentToken, paymentId } = await quittance.paymentIntents.create({ amount, intentUrl: url })
      await keepOnce("intents", name, { intentToken, paymentId, at: Date.now() })
    } else if (await isOver(quittance, kept)) name = kept.paymentId
    else return kept.intentToken
  }
}

/** Marks the order paid, once: whoever ships takes it from there. */
export const fulfilOnce = async (event: WebhookEvent, orderUrl: string | undefined): Promise<void> => {
  if (event.type !== "payment.settled") return
  await keepOnce("paid", nameOf(idempotencyKey(event)), { url: orderUrl, transactionId: event.transactionId })
}
