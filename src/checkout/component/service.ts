// The service's checkout endpoints, called with the publishable key. Responses are checked by hand, because a schema
// library would be larger than everything else.

import type { MismatchReason } from "../../domain/VerdictReason.ts"
import { toJson } from "../../platform/pages/browser/json.ts"
import type { AuthorizationReason } from "../../x402/relaying/Api.ts"
import { type CheckoutContext, isContext } from "./CheckoutContext.ts"
import { at, textAt } from "./fields.ts"
import { millisOf } from "./millisOf.ts"
import type { SignedTerms } from "./signed.ts"

/** The parts of the payment object that the checkout shows. */
export interface CheckoutPayment {
  readonly id: string
  /** Decimal USD. */
  readonly amount: string
  readonly status: "pending" | "settled" | "failed"
  readonly refCode: string
  readonly intentUrl: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly failureReason?: string | null
  /** The wallet that paid. */
  readonly payerAddress?: string
}

/** The typed data exactly as the service wrote it, and whether the service would pay the fee now. */
export interface SigningTerms {
  readonly relayed: boolean
  readonly validAfter: string
  readonly validBefore: string
  readonly receiver: string
  readonly atomic: bigint
  readonly token: { readonly address: string; readonly chainId: number }
  /** The parameter of `eth_signTypedData_v4`. */
  readonly json: string
  /** Unix milliseconds of this page's clock. */
  readonly readAt: number
}

export interface Balance {
  readonly usdcAtomic: bigint
  readonly gasWei: bigint
}

/**
 * `code` is the service's; `NETWORK` if there was no response; `UNREACHABLE` if something in front of the service
 * responded.
 */
export interface ServiceRefusal {
  readonly code: string
  readonly reason: string | undefined
  /** The value on the chain, if a report does not match. */
  readonly actual: string | undefined
  /** Seconds. */
  readonly retryAfter: number | undefined
  readonly retryable: boolean
  /** The service's message for developers, and the page that explains the code. */
  readonly serviceMessage?: string | undefined
  readonly docUrl?: string | undefined
}

/** True if the service refused for one of these. */
export const isBecause = (
  refusal: ServiceRefusal,
  ...reasons: ReadonlyArray<AuthorizationReason | MismatchReason>
): boolean => reasons.some((reason) => reason === refusal.reason)

/** True if the service refuses the shop's key for any request. */
export const concernsKey = ({ code }: ServiceRefusal): boolean => code.includes("KEY")

/** True if the service itself did not respond. */
export const isUnanswered = ({ code }: ServiceRefusal): boolean =>
  code === "NETWORK" || code === "UNREACHABLE"

export class ServiceError extends Error {
  override readonly name = "ServiceError"
  readonly refusal: ServiceRefusal
  constructor(refusal: ServiceRefusal) {
    super(refusal.code)
    this.refusal = refusal
  }
}

export type ReportResponse =
  | { readonly outcome: "settled"; readonly payment: CheckoutPayment }
  | {
      readonly outcome: "pending"
      readonly payment: CheckoutPayment
      readonly retryAfter: number | undefined
    }

/** An announced attempt to pay, as the service shows it to everyone with the link. */
export interface OtherAttempt {
  /** Shortened. */
  readonly payer: string
  /** ISO 8601. */
  readonly since: string
  /** The transaction of its transfer, if one was seen. */
  readonly transactionId?: string
}

export interface PaymentAddress {
  readonly address: string
  /** EIP-681. */
  readonly uri: string
}

export interface Announcement {
  readonly buyerDidToken: string
  /** The same id means the same attempt, however often it is announced. */
  readonly attemptId: string
  readonly nonce?: number
}

export interface PaymentWithAttempts {
  readonly payment: CheckoutPayment
  readonly attempts: ReadonlyArray<OtherAttempt>
  /** The transaction that pays the payment, until the chain confirms it. */
  readonly confirmingTransactionId?: string | undefined
}

export interface ReportBody {
  readonly buyerDidToken: string
  readonly transactionId: string
  readonly tokenChanges: ReadonlyArray<{
    readonly amountAtomic: string
    readonly chainId: number
    readonly receiver: string
    readonly tokenAddress: string
  }>
}

const timeoutMillis = 20_000

const unanswered = (code: "NETWORK" | "UNREACHABLE"): ServiceError =>
  new ServiceError({
    code,
    reason: undefined,
    actual: undefined,
    retryAfter: undefined,
    retryable: true
  })

