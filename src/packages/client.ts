// What `@quittance/client` exports.
export {
  type MockDelivery,
  type MockQuittance,
  mockQuittance
} from "../client/mockQuittance.ts"
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
} from "../client/Quittance.ts"
export {
  QuittanceError,
  type QuittanceErrorCode,
  type QuittanceErrorDetail
} from "../client/QuittanceError.ts"
export type {
  Event,
  Payment,
  PaymentIntent,
  Token,
  TokenChange,
  WebhookDelivery,
  WebhookEndpoint
} from "../client/resources.ts"
export type { CallOptions, QuittanceOptions } from "../client/transport.ts"
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
} from "../client/verifyWebhook.ts"
