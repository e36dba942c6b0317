// What `@quittance/client` exports.

export type { BookCalls, BookPeriod, BookStatement } from "./client/books.ts"
export {
  type MockDelivery,
  type MockQuittance,
  mockQuittance
} from "./client/mockQuittance.ts"
export type {
  CreatePaymentLink,
  ListPaymentLinks,
  PaymentLinkCalls,
  PaymentLinkList,
  PaymentLinkPage
} from "./client/paymentLinks.ts"
export {
  type CreatedIntent,
  type CreateIntent,
  type EventList,
  type EventPage,
  type ListEvents,
  type ListPayments,
  type PaymentList,
  type PaymentPage,
  Quittance
} from "./client/Quittance.ts"
export {
  QuittanceError,
  type QuittanceErrorCode,
  type QuittanceErrorDetail
} from "./client/QuittanceError.ts"
export type { CreateRefund, ListRefunds, RefundCalls, RefundList, RefundPage } from "./client/refunds.ts"
export type {
  BookSum,
  BookTransfer,
  Event,
  Payment,
  PaymentIntent,
  PaymentLink,
  Refund,
  Statement,
  StatementBalances,
  Token,
  TokenChange,
  WebhookDelivery,
  WebhookEndpoint
} from "./client/resources.ts"
export type { CallOptions, QuittanceOptions } from "./client/transport.ts"
export {
  idempotencyKey,
  signTestWebhook,
  verifyDelivery,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookOrder,
  type WebhookRefusal,
  type WebhookTokenChange,
  WebhookVerificationError
} from "./client/verifyWebhook.ts"
