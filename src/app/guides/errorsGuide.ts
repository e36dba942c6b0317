// The error guide, generated from the catalogue of codes: grouped by cause, each code with its status and remedy.
import { SchemaAST } from "effect"
import { type ErrorCode, errorCodes } from "../../domain/ErrorCode.ts"
import { faucetLimitAdvice } from "../../domain/faucetLimits.ts"
import { attachAdvice, mismatchAdvice, refundMismatchAdvice } from "../../domain/mismatchAdvice.ts"
import { buyerTokenAdvice } from "../../payments/buyers/BuyerTokenRefused.ts"
import { Envelope } from "../../platform/http/Envelope.ts"
import { webhookUrlAdvice } from "../../webhooks/checkWebhookUrl.ts"
import type { AuthorizationReason, RelayReason } from "../../x402/relaying/Api.ts"

/** The fields of the envelope, three a line; a question mark marks an optional field. */
const shape = Object.entries(Envelope.fields.error.fields)
  .map(([name, { ast }]) => `"${name}"${SchemaAST.isOptional(ast) ? "?" : ""}`)
  .reduce((text, field, index) => `${text},${index % 3 === 0 ? "\n  " : " "}${field}`)

interface Entry {
  readonly status: number
  readonly retryable?: true
}

interface Group {
  readonly title: string
  readonly advice: string
  readonly has: (entry: Entry) => boolean
}

/** Codes that no endpoint of a key returns. */
const dashboardOnly: ReadonlySet<string> = new Set([
  "ONE_TIME_LINK_INVALID",
  "SIGN_IN_REQUIRED",
  "SIGN_IN_FAILED",
  "SECOND_FACTOR_REQUIRED",
  "SECOND_FACTOR_FAILED",
  "PASSKEY_FAILED",
  "CROSS_ORIGIN_REFUSED",
  "PASSWORD_REQUIRED",
  "ROLE_REQUIRED",
  "SIGN_UP_CLOSED",
  "OPERATOR_ONLY",
  "EMAIL_TAKEN",
  "SECOND_FACTOR_ACTIVE",
  "ALERT_HOOK_LIMIT",
  "CHANGED_MEANWHILE",
  "LAST_OWNER",
  "TRANSFER_NOT_ATTACHABLE"
] satisfies ReadonlyArray<ErrorCode>)

const authorizationReasons: Readonly<Record<AuthorizationReason, string>> = {
  signature: "The signature is not the payer's, or covers other terms.",
  payer: "The payer is the receiver.",
  expired: "The authorization has expired.",
  not_yet_valid: "The authorization is not valid yet.",
  already_used:
    "The authorization's nonce was used or cancelled on the chain. If it was used, the payment settles once the service has read the block. Signing again does not help, because the nonce is derived from the payment's id.",
  balance: "The payer has too little USDC.",
  wallet_not_deployed: "The payer is a contract wallet that the service may not deploy.",
  reverts: "The transaction would revert, or was sent and reverted."
}
const relayReasonTexts: Readonly<Record<RelayReason, string>> = {
  not_configured: "The service has no relayer's wallet for this network.",
  empty: "The relayer's wallet has too little ETH.",
  reserve: "The rest of the wallet's balance is reserved for other merchants.",
  merchant_budget: "The merchant's budget for 24 hours is used up.",
  payer_budget: "The payer's budget for 24 hours is used up.",
  total_budget: "The shared budget of all merchants for 24 hours is used up.",
  price: "At the current gas price, a payment costs more than a budget allows.",
  payer_reverts: "Three transactions of this payer have reverted within 24 hours.",
  declined: "The operator pays no fees for this address."
}
const { unavailable: _, ...buyerTokenReasons } = buyerTokenAdvice
const { denied: _denied, ...attachReasons } = attachAdvice
/** The reasons of a code, with their meanings. */
const reasonsOf: { readonly [Code in ErrorCode]?: Readonly<Record<string, string>> } = {
  INVALID_BUYER_TOKEN: buyerTokenReasons,
  INVALID_WEBHOOK_URL: webhookUrlAdvice,
  TEST_SETTLEMENT_MISMATCH: mismatchAdvice,
  SETTLEMENT_MISMATCH: mismatchAdvice,
  REFUND_NOT_PROVEN: refundMismatchAdvice,
  AGENT_CAP_EXCEEDED: {
    payment: "The payment exceeds the cap for a single payment.",
    day: "With this payment, the payments of the last 24 hours would exceed the cap."
  },
  PAYMENT_LINK_CLOSED: {
    paid: "The link is for one payment, which has settled.",
    expired: "The link has expired.",
    closed: "The merchant has closed the link or has no publishable key, or live payments are closed."
  },
  TRANSFER_NOT_ATTACHABLE: attachReasons,
  FAUCET_LIMIT_REACHED: faucetLimitAdvice,
  AUTHORIZATION_REFUSED: authorizationReasons,
  RELAY_UNAVAILABLE: relayReasonTexts,
  FAUCET_UNAVAILABLE: {
    not_configured: "The service has no faucet.",
    empty: "The faucet's wallet is empty.",
    wallet_shared: "Another program uses the faucet's wallet. Try again later.",
    transfer_reverts: "USDC rejects the faucet's transfer.",
    declined: "The operator sends no test USDC to this address."
  }
}

