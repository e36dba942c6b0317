// The client library for merchants' servers: typed calls for every merchant endpoint, derived from the one
// contract. It uses only web-standard APIs and has no dependencies.

import { type BookCalls, bookCalls } from "./books.ts"
import { paged, query } from "./paged.ts"
import { type PaymentLinkCalls, paymentLinkCalls } from "./paymentLinks.ts"
import { QuittanceError } from "./QuittanceError.ts"
import { type RefundCalls, refundCalls } from "./refunds.ts"
import type * as resources from "./resources.ts"
import { type CallOptions, makeTransport, type QuittanceOptions } from "./transport.ts"

type Payment = resources.Payment
type Event = resources.Event
type WebhookEndpoint = resources.WebhookEndpoint
type WebhookDelivery = resources.WebhookDelivery

export interface CreatedIntent extends resources.PaymentIntent {
  /** The id that the payment will have, read from the token. */
  readonly paymentId: string
}

export interface CreateIntent {
  /** USD, up to 14 integer and 6 decimal digits: `"10.00"`. */
  readonly amount: string
  /** The order's page at your shop: https, at most 2048 characters. */
  readonly intentUrl: string
}

export interface ListPayments {
  /** 1 to 100 per page. Default: 20. */
  readonly limit?: number
  /** The id of the last payment on the previous page. */
  readonly startingAfter?: string
  /** Only payments that this transaction settled. */
  readonly transactionId?: string
  /** Only payments of the order with exactly this URL. */
  readonly intentUrl?: string
}

export interface ListEvents {
  /** 1 to 100 per page. Default: 20. */
  readonly limit?: number
  /** The id of the last event that you handled. */
  readonly after?: string
}

export interface PaymentPage {
  readonly payments: ReadonlyArray<Payment>
  readonly hasMore: boolean
}

export interface EventPage {
  readonly events: ReadonlyArray<Event>
  readonly hasMore: boolean
}

/** Pages of events. Await it for the first page, or use `for await` for all events, oldest first. */
export interface EventList extends AsyncIterable<Event>, PromiseLike<EventPage> {}

/** Pages of payments. Await it for the first page, or use `for await` for all payments, newest first. */
export interface PaymentList extends AsyncIterable<Payment>, PromiseLike<PaymentPage> {}

const unknownResponse = () =>
  new QuittanceError({
    code: "UNKNOWN_ANSWER",
    status: 200,
    message: "The response is not from Quittance. Check baseUrl and any proxy in front of the service.",
    retryable: false
  })

/** Trusts the service to keep its contract, and rejects only a body that is not even an object. */
const objectOf = <A>(body: unknown): A => {
  if (typeof body === "object" && body !== null) return body as A
  throw unknownResponse()
}

/** The payment's id is the token's `jti`. The service signs the token, so the client only decodes it. */
const paymentIdOf = (intentToken: string): string => {
  try {
    const [, claims = ""] = intentToken.split(".")
    const value: unknown = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/")))
    if (typeof value === "object" && value !== null && "jti" in value && typeof value.jti === "string")
      return value.jti
  } catch {}
  throw unknownResponse()
}

/**
 * @example
 * const quittance = new Quittance({ key: process.env.QUITTANCE_KEY, baseUrl: "https://pay.example.com" })
 * const { intentToken } = await quittance.paymentIntents.create({ amount: "10.00", intentUrl: "https://shop.example.com/orders/1042" })
 */
export class Quittance {
  readonly paymentIntents: {
    /** Signs a commitment to an amount. Needs a full-access key. */
    readonly create: (intent: CreateIntent, options?: CallOptions) => Promise<CreatedIntent>
  }
  readonly payments: {
    readonly retrieve: (id: string, options?: CallOptions) => Promise<Payment>
    readonly list: (filter?: ListPayments, options?: CallOptions) => PaymentList
    /** The payment that a verified webhook reports; null for a `test` event. */
    readonly forEvent: (event: { readonly id: string }, options?: CallOptions) => Promise<Payment | null>
  }
  readonly events: {
    /** The event with its payment. */
    readonly retrieve: (id: string, options?: CallOptions) => Promise<Event>
    /** Events, oldest first. Poll with the id of the last event that you handled as `after`. */
    readonly list: (filter?: ListEvents, options?: CallOptions) => EventList
    /** Delivers an event again, with the same id; resolves after the attempt. Needs a full-access key. */
    readonly resend: (id: string, options?: CallOptions) => Promise<WebhookDelivery>
  }
  /** Exports and statements by period. */
  readonly books: BookCalls
  /** Pages that you create once and share. */
  readonly paymentLinks: PaymentLinkCalls
  /** Refunds: transfers from your wallet that the service verifies on the chain. */
  readonly refunds: RefundCalls
  readonly webhookEndpoint: {
    readonly retrieve: (options?: CallOptions) => Promise<WebhookEndpoint | null>
    /** `signingSecret` is shown only here. */
    readonly create: (
      url: string,
      options?: CallOptions
    ) => Promise<{ readonly endpoint: WebhookEndpoint; readonly signingSecret: string }>
    readonly update: (url: string, options?: CallOptions) => Promise<WebhookEndpoint>
    readonly delete: (options?: CallOptions) => Promise<void>
    /** Sends a signed `test` event; resolves after its first attempt. */
    readonly test: (
      options?: CallOptions
    ) => Promise<{ readonly delivery: WebhookDelivery; readonly endpoint: WebhookEndpoint }>
    /** Creates the endpoint or changes its URL to `url`; only the first creation returns the secret. */
    readonly upsert: (
      url: string,
      options?: CallOptions
    ) => Promise<{ readonly endpoint: WebhookEndpoint; readonly signingSecret?: string }>
  }

