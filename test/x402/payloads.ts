// What x402 servers and clients send to the service, in both versions.
import type { X402World } from "./x402World.ts"
import { requirementsV1, requirementsV2 } from "./x402World.ts"

export type Payload = Awaited<ReturnType<X402World["authorize"]>>

/** The body of `verify` and `settle` by version 2; `outer` adds to the payment. */
export const bodyV2 = (
  payload: object,
  amount: bigint,
  changes: Readonly<Record<string, unknown>> = {},
  outer: object = {}
) => ({
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    resource: { url: "https://api.example.com/weather", description: "", mimeType: "" },
    accepted: requirementsV2(amount),
    payload,
    ...outer
  },
  paymentRequirements: requirementsV2(amount, changes)
})

export const bodyV1 = (payload: object, amount: bigint, changes: Readonly<Record<string, unknown>> = {}) => ({
  x402Version: 1,
  paymentPayload: { x402Version: 1, scheme: "exact", network: "base-sepolia", payload },
  paymentRequirements: requirementsV1(amount, changes)
})

/** The header X-PAYMENT with which a payment's x402 address is asked. */
export const headerV1 = (payload: object): Readonly<Record<string, string>> => ({
  "x-payment": Buffer.from(
    JSON.stringify({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload })
  ).toString("base64")
})

/** A pending payment of `usd`, opened from an intent. */
export const openPayment = async (world: X402World, usd: string): Promise<string> => {
  const { body } = await world.call("POST", "/payment-intents", world.keys.test.secret, {
    amount: usd,
    intentUrl: "https://shop.example.com/order/1"
  })
  const opened = await world.call("POST", "/payments", world.keys.test.publishable, {
    intentToken: body.intentToken
  })
  return opened.body.payment.id
}

export const payPath = (world: X402World, id: string) =>
  `/payments/${id}/x402?pk=${world.keys.test.publishable}`

/** Asks until it holds. */
export const until = async (condition: () => Promise<boolean>, millis = 20_000) => {
  const end = Date.now() + millis
  while (Date.now() < end) {
    if (await condition()) return
    await Bun.sleep(100)
  }
  throw new Error("the condition did not come true in time")
}
