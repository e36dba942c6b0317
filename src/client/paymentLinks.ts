// Payment links: pages that a merchant makes once and hands out.
import type { PaymentLink } from "./resources.ts"
import type { CallOptions, Transport } from "./transport.ts"

/** With a fixed amount, or with bounds in which the buyer chooses. USD: `"10.00"`. */
export type CreatePaymentLink = (
  | { readonly amount: string }
  | { readonly minAmount: string; readonly maxAmount: string }
) & {
  /** What the buyer pays for, at most 500 characters. */
  readonly description: string
  /** True for a link that is paid once. */
  readonly once?: boolean
  /** ISO 8601 in UTC. */
  readonly expiresAt?: string
}

export interface PaymentLinkCalls {
  /** Needs a full-access key. A creation whose answer was lost is not made again: `list` shows whether it was. */
  readonly create: (link: CreatePaymentLink, options?: CallOptions) => Promise<PaymentLink>
  /** The newest 100, newest first. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<PaymentLink>>
  /** It opens no more payments; those that are open go on. Needs a full-access key. */
  readonly close: (id: string, options?: CallOptions) => Promise<void>
}

export const paymentLinkCalls = (call: Transport, answered: <A>(body: unknown) => A): PaymentLinkCalls => {
  const path = "/api/v1/payment-links"
  return {
    create: async (link, { signal } = {}) =>
      answered<{ readonly link: PaymentLink }>(
        await call({ method: "POST", path, body: link, idempotent: false, signal })
      ).link,
    list: async ({ signal } = {}) =>
      answered<{ readonly links: ReadonlyArray<PaymentLink> }>(
        await call({ method: "GET", path, idempotent: true, signal })
      ).links,
    close: async (id, { signal } = {}) => {
      await call({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}`, idempotent: true, signal })
    }
  }
}
