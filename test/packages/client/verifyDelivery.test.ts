// The order of a delivery: signed with the delivery, or refused.
import { describe, expect, test } from "bun:test"
import {
  signTestWebhook,
  verifyDelivery,
  type WebhookEvent
} from "../../../src/packages/client/verifyWebhook.ts"

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const event: WebhookEvent = {
  id: "5f0c3a52-9d1e-8b47-a3c6-20f1d4e8b975",
  type: "payment.settled",
  livemode: false,
  transactionId: `0x${"ab".repeat(32)}`,
  tokenChanges: []
}
const order = {
  paymentId: "01a1fc34-7205-710e-9410-874fee9a4996",
  intentUrl: "https://shop.example.com/orders/1042"
}
const now = 1_795_230_000
const signed = await signTestWebhook(event, secret, { now, order })
const verified = (headers: Readonly<Record<string, string>>, body = signed.body) =>
  verifyDelivery(body, headers, secret, { now })
const without = (...names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(signed.headers).filter(([name]) => !names.includes(name)))
const orderNames = ["quittance-payment-id", "quittance-intent-url", "quittance-order-signature"]

describe("verifyDelivery", () => {
  test("returns the event and the order, from an object and from Headers", async () => {
    expect(await verified(signed.headers)).toEqual({ event, order })
    expect(await verifyDelivery(signed.body, new Headers(signed.headers), [secret], { now })).toEqual({
      event,
      order
    })
    const lists = Object.fromEntries(Object.entries(signed.headers).map(([name, value]) => [name, [value]]))
    expect(await verifyDelivery(signed.body, lists, secret, { now })).toEqual({ event, order })
  })

  test("returns no order if the delivery has none", async () => {
    expect(await verified(without(...orderNames))).toEqual({ event, order: null })
  })

  test("refuses a changed order, another delivery's order, and an order without its signature", async () => {
    const other = await signTestWebhook({ ...event, id: crypto.randomUUID() }, secret, { now, order })
    const earlier = await signTestWebhook(event, secret, { now: now - 1, order })
    const signature = "quittance-order-signature"
    const bad: ReadonlyArray<Readonly<Record<string, string>>> = [
      { ...signed.headers, "quittance-intent-url": "https://shop.example.com/orders/1043" },
      { ...signed.headers, "quittance-payment-id": crypto.randomUUID() },
      { ...signed.headers, [signature]: other.headers[signature] ?? "" },
      { ...signed.headers, [signature]: earlier.headers[signature] ?? "" },
      { ...signed.headers, [signature]: "t=1,v1=00" },
      ...orderNames.map((name) => without(name))
    ]
    for (const headers of bad) expect(verified(headers)).rejects.toMatchObject({ reason: "order_not_signed" })
  })

  test("refuses an empty secret, also next to others", async () => {
    for (const none of ["", [""], [secret, ""]])
      expect(verifyDelivery(signed.body, signed.headers, none, { now })).rejects.toMatchObject({
        reason: "no_secret"
      })
  })

  test("refuses a bad body before it checks the order", async () => {
    expect(verified(signed.headers, `${signed.body} `)).rejects.toMatchObject({ reason: "no_match" })
  })
})
