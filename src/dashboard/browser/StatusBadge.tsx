// The statuses in the dashboard's lists: a word and a colour for each.
import type { AgentPaymentStatus, AgentStatus } from "../../domain/Agent.ts"
import type { PaymentStatus } from "../../domain/Payment.ts"
import type { RefundStatus } from "../../domain/Refund.ts"
import type { DeliveryStatus } from "../../domain/Webhook.ts"
import type { PaymentState } from "../api/payments/Api.ts"
import { Badge, type Tone } from "./components/Badge.tsx"

type Words<Status extends string> = Readonly<Record<Status, readonly [Tone, string]>>

const paymentStatuses: Words<PaymentStatus> = {
  settled: ["good", "Settled"],
  pending: ["warn", "Pending"],
  failed: ["bad", "Failed"]
}

const payments: Words<PaymentState> = {
  ...paymentStatuses,
  pending: ["warn", "In progress"],
  incomplete: ["neutral", "Not started"],
  partly_refunded: ["info", "Partly refunded"],
  refunded: ["info", "Refunded"]
}

const deliveries: Words<DeliveryStatus> = {
  pending: ["warn", "Pending"],
  delivered: ["good", "Delivered"],
  failed: ["bad", "Failed"],
  cancelled: ["neutral", "Cancelled"]
}

const refunds: Words<RefundStatus> = {
  pending: ["warn", "Pending"],
  proven: ["good", "Confirmed"],
  failed: ["bad", "Failed"],
  cancelled: ["neutral", "Cancelled"]
}

const agents: Words<AgentStatus> = {
  active: ["good", "Active"],
  paused: ["warn", "Paused"],
  revoked: ["neutral", "Revoked"]
}

const agentPayments: Words<AgentPaymentStatus> = {
  reserved: ["info", "Reserved"],
  used: ["good", "Paid"],
  expired: ["neutral", "Expired"],
  released: ["neutral", "Released"]
}

const badge =
  <Status extends string>(words: Words<Status>) =>
  ({ status }: { readonly status: Status }) => {
    const [tone, word] = words[status]
    return <Badge tone={tone}>{word}</Badge>
  }

export const StatusBadge = {
  Payment: badge(payments),
  PaymentStatus: badge(paymentStatuses),
  Refund: badge(refunds),
  Delivery: badge(deliveries),
  Agent: badge(agents),
  AgentPayment: badge(agentPayments)
}
