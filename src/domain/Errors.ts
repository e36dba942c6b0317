// One tagged error for each code of the catalogue. All have the same fields, which are exactly those of the
// envelope; nothing internal goes in.
import { Data } from "effect"
import { type ErrorCode, errorCodes } from "./ErrorCode.ts"

export interface ErrorDetail {
  /** The location: `body.amount`, `query.limit`, or a field of the payment. */
  readonly path: string
  readonly message: string
  readonly expected?: string
  readonly actual?: string
}

export interface ErrorFields {
  /** Replaces the code's summary if the case allows a more exact instruction. */
  readonly message?: string
  readonly reason?: string
  readonly details?: ReadonlyArray<ErrorDetail>
  /** Whole seconds, for the `retry-after` header. */
  readonly retryAfter?: number
}

/** The fields of an expected failure that the HTTP layer needs. */
export interface CodedError extends ErrorFields {
  readonly _tag: string
  readonly code: ErrorCode
  readonly message: string
}

/** Turns `PAYMENT_NOT_FOUND` into the tag `PaymentNotFound`. */
type TagOf<Code extends string> = Code extends `${infer First}_${infer Rest}`
  ? `${Capitalize<Lowercase<First>>}${TagOf<Rest>}`
  : Capitalize<Lowercase<Code>>

const isTagOf = <Code extends string>(tag: string, code: Code): tag is TagOf<Code> =>
  tag.toUpperCase() === code.replaceAll("_", "")

const tagOf = <Code extends string>(code: Code): TagOf<Code> => {
  const tag = code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())
  if (!isTagOf(tag, code)) throw new Error(`${code} has no tag`)
  return tag
}

const codedError = <const Code extends ErrorCode>(code: Code) => {
  class CodedTaggedError extends Data.TaggedError(tagOf(code))<ErrorFields> {
    static readonly code = code
    readonly code = code
    constructor(fields: ErrorFields = {}) {
      super({ ...fields, message: fields.message ?? errorCodes[code].summary })
    }
  }
  return CodedTaggedError
}

export class InvalidRequest extends codedError("INVALID_REQUEST") {}
/** One invalid field of the request, with the value to send instead. */
export const invalidField = (path: string, message: string) =>
  new InvalidRequest({ details: [{ path, message }] })