/** The buyer has a connection, and a firewall or proxy responds. */
const foreign = (): ServiceError => unanswered("UNREACHABLE")

const isPayment = (value: unknown): value is CheckoutPayment =>
  typeof textAt(value, "id") === "string" &&
  /^\d{1,14}\.\d{2,6}$/.test(textAt(value, "amount") ?? "") &&
  ["pending", "settled", "failed"].includes(textAt(value, "status") ?? "") &&
  typeof textAt(value, "refCode") === "string" &&
  typeof textAt(value, "intentUrl") === "string" &&
  typeof textAt(value, "createdAt") === "string"

const balanceOf = (body: unknown): Balance => {
  const balance = at(body, "balance")
  const [usdc, gas] = [textAt(balance, "usdcAtomic"), textAt(balance, "gasWei")]
  if (usdc === undefined || gas === undefined) throw foreign()
  return { usdcAtomic: BigInt(usdc), gasWei: BigInt(gas) }
}

const paymentOf = (body: unknown): CheckoutPayment => {
  const payment = at(body, "payment")
  if (!isPayment(payment)) throw foreign()
  return payment
}

const termsOf = (body: unknown): SigningTerms => {
  const typedData = at(body, "typedData")
  const [message, domain] = [at(typedData, "message"), at(typedData, "domain")]
  const [to, value, validAfter, validBefore] = ["to", "value", "validAfter", "validBefore"].map((key) =>
    textAt(message, key)
  )
  const [chainId, address] = [at(domain, "chainId"), textAt(domain, "verifyingContract")]
  if (
    to === undefined ||
    validAfter === undefined ||
    validBefore === undefined ||
    !/^[0-9]+$/.test(value ?? "") ||
    typeof chainId !== "number" ||
    address === undefined
  )
    throw foreign()
  return {
    relayed: at(body, "relayed") === true,
    validAfter,
    validBefore,
    receiver: to,
    atomic: BigInt(value ?? "0"),
    token: { address, chainId },
    json: toJson(typedData),
    readAt: Date.now()
  }
}

const isOtherAttempt = (value: unknown): value is OtherAttempt =>
  typeof textAt(value, "payer") === "string" &&
  !Number.isNaN(millisOf(textAt(value, "since") ?? "")) &&
  ["string", "undefined"].includes(typeof at(value, "transactionId"))

const attemptsOf = (body: unknown): PaymentWithAttempts => {
  const attempts = at(body, "attempts")
  if (!Array.isArray(attempts) || !attempts.every(isOtherAttempt)) throw foreign()
  const confirmingTransactionId = textAt(body, "confirmingTransactionId")
  return { payment: paymentOf(body), attempts, confirmingTransactionId }
}

