// Fetches for an agent. A 402 is paid once: the service signs a payment within the agent's cap, and the
// request is repeated with that payment.

import { setTimeout as sleep } from "node:timers/promises"
import { Option, Redacted, Schema } from "effect"
import { envs, networks } from "../../domain/networks.ts"
import { Detail } from "../../platform/http/Envelope.ts"
import { decodeHeader, networkNames } from "../../x402/Wire.ts"
import { decodedBody } from "./decodedBody.ts"
import { type Beginning, readUpTo } from "./readUpTo.ts"
import { upstreamFetch } from "./upstreamFetch.ts"

export interface PayingFetchOptions {
  /** Origin of the service. */
  readonly serviceUrl: string
  readonly agentKey: Redacted.Redacted<string>
  /** Logs one line per payment, without secrets. */
  readonly log: (line: string) => void
}

export interface AgentRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  /** Held in memory so that it can be sent again; undefined if there is no body. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /** Aborts the upstream response. */
  readonly signal?: AbortSignal
}

/** A 402 that can be paid. */
export interface Offer {
  /**
   * Pays under this id and returns the response; the original 402, with the reason, if nothing is paid. The same id
   * is never paid twice: it sends the same payment again.
   */
  readonly pay: (requestId: string) => Promise<Response>
  /** Discards the 402 if it is not paid. */
  readonly discard: () => Promise<void>
}

/** Headers that report the outcome of a payment to the agent. */
export const outcomeHeaders = {
  paymentId: "quittance-payment-id",
  /** Repeating the request under this id makes no other payment. */
  requestId: "quittance-request-id",
  amount: "quittance-payment-amount",
  refused: "quittance-payment-refused",
  message: "quittance-payment-message"
} as const

const PaymentRequired = Schema.Struct({
  x402Version: Schema.Literals([1, 2]),
  accepts: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1)),
  resource: Schema.optionalKey(Schema.Unknown),
  extensions: Schema.optionalKey(Schema.Unknown)
})
const decodePaymentRequired = Schema.decodeUnknownOption(PaymentRequired)

const Signed = Schema.Struct({
  agentPayment: Schema.Struct({
    id: Schema.String,
    amount: Schema.String,
    payTo: Schema.String,
    status: Schema.optionalKey(Schema.String)
  }),
  header: Schema.Struct({ name: Schema.String, value: Schema.String })
})
const decodeSigned = Schema.decodeUnknownOption(Signed)
/** The error envelope. A later release of the service may use codes that this proxy does not know. */
const Refused = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    details: Schema.optionalKey(Schema.Array(Detail))
  })
})
const decodeRefused = Schema.decodeUnknownOption(Refused)

const serviceTimeoutMillis = 15_000
const serviceTries = 3
const maxRequirementsBytes = 64 * 1024
/** The most options that the service reads. */
const maxAccepts = 20
/** Time within which an upstream's response head must arrive, and the body of a 402. */
const headTimeoutMillis = 120_000

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** The requirements of a 402: the header in version 2, otherwise the body in version 1. */
const requirementsOf = (
  response: Response,
  { bytes, isWhole }: Beginning
): Option.Option<typeof PaymentRequired.Type> =>
  Option.firstSomeOf([
    Option.flatMap(
      Option.flatMap(Option.fromNullishOr(response.headers.get("payment-required")), decodeHeader),
      decodePaymentRequired
    ),
    isWhole
      ? decodedBody(bytes, response.headers.get("content-encoding"), maxRequirementsBytes).pipe(
          Option.flatMap((body) => parse(new TextDecoder().decode(body))),
          Option.flatMap(decodePaymentRequired)
        )
      : Option.none()
  ])

const decodeAccept = Schema.decodeUnknownOption(
  Schema.Struct({ network: Schema.String, asset: Schema.String })
)

/** The options to send to the service: all of them or, if they are too many, only those in a known network's USDC. */
const acceptsOf = ({ accepts, x402Version }: typeof PaymentRequired.Type): ReadonlyArray<unknown> => {
  if (accepts.length <= maxAccepts) return accepts
  const isKnown = (accepted: unknown) =>
    Option.exists(decodeAccept(accepted), ({ asset, network }) =>
      envs.some(
        (env) =>
          network === networkNames[env][x402Version] &&
          asset.toLowerCase() === networks[env].usdc.address.toLowerCase()
      )
    )
  const supported = accepts.filter(isKnown)
  return (supported.length === 0 ? accepts : supported).slice(0, maxAccepts)
}

