// The exports of `@quittance/client`.

export type { BookCalls, BookPeriod, BookStatement } from "./books.ts"
export {
  type MockDelivery,
  type MockQuittance,
  mockQuittance
} from "./mockQuittance.ts"
export type {
  CreatePaymentLink,
  ListPaymentLinks,
  PaymentLinkCalls,
  PaymentLinkList,
  PaymentLinkPage
} from "./paymentLinks.ts"
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
} from "./Quittance.ts"
export {
  QuittanceError,
  type QuittanceErrorCode,
  type QuittanceErrorDetail
} from "./QuittanceError.ts"
export type { CreateRefund, ListRefunds, RefundCalls, RefundList, RefundPage } from "./refunds.ts"
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
} from "./resources.ts"
export type { CallOptions, QuittanceOptions } from "./transport.ts"
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
} from "./verifyWebhook.ts"
