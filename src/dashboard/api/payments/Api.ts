// The contract of the overview and of the payments' pages.

import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { InvalidRequest, PaymentNotFound } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { orUnknown } from "../../../domain/orUnknown.ts"
import { AttemptMethod, FailureReason, PayerType, PaymentStatus } from "../../../domain/Payment.ts"
import { Day } from "../../../domain/Period.ts"
import { everyRole } from "../../../domain/roleSets.ts"
import { VerdictReason } from "../../../domain/VerdictReason.ts"
import { AttemptFailure, DeliveryStatus, EventType } from "../../../domain/Webhook.ts"
import { PaymentView } from "../../../payments/PaymentView.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { RefundsPart } from "../refunds/Api.ts"
import { memberParams } from "../Session.ts"

/** The default number of days of the overview, including today. */
export const overviewDays = 30
/** The most days of one overview. */
export const maxOverviewDays = 366

const Count = Schema.Int
const Sum = Schema.Struct({ count: Count, volume: Schema.String })

/**
 * The status, in more detail. `incomplete`: pending without any announcement, report or signature. Refunds count
 * once they are proven.
 */
export const PaymentState = Schema.Literals([
  ...PaymentStatus.literals,
  "incomplete",
  "partly_refunded",
  "refunded"
])
export type PaymentState = typeof PaymentState.Type

const ListedPayment = Schema.Struct({ payment: PaymentView, state: PaymentState })

export const OverviewPage = Schema.Struct({
  /** Days of the merchant's time zone, both included. */
  period: Schema.Struct({ from: Schema.String, to: Schema.String, timeZone: Schema.String }),
  today: Schema.String,
  /** Oldest first, days without settlements included; sums in decimal USD. */
  days: Schema.Array(
    Schema.Struct({ day: Schema.String, count: Count, volume: Schema.String, refunded: Schema.String })
  ),
  settled: Sum,
  /** By the day of their proof. */
  refunded: Sum,
  /** The payments opened in the period, and the number of them that have settled. */
  conversion: Schema.Struct({ opened: Count, settled: Count }),
  /** From opening to settlement, for the last 200 payments of each day; null if nothing settled. */
  secondsToSettle: Schema.NullOr(Schema.Struct({ median: Count, p95: Count })),
  /** Completed deliveries, for the last 1,000 of each day. */
  webhooks: Schema.Struct({ delivered: Count, failed: Count }),
  /** Pending payments of all time, at most the newest `maxPending`. */
  pending: Count,
  /** Pending payments for which nothing was sent yet. */
  incomplete: Count,
  /** Payments of the period. */
  failed: Count,
  hasWebhookEndpoint: Schema.Boolean,
  latest: Schema.Array(ListedPayment)
})
export type OverviewPage = typeof OverviewPage.Encoded

export const PaymentsPage = Schema.Struct({
  payments: Schema.Array(ListedPayment),
  hasMore: Schema.Boolean,
  /** True if the search text has a form by which payments can be found. */
  understood: Schema.Boolean
})
export type PaymentsPage = typeof PaymentsPage.Encoded

const At = { at: Schema.String }

/** The events of a payment, oldest first. */
export const TimelineEvent = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("opened"), ...At }),
  Schema.Struct({
    kind: Schema.Literal("announced"),
    ...At,
    payer: Schema.String,
    method: AttemptMethod
  }),
  Schema.Struct({
    kind: Schema.Literal("reported"),
    ...At,
    transactionId: Schema.String,
    payer: Schema.String,
    /** `agent`: paid by x402 and submitted by the facilitator; no report was made. */
    payerType: PayerType
  }),
  Schema.Struct({
    kind: Schema.Literal("verdict"),
    ...At,
    transactionId: Schema.String,
    verdict: Schema.toType(orUnknown(VerdictReason)),
    expected: Schema.NullOr(Schema.String),
    actual: Schema.NullOr(Schema.String)
  }),
  Schema.Struct({
    kind: Schema.Literal("settled"),
    ...At,
    transactionId: Schema.String,
    blockNumber: Schema.NullOr(Schema.String),
    logPosition: Schema.NullOr(Schema.Int),
    /** The time at which the payment failed before; null if it was paid in time. */
    failedAt: Schema.NullOr(Schema.String),
    /** The expected values and the values on the chain. */
    checks: Schema.Array(
      Schema.Struct({ field: Schema.String, expected: Schema.String, actual: Schema.String })
    )
  }),
  Schema.Struct({ kind: Schema.Literal("dropped"), ...At }),
  Schema.Struct({
    kind: Schema.Literal("refund"),
    ...At,
    refundId: Uuid,
    step: Schema.Literals(["created", "proven", "failed", "cancelled", "dropped"]),
    amount: Schema.String,
    recipient: Schema.String,
    by: Schema.String,
    note: Schema.NullOr(Schema.String),
    transactionId: Schema.NullOr(Schema.String)
  }),
  Schema.Struct({ kind: Schema.Literal("failed"), ...At, reason: FailureReason }),
  Schema.Struct({
    kind: Schema.Literal("attempt"),
    ...At,
    deliveryId: Uuid,
    type: EventType,
    number: Schema.Int,
    manual: Schema.Boolean,
    durationMs: Schema.NullOr(Schema.Int),
    responseStatus: Schema.NullOr(Schema.Int),
    failure: Schema.NullOr(AttemptFailure)
  })
])
export type TimelineEvent = typeof TimelineEvent.Encoded

export const PaymentDetail = Schema.Struct({
  ...ListedPayment.fields,
  receiver: Schema.String,
  /** The earliest time at which a pending payment without a transfer fails. */
  waitsUntil: Schema.optionalKey(Schema.String),
  /** The receipt of a settled payment. */
  receiptUrl: Schema.NullOr(Schema.String),
  refunds: RefundsPart,
  explorerUrl: Schema.NullOr(Schema.String),
  timeline: Schema.Array(TimelineEvent),
  deliveries: Schema.Array(Schema.Struct({ id: Uuid, type: EventType, status: DeliveryStatus }))
})
export type PaymentDetail = typeof PaymentDetail.Encoded

export class PaymentPagesApi extends memberGroup("paymentPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("overview", "/overview", {
      query: { from: Schema.optionalKey(Day), to: Schema.optionalKey(Day) },
      success: Schema.toEncoded(OverviewPage),
      error: [errorResponse(InvalidRequest)]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("list", "/payments", {
      query: {
        /** `pending` excludes `incomplete`. */
        status: Schema.optionalKey(Schema.Literals([...PaymentStatus.literals, "incomplete"])),
        /** The beginning of a reference code, order URL, payer's address or transaction hash; an amount; or an id. */
        search: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2048))),
        /** Days of the merchant's time zone, both included. */
        from: Schema.optionalKey(Day),
        to: Schema.optionalKey(Day),
        sort: Schema.optionalKey(Schema.Literals(["newest", "oldest", "largest", "smallest"])),
        startingAfter: Schema.optionalKey(Uuid)
      },
      success: Schema.toEncoded(PaymentsPage),
      error: [errorResponse(InvalidRequest)]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/payments/:paymentId", {
      params: { ...memberParams, paymentId: Uuid },
      success: Schema.toEncoded(PaymentDetail),
      error: [errorResponse(PaymentNotFound)]
    })
  )
) {}
