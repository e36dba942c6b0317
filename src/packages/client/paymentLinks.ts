// Payment links: pages that a merchant creates once and shares.
import { paged, query } from "./paged.ts"
import type { PaymentLink } from "./resources.ts"
import type { CallOptions, Transport } from "./transport.ts"

/** A link with a fixed amount, or with limits between which the buyer chooses. USD: `"10.00"`. */
export type CreatePaymentLink = (
  | { readonly amount: string }
  | { readonly minAmount: string; readonly maxAmount: string }
) & {
  /** The goods or service, at most 500 characters. */
  readonly description: string
  /** True if the link can be paid only once. */
  readonly once?: boolean
  /** ISO 8601 in UTC. */
  readonly expiresAt?: string
}

export interface ListPaymentLinks {
  /** 1 to 100 per page. Default: 100. */
  readonly limit?: number
  /** The id of the last link on the previous page. */
  readonly startingAfter?: string
}

export interface PaymentLinkPage {
  readonly links: ReadonlyArray<PaymentLink>
  readonly hasMore: boolean
}

/** Pages of links. Await it for the first page, or use `for await` for all links, newest first. */
export interface PaymentLinkList extends AsyncIterable<PaymentLink>, PromiseLike<PaymentLinkPage> {}

export interface PaymentLinkCalls {
  /** Needs a full-access key. If the response is lost, `list` shows whether the link exists. */
  readonly create: (link: CreatePaymentLink, options?: CallOptions) => Promise<PaymentLink>
  readonly list: (filter?: ListPaymentLinks, options?: CallOptions) => PaymentLinkList
  /**
   * Closes a link. It opens no more payments, except for visitors of the last five minutes. Payments that are
   * already open continue. Needs a full-access key.
   */
  readonly close: (id: string, options?: CallOptions) => Promise<void>
}

export const paymentLinkCalls = (call: Transport, objectOf: <A>(body: unknown) => A): PaymentLinkCalls => {
  const path = "/api/v1/payment-links"
  return {
    create: async (link, { signal } = {}) =>
      objectOf<{ readonly link: PaymentLink }>(
        await call({ method: "POST", path, body: link, idempotent: false, signal })
      ).link,
    list: ({ limit, startingAfter: first } = {}, { signal } = {}) =>
      paged(
        first,
        async (startingAfter) =>
          objectOf<PaymentLinkPage>(
            await call({
              method: "GET",
              path: `${path}${query({ limit, startingAfter })}`,
              idempotent: true,
              signal
            })
          ),
        (page) => page.links,
        (link) => link.id
      ),
    close: async (id, { signal } = {}) => {
      await call({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}`, idempotent: true, signal })
    }
  }
}
