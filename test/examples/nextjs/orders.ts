// A shop's orders, as files. A database would store the event's unique key in the transaction that marks the
// order paid. Here a hard link to a complete file does both at once: it fails if the name exists.
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

/** Writes the file unless it already exists. */
const createOnce = async (folder: string, name: string, value: object): Promise<void> => {
  const directory = join(SHOP_DB, folder)
  await mkdir(directory, { recursive: true })
  const temporary = join(directory, `${crypto.randomUUID()}.tmp`)
  await writeFile(temporary, JSON.stringify(value), { flush: true })
  try {
    await link(temporary, join(directory, `${name}.json`))
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  } finally {
    await rm(temporary)
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

/** True if the payment failed, or nobody opened it for four minutes: a token expires after five. */
const isOver = async (quittance: Quittance, { at, paymentId }: Intent): Promise<boolean> => {
  try {
    return (await quittance.payments.retrieve(paymentId)).status === "failed"
  } catch (error) {
    if (!(error instanceof QuittanceError && error.code === "PAYMENT_NOT_FOUND")) throw error
    return Date.now() - at > 240_000
  }
}

/**
 * The token for the order's page. Each token creates a new payment, so the shop stores the token with the order and
 * reuses it. A replacement token is stored under the id of the payment it replaces.
 */
export const tokenOf = async (quittance: Quittance, url: string, amount: string): Promise<string> => {
  let name = nameOf(url)
  while (true) {
    const intent = await intentAt(name)
    if (intent === undefined) {
      const { intentToken, paymentId } = await quittance.paymentIntents.create({ amount, intentUrl: url })
      await createOnce("intents", name, { intentToken, paymentId, at: Date.now() })
    } else if (await isOver(quittance, intent)) name = intent.paymentId
    else return intent.intentToken
  }
}

/** Marks the order paid once; your shipping process continues from this record. */
export const fulfilOnce = async (event: WebhookEvent, orderUrl: string | undefined): Promise<void> => {
  if (event.type !== "payment.settled") return
  await createOnce("paid", nameOf(idempotencyKey(event)), {
    url: orderUrl,
    transactionId: event.transactionId
  })
}
