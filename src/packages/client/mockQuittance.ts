// An in-memory service for tests of a shop: `new Quittance({ ...mock.options })` calls it, and `mock.settle`
// pays. It knows intents, payments, events and payment links; any other path returns 404.

import { mockLinks } from "./mockLinks.ts"
import {
  atomicOf,
  isAmount,
  isOrderUrl,
  json,
  placeAfter,
  refuse,
  shown,
  unknownCursor
} from "./mockResponses.ts"
import type { Event, Payment } from "./resources.ts"
import { signTestWebhook, type WebhookEvent } from "./verifyWebhook.ts"

/** A signed request, as the shop's webhook endpoint receives it. */
export interface MockDelivery {
  readonly event: WebhookEvent
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface MockQuittance {
  /** Pass these to the constructor of `Quittance`. */
  readonly options: {
    readonly key: string
    readonly baseUrl: string
    readonly fetch: (input: string, init: RequestInit) => Promise<Response>
  }
  /** The secret that signs the deliveries of `settle`. */
  readonly webhookSecret: string
  /** A buyer opens a payment whose intent was created with this mock. */
  readonly open: (paymentId: string) => Payment
  /**
   * A buyer pays. Pass the delivery to the shop's webhook endpoint. If the payment is not open yet, it is
   * opened first; if it is settled already, only its event is delivered again.
   */
  readonly settle: (paymentId: string) => Promise<MockDelivery>
  /** A buyer opens a payment link and pays: `amount`, if the link has no fixed amount. */
  readonly settleLink: (linkId: string, amount?: string) => Promise<MockDelivery>
}

const baseUrl = "https://quittance.mock"
const receiver = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
const token = { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", chainId: 84532 }
const webhookSecret = `whsec_${btoa("\u0001".repeat(32))}`

const base64url = (text: string) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")

const hash = () => `0x${crypto.randomUUID().replaceAll("-", "").repeat(2)}`

const isIntent = (value: unknown): value is { readonly amount: string; readonly intentUrl: string } =>
  typeof value === "object" &&
  value !== null &&
  "amount" in value &&
  isAmount(value.amount) &&
  "intentUrl" in value &&
  isOrderUrl(value.intentUrl)

export const mockQuittance = (): MockQuittance => {
  /** Intents by the ids that their payments will have. */
  const intents = new Map<string, { readonly amount: string; readonly intentUrl: string }>()
  /** Payments that were opened. */
  const payments = new Map<string, Payment>()
  const events: Array<Event> = []
  const links = mockLinks(baseUrl)
  /** Events of settled payments, by payment id. */
  const settledEvents = new Map<string, WebhookEvent>()

  const addIntent = (amount: string, intentUrl: string) => {
    const id = crypto.randomUUID()
    intents.set(id, { amount: shown(amount), intentUrl })
    return id
  }

  /** Opens the payment once; later calls return the same payment. */
  const open = (id: string): Payment => {
    const opened = payments.get(id)
    if (opened !== undefined) return opened
    const intent = intents.get(id)
    if (intent === undefined) throw new Error(`The mock has no payment ${id}: create its intent first.`)
    const { amount, intentUrl } = intent
    const payment: Payment = {
      id,
      amount,
      currency: "USD",
      env: "test",
      livemode: false,
      status: "pending",
      refCode: `PAY-${id.slice(0, 8).toUpperCase()}`,
      intentUrl,
      createdAt: new Date().toISOString(),
      payerType: "human",
      token
    }
    payments.set(id, payment)
    return payment
  }

  const createIntent = (text: string) => {
    const body: unknown = JSON.parse(text)
    if (!isIntent(body)) return refuse(400, "INVALID_REQUEST", "`amount` or `intentUrl` is invalid.")
    const id = addIntent(body.amount, body.intentUrl)
    const amount = shown(body.amount)
    const claims = base64url(JSON.stringify({ jti: id, amount }))
    const intent = { amount, currency: "USD", mode: "test", receiver, token }
    return json(201, { intent, intentToken: `${base64url('{"alg":"none"}')}.${claims}.mock` })
  }

  const page = <A>(rest: ReadonlyArray<A>, limit: string | null) => {
    const size = Number(limit ?? 20)
    return { items: rest.slice(0, size), hasMore: rest.length > size }
  }

  const read = (url: URL): Response => {
    const [, , , collection, id] = url.pathname.split("/")
    const query = url.searchParams
    const limit = query.get("limit")
    if (collection === "payments" && id === undefined) {
      const all = [...payments.values()].reverse()
      const first = placeAfter(
        all.map((payment) => payment.id),
        query.get("startingAfter")
      )
      if (first === undefined) return unknownCursor("startingAfter")
      const matching = all
        .slice(first)
        .filter(({ intentUrl }) => [null, intentUrl].includes(query.get("intentUrl")))
        .filter(({ reportedTransactionId }) =>
          [null, reportedTransactionId].includes(query.get("transactionId"))
        )
      const { items, hasMore } = page(matching, limit)
      return json(200, { payments: items, hasMore })
    }
    if (collection === "events" && id === undefined) {
      const first = placeAfter(
        events.map(({ event }) => event.id),
        query.get("after")
      )
      if (first === undefined) return unknownCursor("after")
      const { items, hasMore } = page(events.slice(first), limit)
      return json(200, { events: items, hasMore })
    }
    const payment = payments.get(id ?? "")
    if (collection === "payments" && payment !== undefined) return json(200, { payment })
    const event = events.find((item) => item.event.id === id)
    if (collection === "events" && event !== undefined) return json(200, event)
    if (collection === "payments") return refuse(404, "PAYMENT_NOT_FOUND", "No such payment.")
    if (collection === "events") return refuse(404, "EVENT_NOT_FOUND", "No such event.")
    return refuse(404, "NOT_FOUND", "The mock has only intents, payments, events and payment links.")
  }

  const settle = async (paymentId: string): Promise<MockDelivery> => {
    const payment = open(paymentId)
    const order = { paymentId, intentUrl: payment.intentUrl }
    const settledEvent = settledEvents.get(paymentId)
    if (settledEvent !== undefined)
      return { event: settledEvent, ...(await signTestWebhook(settledEvent, webhookSecret, { order })) }
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
          amountAtomic: atomicOf(payment.amount).toString(),
          chainId: token.chainId,
          receiver,
          tokenAddress: token.address
        }
      ]
    }
    settledEvents.set(paymentId, event)
    events.push({ event, payment: settled, delivery: "delivered", createdAt: now })
    return { event, ...(await signTestWebhook(event, webhookSecret, { order })) }
  }

  return {
    options: {
      key: "sk_test_mock",
      baseUrl,
      fetch: async (input, init) => {
        const { method = "GET", body } = init
        const url = new URL(input)
        if (method === "POST" && url.pathname === "/api/v1/payment-intents") return createIntent(String(body))
        const aboutLinks = links.answer(method, url, String(body))
        if (aboutLinks !== undefined) return aboutLinks
        return method === "GET" ? read(url) : refuse(404, "NOT_FOUND", "The mock does not do this.")
      }
    },
    webhookSecret,
    open,
    settle,
    settleLink: async (linkId, chosen) => {
      const { amount, intentUrl } = links.pay(linkId, chosen)
      return settle(addIntent(amount, intentUrl))
    }
  }
}