const groups: ReadonlyArray<Group> = [
  {
    title: "Not decided yet",
    advice:
      "The response is 202 and contains the payment as well as the error. The payment is still pending.",
    has: ({ status }) => status < 300
  },
  {
    title: "The request is invalid",
    advice:
      "Correct the request; the same request would fail again. If fields are invalid, `details` lists them.",
    has: ({ status }) => [400, 405, 413, 415].includes(status)
  },
  {
    title: "The caller is not allowed",
    advice: "The caller may not do this now. Each code says what has to change.",
    has: ({ status }) => status === 401 || status === 403
  },
  {
    title: "Not found",
    advice:
      "Nothing exists at this path or under this id. The response is the same if the object belongs to another merchant or environment.",
    has: ({ status }) => status === 404
  },
  {
    title: "Conflict with the current state",
    advice: "The current state does not allow the request. Each code says what to do first.",
    has: ({ status }) => status === 409
  },
  {
    title: "The transfer, signature or terms do not match",
    advice:
      "Unless the code says otherwise, the same request would fail again. `reason`, if the code has one, says what differs.",
    has: ({ status }) => status === 422
  },
  {
    title: "Temporarily unavailable",
    advice:
      "Send the same request again later, unless the code or its `reason` says otherwise. If the response has a `retry-after` header, wait that many seconds. The client libraries repeat every call after 429, and calls that are safe to repeat after 5xx, twice by default.",
    has: ({ retryable, status }) => retryable === true && (status === 408 || status === 429 || status >= 500)
  },
  {
    title: "The operator must act",
    advice: "The request cannot succeed until the service's operator acts.",
    has: ({ retryable, status }) => retryable === undefined && status >= 500
  }
]

const dashboard: Group = {
  title: "The dashboard",
  advice: "Only the dashboard's own pages get these codes; no API key does.",
  has: () => true
}
const allGroups: ReadonlyArray<Group> = [...groups, dashboard]

const inCode = `## In code

\`\`\`ts
import { Quittance, QuittanceError } from "@quittance/client"

const quittance = new Quittance({ key: process.env.QUITTANCE_KEY ?? "", baseUrl: "{base_url}" })
try {
  await quittance.payments.retrieve("01a1fc34-7205-710e-9410-874fee9a4996")
} catch (error) {
  if (!(error instanceof QuittanceError)) throw error
  if (error.code === "PAYMENT_NOT_FOUND") console.log("no such payment")
  else if (error.retryable) console.log("try again in", error.retryAfter ?? 1, "seconds")
  else console.error(error.code, error.message, error.requestId, error.details)
}
\`\`\``

