// The closed catalogue of error codes. Server, client library, OpenAPI document
// and the page `/docs/errors` all read this table.

interface Entry {
  /** HTTP status the code answers with. */
  readonly status: number
  /** Whether the same request may succeed when it is sent again later. */
  readonly retryable: boolean
  /** What happened and what the caller does about it. */
  readonly summary: string
}

export const errorCodes = {
  TEST_SETTLEMENT_PENDING: {
    status: 202,
    retryable: true,
    summary:
      "The transfer is not visible or not confirmed yet. The service keeps the report and checks it again; repeat the request to get the outcome."
  },
  LIVE_SETTLEMENT_GATED: {
    status: 202,
    retryable: false,
    summary: "Mainnet is not open yet. The report is recorded and the payment stays pending."
  },
  INVALID_REQUEST: {
    status: 400,
    retryable: false,
    summary: "The path, query or body is invalid. Fix each field listed in `details` and retry."
  },
  INVALID_JSON: {
    status: 400,
    retryable: false,
    summary: "The body is not valid UTF-8 JSON. Send a single JSON object."
  },
  INVALID_WEBHOOK_URL: {
    status: 400,
    retryable: false,
    summary: "A webhook URL must be https and use a public host name. `reason` says which rule it breaks."
  },
  INVALID_INTENT_TOKEN: {
    status: 400,
    retryable: false,
    summary:
      "The intent token was not issued by this service, or it was modified. Create a new payment intent."
  },
  INTENT_TOKEN_EXPIRED: {
    status: 400,
    retryable: false,
    summary: "The intent token has expired: it is valid for 5 minutes. Create a new payment intent."
  },
  IDEMPOTENCY_KEY_NOT_ACCEPTED: {
    status: 400,
    retryable: false,
    summary:
      "Idempotency-Key is not supported: opening and reporting a payment are already idempotent. Remove the header."
  },
  ONE_TIME_LINK_INVALID: {
    status: 400,
    retryable: false,
    summary: "The link is incomplete, expired or already used. Ask the sender for a new one."
  },
  INVALID_API_KEY: {
    status: 401,
    retryable: false,
    summary:
      "The API key is missing, malformed, unknown or revoked. Send `Authorization: Bearer <KEY>` with an active key."
  },
  SIGN_IN_REQUIRED: {
    status: 401,
    retryable: false,
    summary: "Your session is missing or has ended. Sign in again."
  },
  SIGN_IN_FAILED: {
    status: 401,
    retryable: false,
    summary: "Incorrect e-mail or password. If you cannot sign in, ask the operator for a reset link."
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    retryable: false,
    summary: "This account also needs a code. Send `code`: of the authenticator app, or a recovery code."
  },
  SECOND_FACTOR_FAILED: {
    status: 401,
    retryable: false,
    summary: "The code is wrong or was used. Enter the app's next code, or a recovery code not used yet."
  },
  PASSKEY_FAILED: {
    status: 401,
    retryable: false,
    summary: "The passkey was not accepted. Try again, or sign in with the password."
  },
  INVALID_BUYER_TOKEN: {
    status: 401,
    retryable: false,
    summary: "The buyer's identity token is invalid. `reason` says why; have the buyer sign a new one."
  },
  CROSS_ORIGIN_REFUSED: {
    status: 403,
    retryable: false,
    summary: "Cross-origin requests cannot make changes. Open the dashboard and try again there."
  },
  PASSWORD_REQUIRED: {
    status: 403,
    retryable: false,
    summary: "This change requires your password. Confirm it and try again within five minutes."
  },
  ROLE_REQUIRED: {
    status: 403,
    retryable: false,
    summary:
      "Your role does not allow this. `expected` names the roles that may; ask an owner of the merchant."
  },
  SIGN_UP_CLOSED: {
    status: 403,
    retryable: false,
    summary: "Self-service sign-up is disabled. Ask the operator for an invitation."
  },
  OPERATOR_ONLY: {
    status: 403,
    retryable: false,
    summary: "This alert concerns the whole service. Only an operator can acknowledge it."
  },
  KEY_KIND_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    summary: "This kind of key cannot call this endpoint. `details` lists the kinds that can."
  },
  MANAGE_PERMISSION_REQUIRED: {
    status: 403,
    retryable: false,
    summary: "The key is read-only. Use a full-access secret key."
  },
  ENVIRONMENT_MISMATCH: {
    status: 403,
    retryable: false,
    summary:
      "The key belongs to another environment than the request. Use a key of the request's environment."
  },
  PLAYGROUND_TESTNET_ONLY: {
    status: 403,
    retryable: false,
    summary: "The playground is available on Testnet only. Use a test publishable key."
  },
  LIVE_MODE_NO_TEST_FUNDS: {
    status: 403,
    retryable: false,
    summary: "Test funds are available on Testnet only. Use a test publishable key."
  },
  INTENT_TOKEN_KEY_MISMATCH: {
    status: 403,
    retryable: false,
    summary:
      "The intent and the key belong to different merchants or environments. Use keys of the same account and environment."
  },
  AGENT_CAP_EXCEEDED: {
    status: 403,
    retryable: false,
    summary:
      "The payment exceeds the agent's cap. Raise the cap, or wait until earlier payments leave the rolling window."
  },
  AGENT_PAUSED: {
    status: 403,
    retryable: false,
    summary: "The agent is paused and signs nothing. Resume it in the dashboard."
  },
  AGENT_HOST_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    summary: "The agent is not allowed to pay this host. `details` lists the hosts it may pay."
  },
  AGENT_PAYEE_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    summary: "The agent is not allowed to pay this address. `details` lists the addresses it may pay."
  },
  LIVE_MODE_GATED: {
    status: 403,
    retryable: false,
    summary: "Mainnet is not open yet: it takes no payments, links or refunds, and no agents. Use a test key."
  },
  EVENT_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary:
      "This merchant and environment have no event with this id. Check the id, and that the key is of the event's environment."
  },
  PAYMENT_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No payment with this id exists in the key's account and environment."
  },
  WEBHOOK_ENDPOINT_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No webhook endpoint is registered for the key's environment. Create one first."
  },
  AGENT_PAYMENT_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "The agent has signed no payment with this id."
  },
  NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No endpoint at this path. See the API reference."
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retryable: false,
    summary: "Method not allowed. The `allow` header lists the allowed methods."
  },
  REQUEST_TIMEOUT: {
    status: 408,
    retryable: true,
    summary: "The request body timed out. Retry."
  },
  EMAIL_TAKEN: {
    status: 409,
    retryable: false,
    summary: "An account with this e-mail already exists. Sign in instead."
  },
  RECEIVER_TAKEN: {
    status: 409,
    retryable: false,
    summary:
      "Another merchant uses, or has used, this receiving address. Use another one. If it is yours, change to it in the settings: `details` then contains a message to sign with its key, and the signature moves it to your merchant."
  },
  SECOND_FACTOR_ACTIVE: {
    status: 409,
    retryable: false,
    summary: "An authenticator app is in use. Remove it before you set up another."
  },
  ALERT_HOOK_LIMIT: {
    status: 409,
    retryable: false,
    summary: "Alerts are posted to five addresses already. Remove one first."
  },
  CHANGED_MEANWHILE: {
    status: 409,
    retryable: false,
    summary:
      "Somebody else has changed this since you opened it, and nothing was saved. `details` says what it is now; save again to replace that."
  },
  LAST_OWNER: {
    status: 409,
    retryable: false,
    summary: "A merchant needs at least one owner. Make another member an owner first."
  },
  DELIVERY_PENDING: {
    status: 409,
    retryable: true,
    summary:
      "The delivery is in progress or waiting for its next attempt. Resend it once it has finished and an endpoint is registered."
  },
  AGENT_REQUEST_CONFLICT: {
    status: 409,
    retryable: false,
    summary:
      "This request id was already used for another payment. Use a new one for each request; reuse it only to repeat the same request."
  },
  PAYMENT_ATTEMPT_OPEN: {
    status: 409,
    retryable: true,
    summary:
      "This payment is already being paid elsewhere. Do not send another transfer: the payment settles once the first one is on the chain. You can try again once that attempt was declined or has expired."
  },
  PAYMENT_SETTLED: {
    status: 409,
    retryable: false,
    summary: "The payment has already settled. Do not send anything."
  },
  INCOMING_TRANSFER_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No incoming transfer with this id exists for this merchant and environment."
  },
  INCOMING_TRANSFER_EXPLAINED: {
    status: 409,
    retryable: false,
    summary:
      "The transfer is already resolved: it belongs to a payment, was marked as handled, or is no longer on the chain."
  },
  TRANSFER_NOT_ATTACHABLE: {
    status: 422,
    retryable: false,
    summary:
      "The transfer cannot settle this payment: it must be pending or failed, with the same receiver and the exact amount. `reason` names the difference."
  },
  REFUND_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No refund with this id exists for this merchant and environment."
  },
  REFUND_EXCEEDS_PAID: {
    status: 409,
    retryable: false,
    summary:
      "The refund is more than is left of what was paid. Refund less, or send `beyondPaid: true` where you mean it."
  },
  REFUND_ENDED: {
    status: 409,
    retryable: false,
    summary: "The refund is no longer pending: it was proven, failed or cancelled. Read it again."
  },
  REFUND_NOT_PROVEN: {
    status: 422,
    retryable: false,
    summary:
      "The transaction does not prove this refund. `reason` names what differs, `details` what was expected and what the chain shows."
  },
  PAYMENT_LINK_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No payment link with this id exists."
  },
  PAYMENT_LINK_CLOSED: {
    status: 409,
    retryable: false,
    summary: "The payment link takes no more payments. `reason` says why: `paid`, `expired` or `closed`."
  },
  PAYMENT_NOT_SETTLED: {
    status: 409,
    retryable: true,
    summary:
      "The payment has not settled: it has no receipt yet, and nothing to refund. Ask again once it has."
  },
  PAYMENT_REPORT_CONFLICT: {
    status: 409,
    retryable: false,
    summary:
      "The payment is already settled with other evidence. The first report stands; retrieve the payment instead."
  },
  PAYMENT_FAILED: {
    status: 409,
    retryable: false,
    summary:
      "The payment has failed. Create a new payment intent. If a transfer for this one is already on its way, do not pay again: it still settles the payment."
  },
  WEBHOOK_ENDPOINT_EXISTS: {
    status: 409,
    retryable: false,
    summary: "This environment already has a webhook endpoint. Update it with PATCH, or delete it first."
  },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, summary: "The request body exceeds 64 KiB." },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    summary: "The request body must be JSON. Send `content-type: application/json`."
  },
  TEST_SETTLEMENT_MISMATCH: {
    status: 422,
    retryable: false,
    summary:
      "The transaction does not match this payment. `reason` and `details` name the field, the expected value and the value on the chain."
  },
  AUTHORIZATION_REFUSED: {
    status: 422,
    retryable: false,
    summary:
      "The signed authorization cannot pay this payment, and the service has moved nothing by it. `reason` says why: `signature`, `payer`, `expired`, `not_yet_valid`, `already_used`, `balance`, `reverts` or `wallet_not_deployed`; `reverts` also where it was sent and the chain has refused it. Have the buyer sign the terms of `GET /payments/{id}/authorization` again, or pay by a transfer."
  },
  X402_REQUIREMENTS_UNSUPPORTED: {
    status: 422,
    retryable: false,
    summary:
      "None of the resource's payment requirements can be met: the agent pays scheme `exact` in USDC on the network of its key's environment. `details` lists what was expected and found."
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    summary: "Too many requests. Retry after the number of seconds in `retry-after`."
  },
  FAUCET_LIMIT_REACHED: {
    status: 429,
    retryable: true,
    summary:
      "The faucet limit is exhausted. `reason` says which one; retry after the number of seconds in `retry-after`."
  },
  INTERNAL_ERROR: {
    status: 500,
    retryable: true,
    summary: "Internal error. Retry the request; if it persists, contact the operator with the request id."
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The database is unavailable or the service is starting. Nothing that was acknowledged is lost. Retry after the number of seconds in `retry-after`."
  },
  CHAIN_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The chain's RPC nodes are unavailable. A report sent meanwhile is kept and checked later. Retry after the number of seconds in `retry-after`."
  },
  RELAY_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The service cannot pay the network fee for this buyer now, and nothing was sent. `reason` says why: `not_configured`, `empty`, `reserve`, `merchant_budget`, `payer_budget` or `payer_reverts`. The buyer can pay by a transfer of their own."
  },
  AGENTS_NOT_CONFIGURED: {
    status: 503,
    retryable: false,
    summary: "Agents are disabled. The operator enables them with AGENT_WALLET_MNEMONIC."
  },
  FAUCET_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The faucet is unavailable: it is not configured or its wallet is empty. Fund the wallet another way, or ask the operator."
  }
} as const satisfies Record<string, Entry>

export type ErrorCode = keyof typeof errorCodes
