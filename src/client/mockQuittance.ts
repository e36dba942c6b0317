// A service in memory, for tests of a shop: `new Quittance({ ...mock.options })` talks to it, and `mock.settle`
// pays. It knows intents, payments and events; anything else answers 404.
import type { Event, Payment } from "./resources.ts"
import { signTestWebhook, type WebhookEvent } from "./verifyWebhook.ts"

/** A signed request, as the shop's receiver gets it. */
export interface MockDelivery {
  readonly event: WebhookEvent
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface MockQuittance {
  /** For the constructor of `Quittance`. */
  readonly options: {
    readonly key: string
    readonly baseUrl: string
    readonly fetch: (input: string, init: RequestInit) => Promise<Response>
  }
  /** Signs what `settle` gives. */
  readonly webhookSecret: string
  /** Settles a payment whose intent was created here; give the delivery to the shop's receiver. */
  readonly settle: (paymentId: string) => Promise<MockDelivery>
}

const receiver = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
const token = { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", chainId: 84532 }
const webhookSecret = `whsec_${btoa("\u0001".repeat(32))}`

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } })

const refuse = (status: number, code: string, message: string) =>
  json(status, {
    error: { code, message, requestId: "req_mock", docUrl: `/docs/errors#${code}`, retryable: false }
  })

const base64url = (text: string) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")

const hash = () => `0x${crypto.randomUUID().replaceAll("-", "").repeat(2)}`

const isIntent = (value: unknown): value is { readonly amount: string; readonly intentUrl: string } =>
  typeof value === "object" &&
  value !== null &&
  "amount" in value &&
  typeof value.amount === "string" &&
  /^\d{1,14}(\.\d{1,6})?$/.test(value.amount) &&
  "intentUrl" in value &&
  typeof value.intentUrl === "string" &&
  URL.canParse(value.intentUrl)

const atomicOf = (amount: string) => {
  const [whole = "0", part = ""] = amount.split(".")
  return BigInt(whole + part.padEnd(6, "0")).toString()
}

/** Two decimals at least. */
const shown = (amount: string) => {
  const [whole = "0", part = ""] = amount.split(".")
  return `${BigInt(whole)}.${part.replace(/0+$/, "").padEnd(2, "0")}`
}

export const mockQuittance = (): MockQuittance => {
  const payments = new Map<string, Payment>()
  const events: Array<Event> = []

  const createIntent = (text: string) => {
    const body: unknown = JSON.parse(text)
    if (!isIntent(body)) return refuse(400, "INVALID_REQUEST", "`amount` or `intentUrl` is invalid.")
    const id = crypto.randomUUID()
    const amount = shown(body.amount)
    payments.set(id, {
      id,
      amount,
      currency: "USD",
      env: "test",
      livemode: false,
      status: "pending",
      refCode: `PAY-${id.slice(0, 8).toUpperCase()}`,
      intentUrl: body.intentUrl,
      createdAt: new Date().toISOString(),
      payerType: "human",
      token
    })
    const claims = base64url(JSON.stringify({ jti: id, amount }))
    const intent = { amount, currency: "USD", mode: "test", receiver, token }
    return json(201, { intent, intentToken: `${base64url('{"alg":"none"}')}.${claims}.mock` })
  }

  const page = <A>(all: ReadonlyArray<A>, after: number, limit: string | null) => {
    const rest = all.slice(after + 1)
    const size = Number(limit ?? 20)
    return { items: rest.slice(0, size), hasMore: rest.length > size }
  }

  const read = (url: URL): Response => {
    const [, , , collection, id] = url.pathname.split("/")
    const query = url.searchParams
    const limit = query.get("limit")
    if (collection === "payments" && id === undefined) {
      const all = [...payments.values()]
        .reverse()
        .filter((one) => [null, one.intentUrl].includes(query.get("intentUrl")))
        .filter((one) => [null, one.reportedTransactionId].includes(query.get("transactionId")))
      const { items, hasMore } = page(
        all,
        all.findIndex((one) => one.id === query.get("startingAfter")),
        limit
      )
      return json(200, { payments: items, hasMore })
    }
    if (collection === "events" && id === undefined) {
      const { items, hasMore } = page(
        events,
        events.findIndex((one) => one.event.id === query.get("after")),
        limit
      )
      return json(200, { events: items, hasMore })
    }
    const payment = payments.get(id ?? "")
    if (collection === "payments" && payment !== undefined) return json(200, { payment })
    const event = events.find((one) => one.event.id === id)
    if (collection === "events" && event !== undefined) return json(200, event)
    if (collection === "payments") return refuse(404, "PAYMENT_NOT_FOUND", "No such payment.")
    if (collection === "events") return refuse(404, "EVENT_NOT_FOUND", "No such event.")
    return refuse(404, "NOT_FOUND", "The mock has intents, payments and events alone.")
  }

  const settle = async (paymentId: string): Promise<MockDelivery> => {
    const payment = payments.get(paymentId)
    if (payment === undefined)
      throw new Error(`The mock has no payment ${paymentId}: create its intent first.`)
    const transactionId = hash()
    const now = new Date().toISOString()
    const settled: Payment = {
      ...payment,
      status: "settled",
      payerAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      reportedAt: now,
      reportedTransactionId: transactionId,
      settledAt: now,
      failureReason: null
    }
    payments.set(paymentId, settled)
    const event = {
      id: crypto.randomUUID(),
      type: "payment.settled" as const,
      livemode: false,
      transactionId,
      tokenChanges: [
        {
          amountAtomic: atomicOf(payment.amount),
          chainId: token.chainId,
          receiver,
          tokenAddress: token.address
        }
      ]
    }
    events.push({ event, payment: settled, delivery: "delivered", createdAt: now })
    const order = { paymentId, intentUrl: payment.intentUrl }
    return { event, ...(await signTestWebhook(event, webhookSecret, { order })) }
  }

  return {
    options: {
      key: "sk_test_mock",
      baseUrl: "https://quittance.mock",
      fetch: async (input, init) => {
        const url = new URL(input)
        const isCreate = init.method === "POST" && url.pathname === "/api/v1/payment-intents"
        if (isCreate) return createIntent(String(init.body))
        return init.method === "GET" ? read(url) : refuse(404, "NOT_FOUND", "The mock does not do this.")
      }
    },
    webhookSecret,
    settle
  }
}