const secondsIn = (response: Response): number | undefined => {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

const reportResponseOf = ({
  answer,
  response
}: {
  readonly answer: unknown
  readonly response: Response
}): ReportResponse => {
  const payment = paymentOf(answer)
  return response.status === 200
    ? { outcome: "settled", payment }
    : { outcome: "pending", payment, retryAfter: secondsIn(response) }
}

export interface CheckoutService {
  readonly context: () => Promise<CheckoutContext>
  /** Opens the payment, or reads it if it is already open. */
  readonly open: (intentToken: string) => Promise<CheckoutPayment>
  /** The code that a phone scans instead of the token; undefined before the payment is open. */
  readonly resumeCode: () => string | undefined
  readonly report: (paymentId: string, report: ReportBody) => Promise<ReportResponse>
  /** The terms that a wallet signs to pay without gas. */
  readonly terms: (paymentId: string, payer: string) => Promise<SigningTerms>
  /** Submits the signature; submitting it again means the same payment. */
  readonly relay: (paymentId: string, signed: SignedTerms) => Promise<ReportResponse>
  readonly balance: (address: string) => Promise<Balance>
  readonly fund: (buyerDidToken: string) => Promise<Balance>
  /** Announces a transfer before the wallet is prompted. Returns the account nonce to send it with. */
  readonly announce: (paymentId: string, announcement: Announcement) => Promise<number | undefined>
  /**
   * Attempts that may still pay: one wallet's, or all. `lost`: this browser's attempt, whose nonce was used by another
   * transaction.
   */
  readonly attempts: (
    paymentId: string,
    payer?: string,
    lost?: { readonly id: string; readonly nonce: number | undefined }
  ) => Promise<PaymentWithAttempts>
  /** The address for a transfer from any app. */
  readonly address: (paymentId: string) => Promise<PaymentAddress>
  /** The page of a settled payment's receipt. */
  readonly receipt: (paymentId: string) => Promise<string>
  /** The wallet reported that it sends nothing. */
  readonly decline: (paymentId: string, attemptId: string) => Promise<void>
}

export const checkoutService = (baseUrl: string, publishableKey: string): CheckoutService => {
  const call = async (method: string, path: string, body?: unknown) => {
    let response: Response | undefined
    let answer: unknown
    try {
      response = await fetch(`${baseUrl}/api/v1${path}`, {
        method,
        credentials: "omit",
        // The decline is sent even if the page closes.
        keepalive: path.endsWith("/decline"),
        referrerPolicy: "no-referrer",
        headers: {
          authorization: `Bearer ${publishableKey}`,
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        signal: AbortSignal.timeout(timeoutMillis),
        ...(body === undefined ? {} : { body: toJson(body) })
      })
      answer = response.status === 204 ? undefined : await response.json()
    } catch (error) {
      if (!(error instanceof SyntaxError) || response === undefined) throw unanswered("NETWORK")
      if (response.ok) throw foreign()
    }
    if (response.ok) return { answer, response }
    const error = at(answer, "error")
    const details = at(error, "details")
    const code = textAt(error, "code")
    throw new ServiceError({
      code: code ?? "UNREACHABLE",
      reason: textAt(error, "reason"),
      actual: textAt(Array.isArray(details) ? details[0] : undefined, "actual"),
      retryAfter: secondsIn(response),
      // A response without a code is not from the service but from a proxy that currently lets nothing through.
      retryable: at(error, "retryable") === true || response.status >= 500 || code === undefined,
      serviceMessage: textAt(error, "message"),
      docUrl: textAt(error, "docUrl")
    })
  }

  let resumeCode: string | undefined
  return {
    context: async () => {
      const { answer } = await call("GET", "/checkout-context")
      if (!isContext(answer)) throw foreign()
      return { ...answer, skew: millisOf(answer.now) - Date.now() }
    },
    open: async (intentToken) => {
      const { answer } = await call("POST", "/payments", { intentToken })
      resumeCode = textAt(answer, "resumeCode")
      return paymentOf(answer)
    },
    resumeCode: () => resumeCode,
    report: async (paymentId, report) => {
      const path = `/payments/${paymentId}`
      try {
        return reportResponseOf(await call("PATCH", path, report))
      } catch (error) {
        // Some proxies pass only GET and POST. Repeating a report is harmless.
        if (!(error instanceof ServiceError) || !isUnanswered(error.refusal)) throw error
        return reportResponseOf(await call("POST", `${path}/report`, report))
      }
    },
    terms: async (paymentId, payer) =>
      termsOf((await call("GET", `/payments/${paymentId}/authorization?payer=${payer}`)).answer),
    relay: async (paymentId, signed) =>
      reportResponseOf(await call("POST", `/payments/${paymentId}/authorization`, signed)),
    balance: async (address) =>
      balanceOf((await call("GET", `/checkout/test-balance?address=${address}`)).answer),
    fund: async (buyerDidToken) =>
      balanceOf((await call("POST", "/checkout/test-funds", { buyerDidToken })).answer),
    announce: async (paymentId, announcement) => {
      const { answer } = await call("POST", `/payments/${paymentId}/attempts`, {
        ...announcement,
        method: "transfer"
      })
      const nonce = at(at(answer, "attempt"), "nonce")
      return typeof nonce === "number" ? nonce : announcement.nonce
    },
    attempts: async (paymentId, payer, lost) => {
      const query = new URLSearchParams({
        ...(payer === undefined ? {} : { payer }),
        ...(lost?.nonce === undefined ? {} : { attemptId: lost.id, nonce: String(lost.nonce) })
      })
      return attemptsOf((await call("GET", `/payments/${paymentId}/attempts?${query}`)).answer)
    },
    address: async (paymentId) => {
      const { answer } = await call("POST", `/payments/${paymentId}/address`)
      const [address, uri] = [textAt(answer, "address"), textAt(answer, "uri")]
      if (address === undefined || uri === undefined) throw foreign()
      return { address, uri }
    },
    receipt: async (paymentId) => {
      const url = textAt((await call("POST", `/payments/${paymentId}/receipt`)).answer, "url")
      if (url === undefined || !url.startsWith(`${baseUrl}/`)) throw foreign()
      return url
    },
    decline: async (paymentId, attemptId) => {
      await call("POST", `/payments/${paymentId}/attempts/${attemptId}/decline`)
    }
  }
}
