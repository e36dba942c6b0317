// One tagged error for each code of the catalogue. Every one carries the same
// fields, which are exactly what the envelope shows; nothing internal goes in.
import { Data } from "effect"
import { type ErrorCode, errorCodes } from "./ErrorCode.ts"

export interface ErrorDetail {
  /** Where: `body.amount`, `query.limit`, or a field of the payment. */
  readonly path: string
  readonly message: string
  readonly expected?: string
  readonly actual?: string
}

export interface ErrorFields {
  /** Replaces the code's summary where the case allows a more exact instruction. */
  readonly message?: string
  readonly reason?: string
  readonly details?: ReadonlyArray<ErrorDetail>
  /** Whole seconds, for the `retry-after` header. */
  readonly retryAfter?: number
}

/** What the HTTP layer needs of any expected failure. */
export interface CodedError extends ErrorFields {
  readonly _tag: string
  readonly code: ErrorCode
  readonly message: string
}

const define = <const Tag extends string, const Code extends ErrorCode>(tag: Tag, code: Code) => {
  class CodedTaggedError extends Data.TaggedError(tag)<ErrorFields> {
    static readonly code = code
    readonly code = code
    constructor(fields: ErrorFields = {}) {
      super({ ...fields, message: fields.message ?? errorCodes[code].summary })
    }
  }
  return CodedTaggedError
}