export class InvalidJson extends codedError("INVALID_JSON") {}
export class InvalidWebhookUrl extends codedError("INVALID_WEBHOOK_URL") {}
export class InvalidIntentToken extends codedError("INVALID_INTENT_TOKEN") {}
export class IntentTokenExpired extends codedError("INTENT_TOKEN_EXPIRED") {}
export class IdempotencyKeyNotAccepted extends codedError("IDEMPOTENCY_KEY_NOT_ACCEPTED") {}
export class InvalidApiKey extends codedError("INVALID_API_KEY") {}
export class InvalidBuyerToken extends codedError("INVALID_BUYER_TOKEN") {}
export class KeyKindNotAllowed extends codedError("KEY_KIND_NOT_ALLOWED") {}
export class ManagePermissionRequired extends codedError("MANAGE_PERMISSION_REQUIRED") {}
export class EnvironmentMismatch extends codedError("ENVIRONMENT_MISMATCH") {}
export class PlaygroundTestnetOnly extends codedError("PLAYGROUND_TESTNET_ONLY") {}
export class LiveModeNoTestFunds extends codedError("LIVE_MODE_NO_TEST_FUNDS") {}
export class IntentTokenKeyMismatch extends codedError("INTENT_TOKEN_KEY_MISMATCH") {}
export class AgentCapExceeded extends codedError("AGENT_CAP_EXCEEDED") {}
export class AgentPaused extends codedError("AGENT_PAUSED") {}
export class AgentHostNotAllowed extends codedError("AGENT_HOST_NOT_ALLOWED") {}
export class AgentPayeeNotAllowed extends codedError("AGENT_PAYEE_NOT_ALLOWED") {}
export class LiveModeGated extends codedError("LIVE_MODE_GATED") {}
export class AgentPaymentNotFound extends codedError("AGENT_PAYMENT_NOT_FOUND") {}
export class AgentRequestConflict extends codedError("AGENT_REQUEST_CONFLICT") {}
export class X402RequirementsUnsupported extends codedError("X402_REQUIREMENTS_UNSUPPORTED") {}
export class AgentsNotConfigured extends codedError("AGENTS_NOT_CONFIGURED") {}
export class EventNotFound extends codedError("EVENT_NOT_FOUND") {}
export class PaymentNotFound extends codedError("PAYMENT_NOT_FOUND") {}
export class WebhookEndpointNotFound extends codedError("WEBHOOK_ENDPOINT_NOT_FOUND") {}
export class SignInRequired extends codedError("SIGN_IN_REQUIRED") {}
export class SignInFailed extends codedError("SIGN_IN_FAILED") {}
export class PasswordRequired extends codedError("PASSWORD_REQUIRED") {}
export class SecondFactorRequired extends codedError("SECOND_FACTOR_REQUIRED") {}
export class SecondFactorFailed extends codedError("SECOND_FACTOR_FAILED") {}
export class SecondFactorActive extends codedError("SECOND_FACTOR_ACTIVE") {}
export class PasskeyFailed extends codedError("PASSKEY_FAILED") {}
export class SignUpClosed extends codedError("SIGN_UP_CLOSED") {}
export class EmailTaken extends codedError("EMAIL_TAKEN") {}
export class OneTimeLinkInvalid extends codedError("ONE_TIME_LINK_INVALID") {}
export class CrossOriginRefused extends codedError("CROSS_ORIGIN_REFUSED") {}
export class OperatorOnly extends codedError("OPERATOR_ONLY") {}
export class ReceiverTaken extends codedError("RECEIVER_TAKEN") {}
export class AlertHookLimit extends codedError("ALERT_HOOK_LIMIT") {}
export class ChangedMeanwhile extends codedError("CHANGED_MEANWHILE") {}
export class LastOwner extends codedError("LAST_OWNER") {}
export class RoleRequired extends codedError("ROLE_REQUIRED") {}
export class DeliveryPending extends codedError("DELIVERY_PENDING") {}
export class NotFound extends codedError("NOT_FOUND") {}
export class MethodNotAllowed extends codedError("METHOD_NOT_ALLOWED") {}
export class RequestTimeout extends codedError("REQUEST_TIMEOUT") {}
export class PaymentAttemptOpen extends codedError("PAYMENT_ATTEMPT_OPEN") {}
export class PaymentLinkNotFound extends codedError("PAYMENT_LINK_NOT_FOUND") {}
export class PaymentLinkClosed extends codedError("PAYMENT_LINK_CLOSED") {}
export class PaymentNotSettled extends codedError("PAYMENT_NOT_SETTLED") {}
export class PaymentSettled extends codedError("PAYMENT_SETTLED") {}
export class IncomingTransferNotFound extends codedError("INCOMING_TRANSFER_NOT_FOUND") {}
export class IncomingTransferExplained extends codedError("INCOMING_TRANSFER_EXPLAINED") {}
export class TransferNotAttachable extends codedError("TRANSFER_NOT_ATTACHABLE") {}
export class RefundNotFound extends codedError("REFUND_NOT_FOUND") {}
export class RefundExceedsPaid extends codedError("REFUND_EXCEEDS_PAID") {}
export class RefundEnded extends codedError("REFUND_ENDED") {}
export class RefundNotProven extends codedError("REFUND_NOT_PROVEN") {}
export class PaymentReportConflict extends codedError("PAYMENT_REPORT_CONFLICT") {}
export class PaymentFailed extends codedError("PAYMENT_FAILED") {}
export class WebhookEndpointExists extends codedError("WEBHOOK_ENDPOINT_EXISTS") {}
export class PayloadTooLarge extends codedError("PAYLOAD_TOO_LARGE") {}
export class UnsupportedMediaType extends codedError("UNSUPPORTED_MEDIA_TYPE") {}
export class AuthorizationRefused extends codedError("AUTHORIZATION_REFUSED") {}
export class RelayUnavailable extends codedError("RELAY_UNAVAILABLE") {}
export class TestSettlementMismatch extends codedError("TEST_SETTLEMENT_MISMATCH") {}
export class SettlementMismatch extends codedError("SETTLEMENT_MISMATCH") {}
export class RateLimited extends codedError("RATE_LIMITED") {}
export class FaucetLimitReached extends codedError("FAUCET_LIMIT_REACHED") {}
export class InternalError extends codedError("INTERNAL_ERROR") {}
export class ServiceUnavailable extends codedError("SERVICE_UNAVAILABLE") {}
export class ChainUnavailable extends codedError("CHAIN_UNAVAILABLE") {}
export class FaucetUnavailable extends codedError("FAUCET_UNAVAILABLE") {}
