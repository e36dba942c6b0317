// The complete catalogue of error codes. The server, the client library, the OpenAPI document and the page
// `/docs/errors` all read this table.

interface Entry {
  /** The HTTP status of the response. */
  readonly status: number
  /** True if the same request may succeed later. */
  readonly retryable?: true
  /** The cause, then the remedy. */
  readonly summary: string
}

const entries = {
  TEST_SETTLEMENT_PENDING: {
    status: 202,
    retryable: true,
    summary:
      "The transfer is not visible or not confirmed yet. The service checks again on its own; to learn the outcome, repeat the request or wait for the webhook."
  },
  SETTLEMENT_PENDING: {
    status: 202,
    retryable: true,
    summary:
      "The live transfer is not visible yet, or its block is not as final as its amount requires. The service checks again on its own; to learn the outcome, repeat the request or wait for the webhook."
  },
  LIVE_SETTLEMENT_GATED: {
    status: 202,
    summary:
      "Mainnet is closed on this service. The report is recorded and the payment stays pending. Do not pay again: the service checks the report once the operator opens Mainnet."
  },
  INVALID_REQUEST: {
    status: 400,
    summary: "The path, query or body is invalid. Correct each field in `details` and send the request again."
  },
  INVALID_JSON: {
    status: 400,
    summary: "The body is not valid UTF-8 JSON. Send a single JSON object."
  },
  INVALID_WEBHOOK_URL: {
    status: 400,
    summary: "A webhook URL must be https and use a public host name. `reason` says which rule it breaks."
  },
  INVALID_INTENT_TOKEN: {
    status: 400,
    summary:
      "The intent token was modified, or no configured secret of this service signed it. Create a new payment intent."
  },
  INTENT_TOKEN_EXPIRED: {
    status: 400,
    summary: "The intent token has expired: it is valid for 5 minutes. Create a new payment intent."
  },
  IDEMPOTENCY_KEY_NOT_ACCEPTED: {
    status: 400,
    summary: "Remove the header Idempotency-Key: opening and reporting a payment are already idempotent."
  },
  ONE_TIME_LINK_INVALID: {
    status: 400,
    summary: "The link is incomplete, expired or already used. Ask the sender for a new link."
  },
  INVALID_API_KEY: {
    status: 401,
    summary:
      "The API key is missing, malformed, unknown or revoked. Send `Authorization: Bearer <KEY>` with an active key."
  },
  SIGN_IN_REQUIRED: {
    status: 401,
    summary: "Your session is missing or has ended. Sign in again."
  },
  SIGN_IN_FAILED: {
    status: 401,
    summary:
      "Incorrect email or password. If you cannot sign in, reset the password, or ask the operator for a reset link."
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    summary: "This account also needs a code. Enter a code from the authenticator app, or a recovery code."
  },
  SECOND_FACTOR_FAILED: {
    status: 401,
    summary: "The code is wrong or was already used. Enter the app's next code, or an unused recovery code."
  },
  PASSKEY_FAILED: {
    status: 401,
    summary: "The passkey was not accepted. Try again, or sign in with the password."
  },
  INVALID_BUYER_TOKEN: {
    status: 401,
    summary: "The buyer's token is invalid. `reason` says why; have the buyer sign a new token."
  },
  CROSS_ORIGIN_REFUSED: {
    status: 403,
    summary: "Cross-origin requests cannot make changes. Open the dashboard and try again there."
  },
  PASSWORD_REQUIRED: {
    status: 403,
    summary: "Confirm your password or use a passkey, then repeat the change within five minutes."
  },
  ROLE_REQUIRED: {
    status: 403,
    summary: "Your role does not allow this change. Ask an owner of the merchant."
  },
  SIGN_UP_CLOSED: {
    status: 403,
    summary: "Self-service sign-up is disabled. Ask the operator for an invitation."
  },
  OPERATOR_ONLY: {
    status: 403,
    summary: "This alert concerns the whole service. Only an operator can acknowledge it."
  },
  KEY_KIND_NOT_ALLOWED: {
    status: 403,
    summary: "This kind of key cannot call this endpoint. The API reference says which kinds can."
  },
  MANAGE_PERMISSION_REQUIRED: {
    status: 403,
    summary: "The key is read-only. Use a full-access secret key."
  },
  ENVIRONMENT_MISMATCH: {
    status: 403,
    summary:
      "The key and the request belong to different environments. Use a key for the environment that the request names."
  },
  PLAYGROUND_TESTNET_ONLY: {
    status: 403,
    summary: "The playground is available on Testnet only. Use a test publishable key."
  },
  LIVE_MODE_NO_TEST_FUNDS: {
    status: 403,
    summary: "Test funds are available on Testnet only. Use a test key of the same kind."
  },
  INTENT_TOKEN_KEY_MISMATCH: {
    status: 403,
    summary: "The intent and the key belong to different merchants or environments. Use matching keys."
  },
  AGENT_CAP_EXCEEDED: {
    status: 403,
    summary:
      "The payment exceeds one of the agent's caps. Raise the cap. If `reason` is `day`, you can also wait until earlier payments are more than 24 hours old."
  },
  AGENT_PAUSED: {
    status: 403,
    summary: "The agent is paused and signs no payments. Resume it in the dashboard."
  },
  AGENT_HOST_NOT_ALLOWED: {
    status: 403,
    summary:
      "The agent is not allowed to pay at this URL: its host is not allowed, or it is not https. Ask the agent's merchant to allow the host in the dashboard; `details` says what is allowed now."
  },
  AGENT_PAYEE_NOT_ALLOWED: {
    status: 403,
    summary:
      "The agent is not allowed to pay this address. `details` says why. Pay an allowed address, or ask the agent's merchant to change the allowed payees."
  },
  LIVE_MODE_GATED: {
    status: 403,
    summary: "Mainnet is closed on this service. Use a test key, or ask the operator when live payments open."
  },
  EVENT_NOT_FOUND: {
    status: 404,
    summary: "This merchant and environment have no event with this id. Check the id."
  },
  PAYMENT_NOT_FOUND: {
    status: 404,
    summary:
      "This merchant and environment have no payment with this id. Check the id. A payment exists only after it was opened."
  },
  WEBHOOK_ENDPOINT_NOT_FOUND: {
    status: 404,
    summary: "No webhook endpoint is registered for the key's environment. Create one first."
  },
  AGENT_PAYMENT_NOT_FOUND: {
    status: 404,
    summary: "The agent has no payment with this id. Check the id."
  },
  NOT_FOUND: {
    status: 404,
    summary: "Nothing exists at this path. Check the path and the ids in it."
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    summary: "Method not allowed. The `allow` header lists the allowed methods."
  },
  REQUEST_TIMEOUT: {
    status: 408,
    retryable: true,
    summary: "The request body did not arrive in time. Send the request again."
  },
  EMAIL_TAKEN: {
    status: 409,
    summary: "An account with this email already exists. Sign in instead."
  },
  RECEIVER_TAKEN: {
    status: 409,
    summary:
      "This receiving address is registered to another merchant. Use a different address, or prove in the dashboard's settings that you own it."
  },
  SECOND_FACTOR_ACTIVE: {
    status: 409,
    summary: "An authenticator app is already set up. Remove it before you set up another."
  },
  ALERT_HOOK_LIMIT: {
    status: 409,
    summary: "Alerts already go to five webhook URLs. Remove one first."
  },
  CHANGED_MEANWHILE: {
    status: 409,
    summary:
      "Somebody else changed this after you opened it, and nothing was saved. Compare the current values, then save again to replace them."
  },
  LAST_OWNER: {
    status: 409,
    summary: "A merchant needs at least one owner. Make another member an owner first."
  },
  DELIVERY_PENDING: {
    status: 409,
    retryable: true,
    summary: "The delivery is in progress or waits for its next attempt. Resend it only if it fails."
  },
  AGENT_REQUEST_CONFLICT: {
    status: 409,
    summary:
      "This request id was already used for another payment. Use a new one for each request; reuse it only to repeat the same request."
  },
  PAYMENT_ATTEMPT_OPEN: {
    status: 409,
    retryable: true,
    summary:
      "This payment is already being paid elsewhere. Do not send another transfer. Try again only if that attempt is declined or expires."
  },
  PAYMENT_SETTLED: {
    status: 409,
    summary: "The payment has already settled. Do not send money again."
  },
  INCOMING_TRANSFER_NOT_FOUND: {
    status: 404,
    summary: "No incoming transfer with this id exists for this merchant and environment. Check the id."
  },
  INCOMING_TRANSFER_EXPLAINED: {
    status: 409,
    summary:
      "The transfer is already resolved: it belongs to a payment, was marked as handled, or is no longer on the chain. Look up the transfer again to see its state."
  },
  TRANSFER_NOT_ATTACHABLE: {
    status: 422,
    summary:
      "The transfer cannot settle this payment. The payment must be pending or failed, and have the transfer's receiver and exact amount. `reason` says what differs."
  },
  REFUND_NOT_FOUND: {
    status: 404,
    summary: "No refund with this id exists for this merchant and environment. Check the id."
  },
  REFUND_EXCEEDS_PAID: {
    status: 409,
    summary:
      "The refund exceeds the refundable amount. Refund less, or set `beyondPaid` to true to refund more than was paid."
  },
  REFUND_ENDED: {
    status: 409,
    summary:
      "The refund is no longer pending: it was proven, failed or cancelled. Retrieve it to see its status."
  },
  REFUND_NOT_PROVEN: {
    status: 422,
    summary:
      "The transaction does not prove this refund. `reason` names the difference; `details` has the expected value and the value on the chain."
  },
  PAYMENT_LINK_NOT_FOUND: {
    status: 404,
    summary: "No payment link with this id exists. Check the link."
  },
  PAYMENT_LINK_CLOSED: {
    status: 409,
    summary:
      "The payment link accepts no more payments: it is paid, expired or closed (`reason`). Create a new link."
  },
  PAYMENT_NOT_SETTLED: {
    status: 409,
    retryable: true,
    summary:
      "The payment has not settled, so it has no receipt and cannot be refunded. Try again after it settles."
  },
  PAYMENT_REPORT_CONFLICT: {
    status: 409,
    summary:
      "The payment has already settled with a different report. Retrieve the payment to see its transaction; do not pay again."
  },
  PAYMENT_FAILED: {
    status: 409,
    summary:
      "The payment has failed. If a transfer for it is already on its way, do not pay again: it still settles the payment. Otherwise create a new payment intent."
  },
  WEBHOOK_ENDPOINT_EXISTS: {
    status: 409,
    summary: "This environment already has a webhook endpoint. Update it with PATCH, or delete it first."
  },
  PAYLOAD_TOO_LARGE: { status: 413, summary: "The request body exceeds 64 KiB. Send a smaller body." },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    summary: "The request body must be JSON. Send `content-type: application/json`."
  },
  TEST_SETTLEMENT_MISMATCH: {
    status: 422,
    summary:
      "The transaction does not match this payment. `reason` and `details` name the field, the expected value and the value on the chain. If the buyer paid with another transaction, report that one."
  },
  SETTLEMENT_MISMATCH: {
    status: 422,
    summary:
      "The live transaction does not match this payment. `reason` and `details` name the field, the expected value and the value on the chain. If the buyer paid with another transaction, report that one."
  },
  AUTHORIZATION_REFUSED: {
    status: 422,
    summary:
      "The signed authorization was refused; `reason` says why. If it is `already_used`, retrieve the payment before anyone pays again: it may settle. Otherwise have the buyer sign the terms of `GET /api/v1/payments/{id}/authorization` again, or pay by a transfer."
  },
  X402_REQUIREMENTS_UNSUPPORTED: {
    status: 422,
    summary:
      "The agent cannot meet any of the resource's payment requirements. It pays by scheme `exact`, in USDC, on the network of its key's environment. `details` lists the expected and actual values."
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    summary: "Too many requests. Wait the number of seconds in the `retry-after` header, then try again."
  },
  FAUCET_LIMIT_REACHED: {
    status: 429,
    retryable: true,
    summary:
      "A limit of the faucet is reached; `reason` says which. Wait the number of seconds in the `retry-after` header."
  },
  INTERNAL_ERROR: {
    status: 500,
    retryable: true,
    summary:
      "Internal error. Send the request again; if the error persists, contact the operator with the request id."
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The service cannot use its database at the moment, or is starting. Every request that got a success response is stored. Try this one again after the number of seconds in the `retry-after` header."
  },
  CHAIN_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "Too few of the chain's RPC nodes respond or agree. The service checks a reported payment again by itself. Repeat any other request after the number of seconds in the `retry-after` header."
  },
  RELAY_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The service cannot pay the network fee for this buyer now, and nothing was sent; `reason` says why. The buyer can pay by a transfer instead."
  },
  AGENTS_NOT_CONFIGURED: {
    status: 503,
    summary:
      "Agents are disabled in this environment. The operator can enable them by setting `AGENT_WALLET_MNEMONIC` (test) or `LIVE_WALLET_MNEMONIC` (live)."
  },
  FAUCET_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The faucet sent no test USDC; `reason` says why. Fund the wallet another way, or ask the operator."
  }
} as const satisfies Record<string, Entry>

export type ErrorCode = keyof typeof entries

export const errorCodes: { readonly [Code in ErrorCode]: Entry } = entries