const withHeaders = (
  response: Response,
  body: BodyInit | null,
  headers: Readonly<Record<string, string>>
) => {
  const all = new Headers(response.headers)
  for (const [name, value] of Object.entries(headers)) all.set(name, value)
  return new Response(body, { status: response.status, statusText: response.statusText, headers: all })
}

/** Header values are one line of printable ASCII. */
const headerText = (text: string) => text.replace(/[^\x20-\x7e]+/g, " ").slice(0, 500)

const decodeRejection = Schema.decodeUnknownOption(Schema.Struct({ error: Schema.NonEmptyString }))

/** The reason that a resource gives for a payment it did not accept, such as `relay_wallet_empty` (x402, version 2). */
const rejectionOf = ({ headers }: Response): string | undefined =>
  Option.fromNullishOr(headers.get("payment-required")).pipe(
    Option.flatMap(decodeHeader),
    Option.flatMap(decodeRejection),
    Option.map(({ error }) => headerText(error)),
    Option.getOrUndefined
  )

/** The refusal, with the expected and the actual value of each field. */
const refusalText = ({ message, details = [] }: (typeof Refused.Type)["error"]) =>
  [
    message,
    ...details.map(({ path, message: what, expected, actual }) =>
      [
        `${path}: ${what.replace(/\.$/, "")}.`,
        ...(expected === undefined ? [] : [`Expected ${expected}.`]),
        ...(actual === undefined ? [] : [`Found ${actual}.`])
      ].join(" ")
    )
  ].join(" ")

type SignResult =
  /** `repeated`: this payment was already signed for the request id. */
  | { readonly _tag: "Signed"; readonly signed: typeof Signed.Type; readonly repeated: boolean }
  | { readonly _tag: "Refused"; readonly code: string; readonly message: string }

