// The service's API for the pages of links.
import type { Env } from "../../../domain/Chain.ts"

export interface Link {
  readonly id: string
  readonly url: string
  readonly merchant: string
  readonly env: Env
  readonly description: string
  readonly amount?: string
  readonly minAmount?: string
  readonly maxAmount?: string
  readonly state: "open" | "paid" | "expired" | "closed"
}

export interface Opened {
  readonly intentToken: string
  readonly publishableKey: string
}

interface OpenedPayment {
  readonly id: string
  readonly amount: string
  readonly status: string
}

export class LinkProblem extends Error {
  readonly code: string
  readonly reason: string | undefined
  constructor(code: string, message: string, reason: string | undefined) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

const call = async <A>(path: string, method: "GET" | "POST", body?: unknown, key?: string): Promise<A> => {
  const answer = await fetch(`/api/v1${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const responseBody = await answer.json()
  if (!answer.ok) {
    const { code, details, message, reason } = responseBody.error
    throw new LinkProblem(code, details?.[0]?.message ?? message, reason)
  }
  return responseBody
}

export const readLink = async (id: string): Promise<Link> =>
  (await call<{ readonly link: Link }>(`/links/${encodeURIComponent(id)}`, "GET")).link

export const openLink = (
  id: string,
  terms: { readonly amount?: string; readonly paymentId?: string }
): Promise<Opened> => call(`/links/${encodeURIComponent(id)}`, "POST", terms)

/** The current state of an opened link's payment. */
export const paymentOf = async ({ intentToken, publishableKey }: Opened): Promise<OpenedPayment> =>
  (await call<{ readonly payment: OpenedPayment }>("/payments", "POST", { intentToken }, publishableKey))
    .payment