const lead = "# Errors\n\nLook up an error code here: its HTTP status, its cause and its remedy."
const shapeOfErrors = `Every error response has the same shape:

\`\`\`
{ "error": {
  ${shape}
} }
\`\`\`

- \`code\` is stable; base your program's decisions on it.
- \`message\` is for people; do not parse it.
- \`reason\` is a more specific cause, if the code has several. \`details\` lists the fields concerned, with what is expected of each.
- \`retryable\` is true if the same request may succeed later.
- \`docUrl\` is the address of the code on this page.
- \`requestId\` identifies the request; give it to the operator when you ask for help.`

const closing = `## Codes of the client libraries

The client libraries add two codes for calls without a valid response from the service:

- \`NO_ANSWER\`: no response arrived, or it broke off. The call may have been carried out. Check \`baseUrl\` and the network; repeat the call if it is safe to repeat.
- \`UNKNOWN_ANSWER\`: something other than Quittance answered, such as a proxy's page. Check \`baseUrl\` and every proxy in front of the service.

## Bytes that are not an HTTP request

If the bytes do not parse as an HTTP request, the response is a bare status without this envelope (400, 431 or 505), and the connection is closed. Examples are two \`Content-Length\` headers, an invalid chunked body, and headers of more than 16 KiB or more than 200 in number.`

const entriesOf = (group: Group) =>
  Object.entries(errorCodes).filter(
    ([code, entry]) => dashboardOnly.has(code) === (group === dashboard) && group.has(entry)
  )

const textOf = (code: string, { summary }: { readonly summary: string }) => {
  const reasons = new Map<string, Readonly<Record<string, string>>>(Object.entries(reasonsOf)).get(code)
  if (reasons === undefined) return summary
  const rows = Object.entries(reasons).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`)
  return [summary, "", "| Reason | Meaning |", "|---|---|", ...rows].join("\n")
}

const statusOf = ({ retryable, status }: Entry) => `HTTP ${status}${retryable === true ? ", retryable" : ""}.`

const sections = allGroups.map(
  (group) =>
    `## ${group.title}\n\n${group.advice}\n\n${entriesOf(group)
      .map(([code, entry]) => `### ${code}\n\n${statusOf(entry)} ${textOf(code, entry)}`)
      .join("\n\n")}`
)

export const errorsGuide: string = `${[lead, shapeOfErrors, inCode, ...sections, closing].join("\n\n")}\n`

const indexOf = (group: Group) =>
  `<li><strong>${group.title}</strong> ${entriesOf(group)
    .map(([code]) => `<a href="#${code}" data-code="${code}">${code}</a>`)
    .join(" ")}</li>`

/** The same for the site: the filter, an index of all codes, and what the filter hides apart from the rest. */
export const errorsPage: string = `${[
  lead,
  "<ErrorFilter />",
  `<ul class="error-index">${allGroups.map(indexOf).join("")}</ul>`,
  "## The response",
  shapeOfErrors,
  inCode,
  ...allGroups.map((group) =>
    [
      `<div class="error-group">`,
      `## ${group.title}`,
      group.advice,
      ...entriesOf(group).flatMap(([code, entry]) => [
        `<div class="error-entry" data-code="${code}">`,
        `### ${code}`,
        `<p class="error-status">${statusOf(entry)}</p>`,
        textOf(code, entry),
        "</div>"
      ]),
      "</div>"
    ].join("\n\n")
  ),
  closing
].join("\n\n")}\n`

/** Codes that belong to no group. */
export const ungrouped = Object.keys(errorCodes).filter(
  (code) => !allGroups.some((group) => entriesOf(group).some(([known]) => known === code))
)

/** Codes that the guide lists for the dashboard only. */
export const dashboardCodes: ReadonlyArray<string> = [...dashboardOnly]