  constructor(options: QuittanceOptions) {
    const call = makeTransport(options)
    const endpointPath = "/api/v1/webhook-endpoint"

    this.paymentIntents = {
      create: async ({ amount, intentUrl }, { signal } = {}) => {
        const created = objectOf<resources.PaymentIntent>(
          // This call stores nothing, so it is safe to repeat if the response is lost.
          await call({
            method: "POST",
            path: "/api/v1/payment-intents",
            body: { amount, intentUrl },
            idempotent: true,
            signal
          })
        )
        return { ...created, paymentId: paymentIdOf(created.intentToken) }
      }
    }

    const get = async <A>(path: string, signal: AbortSignal | undefined): Promise<A> =>
      objectOf<A>(await call({ method: "GET", path, idempotent: true, signal }))
    const event = (id: string, signal: AbortSignal | undefined) =>
      get<Event>(`/api/v1/events/${encodeURIComponent(id)}`, signal)

    this.payments = {
      retrieve: async (id, { signal } = {}) =>
        (await get<{ readonly payment: Payment }>(`/api/v1/payments/${encodeURIComponent(id)}`, signal))
          .payment,
      list: ({ startingAfter: first, limit, transactionId, intentUrl } = {}, { signal } = {}) =>
        paged(
          first,
          (startingAfter) =>
            get<PaymentPage>(
              `/api/v1/payments${query({ limit, startingAfter, transactionId, intentUrl })}`,
              signal
            ),
          (page) => page.payments,
          (payment) => payment.id
        ),
      forEvent: async ({ id }, { signal } = {}) => (await event(id, signal)).payment
    }

    this.events = {
      retrieve: (id, { signal } = {}) => event(id, signal),
      list: ({ after: first, limit } = {}, { signal } = {}) =>
        paged(
          first,
          (after) => get<EventPage>(`/api/v1/events${query({ limit, after })}`, signal),
          (page) => page.events,
          ({ event }) => event.id
        ),
      resend: async (id, { signal } = {}) =>
        objectOf<{ readonly delivery: WebhookDelivery }>(
          await call({
            method: "POST",
            path: `/api/v1/events/${encodeURIComponent(id)}/resend`,
            idempotent: false,
            signal
          })
        ).delivery
    }

    this.paymentLinks = paymentLinkCalls(call, objectOf)
    this.refunds = refundCalls(call, objectOf)
    this.books = bookCalls(call, objectOf)

    const update = async (url: string, { signal }: CallOptions = {}) =>
      objectOf<{ readonly endpoint: WebhookEndpoint }>(
        await call({ method: "PATCH", path: endpointPath, body: { url }, idempotent: true, signal })
      ).endpoint
    const create = async (url: string, { signal }: CallOptions = {}) => {
      const { endpoint, secret } = objectOf<{ readonly endpoint: WebhookEndpoint; readonly secret: string }>(
        // Not repeated automatically: if the response is lost, so is the secret in it.
        await call({ method: "POST", path: endpointPath, body: { url }, idempotent: false, signal })
      )
      return { endpoint, signingSecret: secret }
    }

    this.webhookEndpoint = {
      retrieve: async ({ signal } = {}) =>
        objectOf<{ readonly endpoint: WebhookEndpoint | null }>(
          await call({ method: "GET", path: endpointPath, idempotent: true, signal })
        ).endpoint,
      create,
      update,
      delete: async ({ signal } = {}) => {
        await call({ method: "DELETE", path: endpointPath, idempotent: false, signal })
      },
      test: async ({ signal } = {}) =>
        objectOf(await call({ method: "POST", path: `${endpointPath}/test`, idempotent: false, signal })),
      upsert: async (url, options) => {
        try {
          return await create(url, options)
        } catch (error) {
          if (!(error instanceof QuittanceError) || error.code !== "WEBHOOK_ENDPOINT_EXISTS") throw error
          return { endpoint: await update(url, options) }
        }
      }
    }
  }
}
