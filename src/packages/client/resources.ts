// The service's responses as plain types, so that the package's declarations need nothing else.
// test/packages/client/resources.test.ts compares them with the contract's types.
import type { WebhookEvent, WebhookTokenChange } from "./verifyWebhook.ts"

export interface Token {
  readonly address: string
  readonly chainId: number
}

/** The payment object. Absent fields are omitted. */
export interface Payment {
  /** Equals the `jti` of the intent token. */
  readonly id: string
  /** Decimal USD. */
  readonly amount: string
  readonly currency: "USD"
  readonly env: "test" | "live"
  readonly livemode: boolean
  readonly status: "pending" | "settled" | "failed"
  /** Reference code for people. */
  readonly refCode: string
  readonly intentUrl: string
  readonly createdAt: string
  readonly payerType: "human" | "agent"
  readonly payerAddress?: string
  readonly reportedAt?: string
  readonly reportedTransactionId?: string
  readonly settledAt?: string
  /** Null on a settled payment, absent on a pending one. */
  readonly failureReason?: "expired" | "unverified" | null
  readonly token: Token
}

/** A signed commitment to an amount. */
export interface PaymentIntent {
  readonly intent: {
    readonly amount: string
    readonly currency: "USD"
    readonly mode: "test" | "live"
    readonly receiver: string
    readonly token: Token
  }
  /** For the checkout. It can open a payment for 5 minutes. */
  readonly intentToken: string
}

export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly env: "test" | "live"
  readonly health: "unverified" | "healthy" | "failing"
  readonly listening: boolean
  readonly secretLast4: string
  readonly lastDeliveredAt: string | null
  readonly verifiedAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

export interface WebhookDelivery {
  /** The event's `id`. */
  readonly id: string
  readonly type: WebhookEvent["type"]
  readonly status: "pending" | "delivered" | "failed" | "cancelled"
  readonly attempts: ReadonlyArray<{
    readonly number: number
    readonly startedAt: string
    readonly durationMs: number | null
    readonly responseStatus?: number
    readonly failure?:
      | "dns"
      | "blocked"
      | "connect"
      | "tls"
      | "timeout"
      | "response"
      | "status"
      | "interrupted"
  }>
  readonly createdAt: string
}

export type TokenChange = WebhookTokenChange

/** An event as it is delivered, with its payment. */
export interface Event {
  readonly event: WebhookEvent
  /** Null for a `test` event. */
  readonly payment: Payment | null
  /** The status of its delivery; `cancelled` if there was no webhook endpoint. */
  readonly delivery: "pending" | "delivered" | "failed" | "cancelled"
  readonly createdAt: string
}

/** A refund, sent from the merchant's wallet. Absent fields are omitted. */
export interface Refund {
  readonly id: string
  /** `pending` until the chain proves the transfer. */
  readonly status: "pending" | "proven" | "failed" | "cancelled"
  readonly paymentId?: string
  readonly incomingTransferId?: string
  /** Decimal USD. */
  readonly amount: string
  readonly currency: "USD"
  readonly env: "test" | "live"
  readonly livemode: boolean
  /** The address that receives the USDC. */
  readonly recipient: string
  readonly reason?: string
  readonly beyondPaid: boolean
  readonly createdAt: string
  readonly transactionId?: string
  /** The address that you sent the refund from, once the refund is proven. */
  readonly sender?: string
  readonly provenAt?: string
  /** The time since which the chain no longer shows the transfer. */
  readonly droppedAt?: string
  readonly failureReason?:
    | "receiver"
    | "amount"
    | "token"
    | "payer"
    | "reverted"
    | "too_old"
    | "declared_changes"
    | "no_transfer"
    | "already_used"
    | "not_found"
    | "expired"
  /** While the refund is pending: an EIP-681 URI of the transfer. */
  readonly uri?: string
  readonly token: Token
}

/** A page on which anyone who has its `url` can pay. Absent fields are omitted. */
export interface PaymentLink {
  readonly id: string
  /** The page that a buyer opens. It is the `intentUrl` of the link's payments. */
  readonly url: string
  /** A printable page with the link's QR code. */
  readonly posterUrl: string
  readonly env: "test" | "live"
  readonly merchant: string
  readonly description: string
  /** Decimal USD. Absent if the buyer chooses an amount between `minAmount` and `maxAmount`. */
  readonly amount?: string
  readonly minAmount?: string
  readonly maxAmount?: string
  readonly currency: "USD"
  /** True if the link can be paid only once. */
  readonly once: boolean
  readonly state: "open" | "paid" | "expired" | "closed"
  readonly createdAt: string
  readonly expiresAt?: string
}

export interface BookSum {
  /** USDC, decimal. */
  readonly amount: string
  readonly count: number
}

/** A transfer that belongs to no payment and no refund. */
export interface BookTransfer {
  readonly at: string
  readonly direction: "in" | "out"
  readonly kind: "unexplained" | "handled" | "other"
  readonly amount: string
  readonly from: string
  readonly to: string
  readonly transactionId: string
  readonly note: string | null
}

/** The transfers to and from the receiving addresses in a period. */
export interface Statement {
  /** Days, for example `2026-01-01`. */
  readonly from: string
  readonly to: string
  readonly timeZone: string
  readonly env: "test" | "live"
  readonly currency: "USDC"
  readonly payments: BookSum
  readonly unexplained: BookSum
  readonly handled: BookSum
  readonly refunds: BookSum
  readonly other: BookSum
  readonly change: string
  readonly until: string | null
  readonly keptSince: string | null
  /** The date of the operator's deny list in force; null if there is none. */
  readonly denyListAt: string | null
  readonly transfers: ReadonlyArray<BookTransfer>
  readonly hasMore: boolean
}

/** Decimal USDC; null if too few nodes know the block. */
export interface StatementBalances {
  readonly opening: string | null
  readonly closing: string | null
  readonly change: string | null
  readonly difference: string | null
}
