// Refunds: what a merchant's wallet sends back, and what the service has proven of it.
import { paged, query } from "./paged.ts"
import type { Refund } from "./resources.ts"
import type { CallOptions, Transport } from "./transport.ts"

/** A refund of a payment or of an incoming transfer. */
export type CreateRefund = ({ readonly paymentId: string } | { readonly incomingTransferId: string }) & {
  /** USD; all that is left, where absent. */
  readonly amount?: string
  /** The payer, where absent. */
  readonly recipient?: string
  /** The hash of the transaction that sent the refund. Without it, the service finds your transfer. */
  readonly transactionId?: string
  readonly reason?: string
  /** True to refund more than was paid. */
  readonly beyondPaid?: boolean
  /** Your id of the refund, a UUID: sent again, it is the same refund. */
  readonly id?: string
}

export interface ListRefunds {
  /** 1 to 100 a page; 20 by default. */
  readonly limit?: number
  /** The last refund of the page before. */
  readonly startingAfter?: string
  readonly paymentId?: string
}

export interface RefundPage {
  readonly refunds: ReadonlyArray<Refund>
  readonly hasMore: boolean
}

/** Pages of refunds; `for await` goes through all of them, newest first. */
export interface RefundList extends AsyncIterable<Refund>, PromiseLike<RefundPage> {}

export interface RefundCalls {
  /** Needs a full-access key. The same `id` is given to every try, so that a lost answer makes no second refund. */
  readonly create: (refund: CreateRefund, options?: CallOptions) => Promise<Refund>
  readonly retrieve: (id: string, options?: CallOptions) => Promise<Refund>
  readonly list: (filter?: ListRefunds, options?: CallOptions) => RefundList
  /** Names the transaction of a pending refund. */
  readonly report: (id: string, transactionId: string, options?: CallOptions) => Promise<Refund>
  readonly cancel: (id: string, options?: CallOptions) => Promise<Refund>
}

export const refundCalls = (call: Transport, answered: <A>(body: unknown) => A): RefundCalls => {
  const path = (id: string, rest = "") => `/api/v1/refunds/${encodeURIComponent(id)}${rest}`
  const refundOf = (body: unknown) => answered<{ readonly refund: Refund }>(body).refund
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
          answered<RefundPage>(
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
