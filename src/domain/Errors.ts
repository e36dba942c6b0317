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

const coded = <const Code extends ErrorCode>(code: Code) => {
  class CodedTaggedError extends Data.TaggedError(tagOf(code))<ErrorFields> {
    static readonly code = code
    readonly code = code
    constructor(fields: ErrorFields = {}) {
      super({ ...fields, message: fields.message ?? errorCodes[code].summary })
    }
  }
  return CodedTaggedError
}

export class InvalidRequest extends coded("INVALID_REQUEST") {}
/** One invalid field of the request, with the value to send instead. */
export const invalid = (path: string, message: string) => new InvalidRequest({ details: [{ path, message }] })
export class InvalidJson extends coded("INVALID_JSON") {}
export class InvalidWebhookUrl extends coded("INVALID_WEBHOOK_URL") {}
export class InvalidIntentToken extends coded("INVALID_INTENT_TOKEN") {}
export class IntentTokenExpired extends coded("INTENT_TOKEN_EXPIRED") {}
export class IdempotencyKeyNotAccepted extends coded("IDEMPOTENCY_KEY_NOT_ACCEPTED") {}
export class InvalidApiKey extends coded("INVALID_API_KEY") {}
export class InvalidBuyerToken extends coded("INVALID_BUYER_TOKEN") {}
export class KeyKindNotAllowed extends coded("KEY_KIND_NOT_ALLOWED") {}
export class ManagePermissionRequired extends coded("MANAGE_PERMISSION_REQUIRED") {}
export class EnvironmentMismatch extends coded("ENVIRONMENT_MISMATCH") {}
export class PlaygroundTestnetOnly extends coded("PLAYGROUND_TESTNET_ONLY") {}
export class LiveModeNoTestFunds extends coded("LIVE_MODE_NO_TEST_FUNDS") {}
export class IntentTokenKeyMismatch extends coded("INTENT_TOKEN_KEY_MISMATCH") {}
export class AgentCapExceeded extends coded("AGENT_CAP_EXCEEDED") {}
export class AgentPaused extends coded("AGENT_PAUSED") {}
export class AgentHostNotAllowed extends coded("AGENT_HOST_NOT_ALLOWED") {}
export class AgentPayeeNotAllowed extends coded("AGENT_PAYEE_NOT_ALLOWED") {}
export class LiveModeGated extends coded("LIVE_MODE_GATED") {}
export class AgentPaymentNotFound extends coded("AGENT_PAYMENT_NOT_FOUND") {}
export class AgentRequestConflict extends coded("AGENT_REQUEST_CONFLICT") {}
export class X402RequirementsUnsupported extends coded("X402_REQUIREMENTS_UNSUPPORTED") {}
export class AgentsNotConfigured extends coded("AGENTS_NOT_CONFIGURED") {}
export class EventNotFound extends coded("EVENT_NOT_FOUND") {}
export class PaymentNotFound extends coded("PAYMENT_NOT_FOUND") {}
export class WebhookEndpointNotFound extends coded("WEBHOOK_ENDPOINT_NOT_FOUND") {}
export class SignInRequired extends coded("SIGN_IN_REQUIRED") {}
export class SignInFailed extends coded("SIGN_IN_FAILED") {}
export class PasswordRequired extends coded("PASSWORD_REQUIRED") {}
export class SecondFactorRequired extends coded("SECOND_FACTOR_REQUIRED") {}
export class SecondFactorFailed extends coded("SECOND_FACTOR_FAILED") {}
export class SecondFactorActive extends coded("SECOND_FACTOR_ACTIVE") {}
export class PasskeyFailed extends coded("PASSKEY_FAILED") {}
export class SignUpClosed extends coded("SIGN_UP_CLOSED") {}
export class EmailTaken extends coded("EMAIL_TAKEN") {}
export class OneTimeLinkInvalid extends coded("ONE_TIME_LINK_INVALID") {}
export class CrossOriginRefused extends coded("CROSS_ORIGIN_REFUSED") {}
export class OperatorOnly extends coded("OPERATOR_ONLY") {}
export class ReceiverTaken extends coded("RECEIVER_TAKEN") {}
export class AlertHookLimit extends coded("ALERT_HOOK_LIMIT") {}
export class ChangedMeanwhile extends coded("CHANGED_MEANWHILE") {}
export class LastOwner extends coded("LAST_OWNER") {}
export class RoleRequired extends coded("ROLE_REQUIRED") {}
export class DeliveryPending extends coded("DELIVERY_PENDING") {}
export class NotFound extends coded("NOT_FOUND") {}
export class MethodNotAllowed extends coded("METHOD_NOT_ALLOWED") {}
export class RequestTimeout extends coded("REQUEST_TIMEOUT") {}
export class PaymentAttemptOpen extends coded("PAYMENT_ATTEMPT_OPEN") {}
export class PaymentLinkNotFound extends coded("PAYMENT_LINK_NOT_FOUND") {}
export class PaymentLinkClosed extends coded("PAYMENT_LINK_CLOSED") {}
export class PaymentNotSettled extends coded("PAYMENT_NOT_SETTLED") {}
export class PaymentSettled extends coded("PAYMENT_SETTLED") {}
export class IncomingTransferNotFound extends coded("INCOMING_TRANSFER_NOT_FOUND") {}
export class IncomingTransferExplained extends coded("INCOMING_TRANSFER_EXPLAINED") {}
export class TransferNotAttachable extends coded("TRANSFER_NOT_ATTACHABLE") {}
export class RefundNotFound extends coded("REFUND_NOT_FOUND") {}
export class RefundExceedsPaid extends coded("REFUND_EXCEEDS_PAID") {}
export class RefundEnded extends coded("REFUND_ENDED") {}
export class RefundNotProven extends coded("REFUND_NOT_PROVEN") {}
export class PaymentReportConflict extends coded("PAYMENT_REPORT_CONFLICT") {}
export class PaymentFailed extends coded("PAYMENT_FAILED") {}
export class WebhookEndpointExists extends coded("WEBHOOK_ENDPOINT_EXISTS") {}
export class PayloadTooLarge extends coded("PAYLOAD_TOO_LARGE") {}
export class UnsupportedMediaType extends coded("UNSUPPORTED_MEDIA_TYPE") {}
export class AuthorizationRefused extends coded("AUTHORIZATION_REFUSED") {}
export class RelayUnavailable extends coded("RELAY_UNAVAILABLE") {}
export class TestSettlementMismatch extends coded("TEST_SETTLEMENT_MISMATCH") {}
export class SettlementMismatch extends coded("SETTLEMENT_MISMATCH") {}
export class RateLimited extends coded("RATE_LIMITED") {}
export class FaucetLimitReached extends coded("FAUCET_LIMIT_REACHED") {}
export class InternalError extends coded("INTERNAL_ERROR") {}
export class ServiceUnavailable extends coded("SERVICE_UNAVAILABLE") {}
export class ChainUnavailable extends coded("CHAIN_UNAVAILABLE") {}
export class FaucetUnavailable extends coded("FAUCET_UNAVAILABLE") {}