export class InvalidRequest extends define("InvalidRequest", "INVALID_REQUEST") {}
export class InvalidJson extends define("InvalidJson", "INVALID_JSON") {}
export class InvalidWebhookUrl extends define("InvalidWebhookUrl", "INVALID_WEBHOOK_URL") {}
export class InvalidIntentToken extends define("InvalidIntentToken", "INVALID_INTENT_TOKEN") {}
export class IntentTokenExpired extends define("IntentTokenExpired", "INTENT_TOKEN_EXPIRED") {}
export class IdempotencyKeyNotAccepted extends define(
  "IdempotencyKeyNotAccepted",
  "IDEMPOTENCY_KEY_NOT_ACCEPTED"
) {}
export class InvalidApiKey extends define("InvalidApiKey", "INVALID_API_KEY") {}
export class InvalidBuyerToken extends define("InvalidBuyerToken", "INVALID_BUYER_TOKEN") {}
export class KeyKindNotAllowed extends define("KeyKindNotAllowed", "KEY_KIND_NOT_ALLOWED") {}
export class ManagePermissionRequired extends define(
  "ManagePermissionRequired",
  "MANAGE_PERMISSION_REQUIRED"
) {}
export class EnvironmentMismatch extends define("EnvironmentMismatch", "ENVIRONMENT_MISMATCH") {}
export class PlaygroundTestnetOnly extends define("PlaygroundTestnetOnly", "PLAYGROUND_TESTNET_ONLY") {}
export class LiveModeNoTestFunds extends define("LiveModeNoTestFunds", "LIVE_MODE_NO_TEST_FUNDS") {}
export class IntentTokenKeyMismatch extends define("IntentTokenKeyMismatch", "INTENT_TOKEN_KEY_MISMATCH") {}
export class AgentCapExceeded extends define("AgentCapExceeded", "AGENT_CAP_EXCEEDED") {}
export class AgentPaused extends define("AgentPaused", "AGENT_PAUSED") {}
export class AgentHostNotAllowed extends define("AgentHostNotAllowed", "AGENT_HOST_NOT_ALLOWED") {}
export class AgentPayeeNotAllowed extends define("AgentPayeeNotAllowed", "AGENT_PAYEE_NOT_ALLOWED") {}
export class LiveModeGated extends define("LiveModeGated", "LIVE_MODE_GATED") {}
export class AgentPaymentNotFound extends define("AgentPaymentNotFound", "AGENT_PAYMENT_NOT_FOUND") {}
export class AgentRequestConflict extends define("AgentRequestConflict", "AGENT_REQUEST_CONFLICT") {}
export class X402RequirementsUnsupported extends define(
  "X402RequirementsUnsupported",
  "X402_REQUIREMENTS_UNSUPPORTED"
) {}
export class AgentsNotConfigured extends define("AgentsNotConfigured", "AGENTS_NOT_CONFIGURED") {}
export class EventNotFound extends define("EventNotFound", "EVENT_NOT_FOUND") {}
export class PaymentNotFound extends define("PaymentNotFound", "PAYMENT_NOT_FOUND") {}
export class WebhookEndpointNotFound extends define(
  "WebhookEndpointNotFound",
  "WEBHOOK_ENDPOINT_NOT_FOUND"
) {}
export class SignInRequired extends define("SignInRequired", "SIGN_IN_REQUIRED") {}
export class SignInFailed extends define("SignInFailed", "SIGN_IN_FAILED") {}
export class PasswordRequired extends define("PasswordRequired", "PASSWORD_REQUIRED") {}
export class SecondFactorRequired extends define("SecondFactorRequired", "SECOND_FACTOR_REQUIRED") {}
export class SecondFactorFailed extends define("SecondFactorFailed", "SECOND_FACTOR_FAILED") {}
export class SecondFactorActive extends define("SecondFactorActive", "SECOND_FACTOR_ACTIVE") {}
export class PasskeyFailed extends define("PasskeyFailed", "PASSKEY_FAILED") {}
export class SignUpClosed extends define("SignUpClosed", "SIGN_UP_CLOSED") {}
export class EmailTaken extends define("EmailTaken", "EMAIL_TAKEN") {}
export class OneTimeLinkInvalid extends define("OneTimeLinkInvalid", "ONE_TIME_LINK_INVALID") {}
export class CrossOriginRefused extends define("CrossOriginRefused", "CROSS_ORIGIN_REFUSED") {}
export class OperatorOnly extends define("OperatorOnly", "OPERATOR_ONLY") {}
export class ReceiverTaken extends define("ReceiverTaken", "RECEIVER_TAKEN") {}
export class AlertHookLimit extends define("AlertHookLimit", "ALERT_HOOK_LIMIT") {}
export class ChangedMeanwhile extends define("ChangedMeanwhile", "CHANGED_MEANWHILE") {}
export class LastOwner extends define("LastOwner", "LAST_OWNER") {}
export class RoleRequired extends define("RoleRequired", "ROLE_REQUIRED") {}
export class DeliveryPending extends define("DeliveryPending", "DELIVERY_PENDING") {}
export class NotFound extends define("NotFound", "NOT_FOUND") {}
export class MethodNotAllowed extends define("MethodNotAllowed", "METHOD_NOT_ALLOWED") {}
export class RequestTimeout extends define("RequestTimeout", "REQUEST_TIMEOUT") {}
export class PaymentAttemptOpen extends define("PaymentAttemptOpen", "PAYMENT_ATTEMPT_OPEN") {}
export class PaymentLinkNotFound extends define("PaymentLinkNotFound", "PAYMENT_LINK_NOT_FOUND") {}
export class PaymentLinkClosed extends define("PaymentLinkClosed", "PAYMENT_LINK_CLOSED") {}
export class PaymentNotSettled extends define("PaymentNotSettled", "PAYMENT_NOT_SETTLED") {}
export class PaymentSettled extends define("PaymentSettled", "PAYMENT_SETTLED") {}
export class IncomingTransferNotFound extends define(
  "IncomingTransferNotFound",
  "INCOMING_TRANSFER_NOT_FOUND"
) {}
export class IncomingTransferExplained extends define(
  "IncomingTransferExplained",
  "INCOMING_TRANSFER_EXPLAINED"
) {}
export class TransferNotAttachable extends define("TransferNotAttachable", "TRANSFER_NOT_ATTACHABLE") {}
export class RefundNotFound extends define("RefundNotFound", "REFUND_NOT_FOUND") {}
export class RefundExceedsPaid extends define("RefundExceedsPaid", "REFUND_EXCEEDS_PAID") {}
export class RefundEnded extends define("RefundEnded", "REFUND_ENDED") {}
export class RefundNotProven extends define("RefundNotProven", "REFUND_NOT_PROVEN") {}
export class PaymentReportConflict extends define("PaymentReportConflict", "PAYMENT_REPORT_CONFLICT") {}
export class PaymentFailed extends define("PaymentFailed", "PAYMENT_FAILED") {}
export class WebhookEndpointExists extends define("WebhookEndpointExists", "WEBHOOK_ENDPOINT_EXISTS") {}
export class PayloadTooLarge extends define("PayloadTooLarge", "PAYLOAD_TOO_LARGE") {}
export class UnsupportedMediaType extends define("UnsupportedMediaType", "UNSUPPORTED_MEDIA_TYPE") {}
export class AuthorizationRefused extends define("AuthorizationRefused", "AUTHORIZATION_REFUSED") {}
export class RelayUnavailable extends define("RelayUnavailable", "RELAY_UNAVAILABLE") {}
export class TestSettlementMismatch extends define("TestSettlementMismatch", "TEST_SETTLEMENT_MISMATCH") {}
export class RateLimited extends define("RateLimited", "RATE_LIMITED") {}
export class FaucetLimitReached extends define("FaucetLimitReached", "FAUCET_LIMIT_REACHED") {}
export class InternalError extends define("InternalError", "INTERNAL_ERROR") {}
export class ServiceUnavailable extends define("ServiceUnavailable", "SERVICE_UNAVAILABLE") {}
export class ChainUnavailable extends define("ChainUnavailable", "CHAIN_UNAVAILABLE") {}
export class FaucetUnavailable extends define("FaucetUnavailable", "FAUCET_UNAVAILABLE") {}
