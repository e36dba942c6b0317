// What the service answers, as plain types: the package's declarations need nothing else. They are the
// contract's own, which test/client/resources.test.ts holds.

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
  /** For the checkout; opens a payment for 5 minutes. */
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
  readonly type: "payment.settled" | "test"
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

/** One movement of tokens; `amountAtomic` in the token's smallest units. */
export interface TokenChange {
  readonly amountAtomic: string
  readonly chainId: number
  readonly receiver: string
  readonly tokenAddress: string
}

/** An event as it is delivered, and what it is about. */
export interface Event {
  readonly event:
    | {
        readonly id: string
        readonly type: "payment.settled"
        readonly livemode: boolean
        readonly transactionId: string
        readonly tokenChanges: ReadonlyArray<TokenChange>
      }
    | { readonly id: string; readonly type: "test"; readonly livemode: boolean }
  /** Null for a `test` event. */
  readonly payment: Payment | null
  /** What became of its delivery so far; `cancelled` where no webhook endpoint was there. */
  readonly delivery: "pending" | "delivered" | "failed" | "cancelled"
  readonly createdAt: string
}