export const makePayingFetch = ({ serviceUrl, agentKey, log }: PayingFetchOptions) => {
  const service = (path: string, init: RequestInit) =>
    fetch(`${serviceUrl}/api/v1${path}`, {
      ...init,
      headers: { "content-type": "application/json", authorization: `Bearer ${Redacted.value(agentKey)}` },
      redirect: "error",
      signal: AbortSignal.timeout(serviceTimeoutMillis)
    })

  /** Repeated after a lost response: the request id makes it the same payment. */
  const sign = async (
    requestId: string,
    resource: string,
    required: typeof PaymentRequired.Type
  ): Promise<SignResult> => {
    const body = JSON.stringify({
      requestId,
      resource,
      paymentRequired: {
        x402Version: required.x402Version,
        accepts: acceptsOf(required),
        ...(required.resource === undefined ? {} : { resource: required.resource }),
        ...(required.extensions === undefined ? {} : { extensions: required.extensions })
      }
    })
    let blocked: number | undefined
    for (let attempt = 1; attempt <= serviceTries; attempt++) {
      blocked = undefined
      try {
        const answer = await service("/agent/x402/payments", { method: "POST", body })
        const text = await answer.text()
        const signed = Option.flatMap(parse(text), decodeSigned)
        if (Option.isSome(signed)) {
          return { _tag: "Signed", signed: signed.value, repeated: answer.status === 200 && attempt === 1 }
        }
        const refused = Option.flatMap(parse(text), decodeRefused)
        if (Option.isSome(refused) && answer.status < 500) {
          const { error } = refused.value
          return { _tag: "Refused", code: error.code, message: refusalText(error) }
        }
        if (answer.status >= 400 && answer.status < 500) blocked = answer.status
      } catch {
        // No response: the payment may have been signed, and the next try returns the same payment.
      }
      await sleep(200 * attempt)
    }
    return {
      _tag: "Refused",
      code: "SERVICE_UNAVAILABLE",
      message:
        blocked === undefined
          ? "The payment service does not respond. Nothing was paid; send the request again later."
          : `A firewall or proxy responded in place of the payment service (HTTP ${blocked}). Nothing was paid; ask the service's operator to let the request through.`
    }
  }

  const send = async <A>(
    { url, method, headers, body, signal }: AgentRequest,
    extra: Readonly<Record<string, string>>,
    /** Reads the head of the response, which must arrive within the time limit. */
    begin: (response: Response) => Promise<A>
  ): Promise<A> => {
    const all = new Headers(headers)
    for (const [name, value] of Object.entries(extra)) all.set(name, value)
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error("no answer in time")), headTimeoutMillis)
    try {
      const response = await upstreamFetch(url, {
        method,
        headers: all,
        body,
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
      })
      // A resource must not set the proxy's own headers.
      for (const name of Object.values(outcomeHeaders)) response.headers.delete(name)
      return await begin(response)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    /**
     * Returns the upstream's response, after paying for it if requested and allowed. Fails as `fetch` does.
     * `decide` gets a 402 that can be paid, and pays it or returns another response.
     */
    fetch: async (request: AgentRequest, decide: (offer: Offer) => Promise<Response>): Promise<Response> => {
      const { first, beginning } = await send(request, {}, async (response) => ({
        first: response,
        beginning: response.status === 402 ? await readUpTo(response.body, maxRequirementsBytes) : undefined
      }))
      if (beginning === undefined) return first
      const refuse = (code: string, message: string) => {
        log(`not paid  ${new URL(request.url).host}  ${code}: ${message}`)
        return withHeaders(first, beginning.all(), {
          [outcomeHeaders.refused]: code,
          [outcomeHeaders.message]: headerText(message)
        })
      }
      const required = requirementsOf(first, beginning)
      if (Option.isNone(required)) {
        return refuse("NOT_X402", "The 402 carries no x402 requirements of version 1 or 2.")
      }
      const pay = async (requestId: string): Promise<Response> => {
        const result = await sign(requestId, request.url, required.value)
        if (result._tag === "Refused") return refuse(result.code, result.message)
        const { agentPayment: payment, header } = result.signed
        if (payment.status === "expired" || payment.status === "released")
          return refuse(
            "PAYMENT_ENDED",
            `The payment of this request id ${payment.status === "expired" ? "expired unused" : "was cancelled"}, and no money moved. Use a new quittance-request-id to pay.`
          )
        await beginning.cancel()
        const paid = {
          [outcomeHeaders.paymentId]: payment.id,
          [outcomeHeaders.requestId]: requestId,
          [outcomeHeaders.amount]: payment.amount
        }
        const logOutcome = (outcome: string, reason?: string) =>
          log(
            `${outcome.padEnd(9)} ${new URL(request.url).host}  ${payment.amount} USDC to ${payment.payTo}  ${payment.id}${reason === undefined ? "" : `  ${reason}`}`
          )
        try {
          const second = await send(request, { [header.name]: header.value }, async (response) => response)
          if (second.status === 402) {
            const reason = rejectionOf(second)
            logOutcome(result.repeated ? "repeated" : "refused", reason)
            return withHeaders(second, second.body, {
              ...paid,
              [outcomeHeaders.refused]: result.repeated ? "PAYMENT_ALREADY_MADE" : "PAYMENT_NOT_ACCEPTED",
              [outcomeHeaders.message]: result.repeated
                ? "This request id has paid before, and the server returns nothing more for that payment. Use a new quittance-request-id to buy again."
                : `The resource did not accept the payment${reason === undefined ? "" : ` (${reason})`}. Its amount counts until its authorization has expired.`
            })
          }
          logOutcome(result.repeated ? "repeated" : "paid")
          return withHeaders(second, second.body, paid)
        } catch {
          logOutcome("unknown")
          return Response.json(
            {
              error: {
                code: "PAYMENT_OUTCOME_UNKNOWN",
                message:
                  "The payment was sent, but no response arrived. Repeat the request with the same quittance-request-id: it sends the same payment again and makes no second one.",
                paymentId: payment.id
              }
            },
            { status: 502, headers: { ...paid, [outcomeHeaders.refused]: "PAYMENT_OUTCOME_UNKNOWN" } }
          )
        }
      }
      return decide({ pay, discard: beginning.cancel })
    },
    /** The reason why the service would sign nothing now; undefined if it accepts the key. */
    whyNotSigning: async (): Promise<string | undefined> => {
      try {
        const { ok, status } = await service("/agent", { method: "GET" })
        if (ok) return undefined
        return status === 401
          ? `${serviceUrl} does not accept SERVICE_AGENT_KEY.`
          : `${serviceUrl} responds with HTTP ${status}.`
      } catch {
        return `${serviceUrl} does not respond.`
      }
    },
    /** The service's record of the agent: balances, caps, newest payments. */
    agent: async (): Promise<unknown> => {
      const answer = await service("/agent", { method: "GET" })
      return answer.json()
    }
  }
}

export type PayingFetch = ReturnType<typeof makePayingFetch>
