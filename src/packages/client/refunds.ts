// Refunds: transfers from a merchant's wallet, which the service verifies on the chain.
import { paged, query } from "./paged.ts"
import type { Refund } from "./resources.ts"
import type { CallOptions, Transport } from "./transport.ts"

/** A refund of a payment or of an incoming transfer. */
export type CreateRefund = ({ readonly paymentId: string } | { readonly incomingTransferId: string }) & {
  /** Amount in USD. Default: the refundable amount. */
  readonly amount?: string
  /** The address that receives the refund. Default: the payer. */
  readonly recipient?: string
  /** The hash of the transaction that sent the refund. Without it, the service finds your transfer. */
  readonly transactionId?: string
  readonly reason?: string
  /** True to refund more than was paid. */
  readonly beyondPaid?: boolean
  /** Your id for the refund, a UUID. Sending it again returns the same refund. */
  readonly id?: string
}

export interface ListRefunds {
  /** 1 to 100 per page. Default: 20. */
  readonly limit?: number
  /** The id of the last refund on the previous page. */
  readonly startingAfter?: string
  readonly paymentId?: string
}

export interface RefundPage {
  readonly refunds: ReadonlyArray<Refund>
  readonly hasMore: boolean
}

/** Pages of refunds. Await it for the first page, or use `for await` for all refunds, newest first. */
export interface RefundList extends AsyncIterable<Refund>, PromiseLike<RefundPage> {}

export interface RefundCalls {
  /** Needs a full-access key. Every try sends the same `id`, so retries never create a second refund. */
  readonly create: (refund: CreateRefund, options?: CallOptions) => Promise<Refund>
  readonly retrieve: (id: string, options?: CallOptions) => Promise<Refund>
  readonly list: (filter?: ListRefunds, options?: CallOptions) => RefundList
  /** Reports the transaction of a pending refund. */
  readonly report: (id: string, transactionId: string, options?: CallOptions) => Promise<Refund>
  readonly cancel: (id: string, options?: CallOptions) => Promise<Refund>
}

export const refundCalls = (call: Transport, objectOf: <A>(body: unknown) => A): RefundCalls => {
  const path = (id: string, rest = "") => `/api/v1/refunds/${encodeURIComponent(id)}${rest}`
  const refundOf = (body: unknown) => objectOf<{ readonly refund: Refund }>(body).refund
  const post = async (at: string, body: unknown, { signal }: CallOptions = {}) =>
    refundOf(
      await call({
        method: "POST",
        path: at,
        ...(body === undefined ? {} : { body }),
        idempotent: true,
        signal
      })
    )
  return {
    create: (refund, options) =>
      post("/api/v1/refunds", { ...refund, id: refund.id ?? crypto.randomUUID() }, options),
    retrieve: async (id, { signal } = {}) =>
      refundOf(await call({ method: "GET", path: path(id), idempotent: true, signal })),
    list: ({ limit, paymentId, startingAfter: first } = {}, { signal } = {}) =>
      paged(
        first,
        async (startingAfter) =>
          objectOf<RefundPage>(
            await call({
              method: "GET",
              path: `/api/v1/refunds${query({ limit, startingAfter, paymentId })}`,
              idempotent: true,
              signal
            })
          ),
        (page) => page.refunds,
        (refund) => refund.id
      ),
    report: (id, transactionId, options) => post(path(id, "/transaction"), { transactionId }, options),
    cancel: (id, options) => post(path(id, "/cancel"), undefined, options)
  }
}
