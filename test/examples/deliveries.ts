// Requests to the examples' shops: a signed delivery twice, and a forgery.
import { expect } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { signTestWebhook, type WebhookEvent } from "../../src/packages/client/verifyWebhook.ts"

export const secret = `whsec_${Buffer.alloc(32, 3).toString("base64")}`
const event: WebhookEvent = {
  id: "01a1fc34-7205-710e-9410-874fee9a4996",
  type: "payment.settled",
  livemode: false,
  transactionId: `0x${"ab".repeat(32)}`,
  tokenChanges: [{ amountAtomic: "10000000", chainId: 84532, receiver: "0x1", tokenAddress: "0x2" }]
}
export const order = {
  paymentId: "01a1fc34-7205-710e-9410-874fee9a4997",
  intentUrl: "https://shop.example.com/orders/1042"
}

/** A second payment of the order: it is not shipped again. */
export const secondPayment = () =>
  signTestWebhook(
    { ...event, id: "01a1fc34-7205-710e-9410-874fee9a4998", transactionId: `0x${"cd".repeat(32)}` },
    secret,
    { order: { ...order, paymentId: "01a1fc34-7205-710e-9410-874fee9a4999" } }
  )

/** An order's page shows one payment, whether requested once or five times at once; returns its token. */
export const oneTokenOf = async (post: (path: string) => Promise<Response>): Promise<string> => {
  const tokens = await Promise.all(
    Array.from({ length: 5 }, async () => (await (await post("/checkout")).json()).intentToken)
  )
  tokens.push((await (await post("/checkout")).json()).intentToken)
  expect(new Set(tokens).size).toBe(1)
  return tokens[0]
}

/** The statuses for a delivery, its repetition and a forgery, from a shop that returns an intent. */
export const statusesOf = async (
  post: (path: string, init?: RequestInit) => Promise<Response>
): Promise<ReadonlyArray<number>> => {
  const intent: unknown = await (await post("/checkout")).json()
  expect(intent).toMatchObject({ intentToken: expect.stringContaining(".") })
  const signed = await signTestWebhook(event, secret, { order })
  const answers = [
    await post("/webhooks/quittance", signed),
    await post("/webhooks/quittance", signed),
    await post("/webhooks/quittance", { ...signed, body: `${signed.body} ` })
  ]
  return answers.map((answer) => answer.status)
}

/** URLs of the orders that the shop for Next.js has marked paid, one for each event. */
export const paidIn = (directory: string): ReadonlyArray<unknown> =>
  readdirSync(join(directory, "paid")).map(
    (name) => JSON.parse(readFileSync(join(directory, "paid", name), "utf8")).url
  )
