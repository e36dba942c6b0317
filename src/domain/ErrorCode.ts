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
      "The transfer is not indexed or not confirmed yet. The report is kept and checked again by the service; repeat it to learn the outcome."
  },
  LIVE_SETTLEMENT_GATED: {
    status: 202,
    retryable: false,
    summary: "Mainnet execution is gated. The report is recorded and the payment stays pending."
  },
  INVALID_REQUEST: {
    status: 400,
    retryable: false,
    summary:
      "The body, path or query breaks the contract. `details` names each place; correct it and send again."
  },
  INVALID_JSON: {
    status: 400,
    retryable: false,
    summary: "The body is not JSON in UTF-8. Send one JSON object."
  },
  INVALID_WEBHOOK_URL: {
    status: 400,
    retryable: false,
    summary: "Webhooks go to public https addresses by name. `reason` says which rule the url breaks."
  },
  INVALID_INTENT_TOKEN: {
    status: 400,
    retryable: false,
    summary: "The intent token was not issued by this service or was altered. Create a new payment intent."
  },
  INTENT_TOKEN_EXPIRED: {
    status: 400,
    retryable: false,
    summary: "An intent token opens a payment within 5 minutes. Create a new payment intent."
  },
  IDEMPOTENCY_KEY_NOT_ACCEPTED: {
    status: 400,
    retryable: false,
    summary:
      "Mutations take no Idempotency-Key header: opening and reporting a payment are idempotent by themselves. Send the request without it."
  },
  ONE_TIME_LINK_INVALID: {
    status: 400,
    retryable: false,
    summary:
      "The link was used before, has expired or is incomplete. Ask whoever gave it to you for a new one."
  },
  INVALID_API_KEY: {
    status: 401,
    retryable: false,
    summary:
      "The API key is missing, malformed, unknown or revoked. Send `Authorization: Bearer <KEY>` with a current key."
  },
  SIGN_IN_REQUIRED: {
    status: 401,
    retryable: false,
    summary:
      "The dashboard wants a signed-in person: the session is missing, has expired or was signed out. Sign in again."
  },
  SIGN_IN_FAILED: {
    status: 401,
    retryable: false,
    summary:
      "The e-mail and the password do not belong together. Check both; the operator can give you a new link."
  },
  INVALID_BUYER_TOKEN: {
    status: 401,
    retryable: false,
    summary: "The buyer's identity token does not verify. `reason` says why; have the buyer sign a fresh one."
  },
  CROSS_ORIGIN_REFUSED: {
    status: 403,
    retryable: false,
    summary: "Changes in the dashboard come from its own pages alone. Open the dashboard and repeat it there."
  },
  PASSWORD_REQUIRED: {
    status: 403,
    retryable: false,
    summary:
      "Where money goes and who may change it is changed within five minutes of giving the password. Confirm it and repeat the change."
  },
  SIGN_UP_CLOSED: {
    status: 403,
    retryable: false,
    summary: "Nobody signs up here by themselves. Ask the operator for a link."
  },
  OPERATOR_ONLY: {
    status: 403,
    retryable: false,
    summary: "This concerns the whole service: an operator acknowledges it."
  },
  KEY_KIND_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    summary: "This kind of key cannot call this endpoint. `details` names the kinds that can."
  },
  MANAGE_PERMISSION_REQUIRED: {
    status: 403,
    retryable: false,
    summary: "The key is read-only. Use a full-access secret key."
  },
  ENVIRONMENT_MISMATCH: {
    status: 403,
    retryable: false,
    summary: "The request names another environment than the key's. Use a key of that environment."
  },
  PLAYGROUND_TESTNET_ONLY: {
    status: 403,
    retryable: false,
    summary: "The playground works on Testnet only. Use a test publishable key."
  },
  LIVE_MODE_NO_TEST_FUNDS: {
    status: 403,
    retryable: false,
    summary: "Test balances and test funds exist on Testnet only. Use a test publishable key."
  },
  INTENT_TOKEN_KEY_MISMATCH: {
    status: 403,
    retryable: false,
    summary:
      "The intent belongs to another merchant or environment than the key. Use the keys of one account and environment."
  },
  AGENT_CAP_EXCEEDED: {
    status: 403,
    retryable: false,
    summary: "The payment exceeds the agent's cap. Raise the cap or wait until the rolling window has room."
  },
  AGENT_PAUSED: {
    status: 403,
    retryable: false,
    summary: "The agent is paused and signs nothing. Its merchant resumes it."
  },
  AGENT_HOST_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    summary: "The agent may not pay this host. `details` names it and those it may pay."
  },
  AGENT_PAYEE_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    summary: "The agent may not pay this address. `details` names it and those it may pay."
  },
  LIVE_MODE_GATED: {
    status: 403,
    retryable: false,
    summary: "Mainnet execution is gated: agents and x402 pay on Testnet only. Use a test key."
  },
  PAYMENT_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No payment with this id exists for the key's account and environment."
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
    summary: "Nothing lives at this path. Compare it with the API reference."
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retryable: false,
    summary: "The path does not take this method. The `allow` header lists those it takes."
  },
  REQUEST_TIMEOUT: {
    status: 408,
    retryable: true,
    summary: "The request body did not arrive in time. Send it again in one go."
  },
  EMAIL_TAKEN: {
    status: 409,
    retryable: false,
    summary: "This e-mail cannot sign up again. Sign in with it."
  },
  RECEIVER_TAKEN: {
    status: 409,
    retryable: false,
    summary:
      "Another merchant receives, or once received, at this address. Use another one. Where it is yours, change to it in the settings: `details` then has a text to sign with its key, and the signature moves it to your merchant."
  },
  LAST_MEMBER: {
    status: 409,
    retryable: false,
    summary: "A merchant keeps at least one member. Add another before this one goes."
  },
  DELIVERY_PENDING: {
    status: 409,
    retryable: true,
    summary:
      "The delivery is being sent or waits for its next attempt. Resend it when it has finished, and with an endpoint registered."
  },
  AGENT_REQUEST_CONFLICT: {
    status: 409,
    retryable: false,
    summary:
      "This request id has signed another payment. Use a new request id for each request; repeat one only with the same resource and requirements."
  },
  PAYMENT_ATTEMPT_OPEN: {
    status: 409,
    retryable: true,
    summary:
      "The same wallet has announced to pay this payment elsewhere. Send nothing: it settles by itself once the transfer is on the chain, and another attempt is possible once the first was declined or has ended."
  },
  PAYMENT_SETTLED: {
    status: 409,
    retryable: false,
    summary: "The payment has settled. Send nothing."
  },
  INCOMING_TRANSFER_NOT_FOUND: {
    status: 404,
    retryable: false,
    summary: "No incoming transfer with this id reached this merchant in this environment."
  },
  INCOMING_TRANSFER_EXPLAINED: {
    status: 409,
    retryable: false,
    summary:
      "The transfer is explained: a payment claims it, somebody has handled it, or the chain no longer shows it."
  },
  TRANSFER_NOT_ATTACHABLE: {
    status: 422,
    retryable: false,
    summary:
      "The transfer cannot settle this payment. It settles a pending or failed payment of the exact amount to the same receiver; `reason` names what differs."
  },
  PAYMENT_REPORT_CONFLICT: {
    status: 409,
    retryable: false,
    summary:
      "The payment already carries other settlement evidence. The first report stands; read the payment instead."
  },
  PAYMENT_FAILED: {
    status: 409,
    retryable: false,
    summary: "The payment has failed and cannot settle any more. Create a new payment intent."
  },
  WEBHOOK_ENDPOINT_EXISTS: {
    status: 409,
    retryable: false,
    summary: "This environment already has a webhook endpoint. Change it with PATCH, or delete it first."
  },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, summary: "Request bodies hold at most 64 KiB." },
  HEADERS_TOO_LARGE: {
    status: 431,
    retryable: false,
    summary:
      "A request's first line and headers hold less than 16 KiB and 200 headers. Send fewer or shorter ones."
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    summary: "Request bodies are JSON. Send `content-type: application/json`."
  },
  TEST_SETTLEMENT_MISMATCH: {
    status: 422,
    retryable: false,
    summary:
      "The transaction does not pay this payment. `reason` and `details` name the field, what was expected and what the chain shows."
  },
  X402_REQUIREMENTS_UNSUPPORTED: {
    status: 422,
    retryable: false,
    summary:
      "None of the ways to pay that the resource accepts can be used: scheme `exact` with USDC on the network of the key's environment. `details` names what was expected and found."
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    summary: "Too many requests. Wait for the seconds in `retry-after`."
  },
  FAUCET_LIMIT_REACHED: {
    status: 429,
    retryable: true,
    summary: "The faucet's limit is used up. `reason` says whose; wait for the seconds in `retry-after`."
  },
  INTERNAL_ERROR: {
    status: 500,
    retryable: true,
    summary:
      "The service failed. Nothing is lost; send the request again and quote the request id if it persists."
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The database does not answer, or the service is starting. Nothing that was acknowledged is lost. Send the same request again after the seconds in `retry-after`."
  },
  CHAIN_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The chain's RPC does not answer. A report made meanwhile is kept and checked. Wait for the seconds in `retry-after`."
  },
  AGENTS_NOT_CONFIGURED: {
    status: 503,
    retryable: false,
    summary: "Agents are off: the operator sets AGENT_WALLET_MNEMONIC to turn them on."
  },
  FAUCET_UNAVAILABLE: {
    status: 503,
    retryable: true,
    summary:
      "The faucet cannot pay now: it is not configured or its wallet is empty. Fund the buyer's wallet another way or ask the operator."
  }
} as const satisfies Record<string, Entry>

export type ErrorCode = keyof typeof errorCodes
