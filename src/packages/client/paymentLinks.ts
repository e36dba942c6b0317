// Payment links: pages that a merchant makes once and hands out.
import { paged, query } from "./paged.ts"
import type { PaymentLink } from "./resources.ts"
import type { CallOptions, Transport } from "./transport.ts"

/** With a fixed amount, or with bounds in which the buyer chooses. USD: `"10.00"`. */
export type CreatePaymentLink = (
  | { readonly amount: string }
  | { readonly minAmount: string; readonly maxAmount: string }
) & {
  /** The goods or service, at most 500 characters. */
  readonly description: string
  /** True for a link that is paid once. */
  readonly once?: boolean
  /** ISO 8601 in UTC. */
  readonly expiresAt?: string
}

export interface ListPaymentLinks {
  /** 1 to 100 a page; 100 by default. */
  readonly limit?: number
  /** The last link of the page before. */
  readonly startingAfter?: string
}

export interface PaymentLinkPage {
  readonly links: ReadonlyArray<PaymentLink>
  readonly hasMore: boolean
}

/** Pages of links; `for await` goes through all of them, newest first. */
export interface PaymentLinkList extends AsyncIterable<PaymentLink>, PromiseLike<PaymentLinkPage> {}

export interface PaymentLinkCalls {
  /** Needs a full-access key. If the answer is lost, `list` shows whether the link exists. */
  readonly create: (link: CreatePaymentLink, options?: CallOptions) => Promise<PaymentLink>
  readonly list: (filter?: ListPaymentLinks, options?: CallOptions) => PaymentLinkList
  /**
   * It opens no more payments, except for visitors of the last five minutes; payments already open continue.
   * Needs a full-access key.
   */
  readonly close: (id: string, options?: CallOptions) => Promise<void>
}

export const paymentLinkCalls = (call: Transport, answered: <A>(body: unknown) => A): PaymentLinkCalls => {
  const path = "/api/v1/payment-links"
  return {
    create: async (link, { signal } = {}) =>
      answered<{ readonly link: PaymentLink }>(
        await call({ method: "POST", path, body: link, idempotent: false, signal })
      ).link,
    list: ({ limit, startingAfter: first } = {}, { signal } = {}) =>
      paged(
        first,
        async (startingAfter) =>
          answered<PaymentLinkPage>(
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
