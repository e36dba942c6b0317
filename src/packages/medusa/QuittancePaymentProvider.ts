// A payment provider for Medusa 2: the buyer pays on the service's page, and the signed webhook captures.
import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  BigNumberInput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  PaymentProviderInput,
  PaymentProviderOutput,
  PaymentSessionStatus,
  ProviderWebhookPayload,
  RefundPaymentInput,
  WebhookActionResult
} from "@medusajs/framework/types"
import { AbstractPaymentProvider, MathBN, ModuleProvider, Modules } from "@medusajs/framework/utils"
import { Quittance } from "../client/Quittance.ts"
import { QuittanceError } from "../client/QuittanceError.ts"
import type { Payment } from "../client/resources.ts"
import { verifyDelivery, type WebhookOrder } from "../client/verifyWebhook.ts"
import { type PaymentModule, paymentModule } from "./paymentModule.ts"
import { shopRefund } from "./shopRefunds.ts"

export interface QuittanceProviderOptions {
  /** Origin of the service, for example `https://pay.example.com`. */
  readonly baseUrl: string
  readonly secretKey: string
  readonly publishableKey: string
  /** `whsec_…`, of the webhook endpoint `https://your-medusa/hooks/payment/quittance_quittance`. */
  readonly signingSecret: string
  /** The page to which the buyer returns; the session's id is appended as `quittance_session`. */
  readonly returnUrl: string
}

const optionNames = ["baseUrl", "secretKey", "publishableKey", "signingSecret", "returnUrl"] as const
const sessionParameter = "quittance_session"
/** Longer than a call to the service takes with all its retries. */
const inProgressMillis = 300_000

const textOf = (data: Readonly<Record<string, unknown>> | undefined, name: string): string => {
  const value = data?.[name]
  if (typeof value !== "string" || value === "") throw new Error(`The payment session has no ${name}.`)
  return value
}
const listOf = (data: Readonly<Record<string, unknown>> | undefined, name: string): ReadonlyArray<string> => {
  const value = data?.[name]
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []
}
const usdOf = (amount: BigNumberInput): string => MathBN.convert(amount).toFixed(2)

const statuses: Readonly<Record<Payment["status"], PaymentSessionStatus>> = {
  pending: "pending",
  settled: "captured",
  failed: "error"
}

export class QuittancePaymentProvider extends AbstractPaymentProvider<QuittanceProviderOptions> {
  static override readonly identifier = "quittance"
  readonly #options: QuittanceProviderOptions
  readonly #quittance: Quittance
  readonly #module: PaymentModule

  static override validateOptions(options: Record<string, unknown>): void {
    const missing = optionNames.filter((name) => typeof options[name] !== "string" || options[name] === "")
    if (missing.length > 0) throw new Error(`Set ${missing.join(", ")} in the options of @quittance/medusa.`)
  }

  constructor(cradle: Record<string, unknown>, options: QuittanceProviderOptions) {
    super(cradle, options)
    this.#options = options
    this.#module = paymentModule(cradle)
    this.#quittance = new Quittance({ key: options.secretKey, baseUrl: options.baseUrl })
  }

  /** The storefront sends the buyer to `data.payUrl`, or opens the element with `data.intentToken`. */
  async initiatePayment({
    amount,
    currency_code,
    data
  }: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    if (currency_code.toLowerCase() !== "usd")
      throw new Error(`Quittance takes only US dollars, not ${currency_code.toUpperCase()}.`)
    const session = textOf(data, "session_id")
    const intentUrl = this.#returnUrlOf(session)
    const { intent, intentToken, paymentId } = await this.#quittance.paymentIntents.create({
      amount: usdOf(amount),
      intentUrl
    })
    const intentUrls = [...new Set([...this.#intentUrlsOf(data), intentUrl])]
    const fragment = new URLSearchParams({ token: intentToken, key: this.#options.publishableKey })
    const payUrl = `${this.#options.baseUrl.replace(/\/+$/, "")}/pay#${fragment}`
    return {
      id: paymentId,
      status: "pending",
      data: {
        ...data,
        session_id: session,
        paymentId,
        intentToken,
        amount: intent.amount,
        payUrl,
        intentUrls
      }
    }
  }

  /** Keeps an open payment of the same amount; otherwise creates a new intent. */
  async updatePayment(input: InitiatePaymentInput): Promise<PaymentProviderOutput> {
    const { payment, isReturned } = await this.#stateOf(input.data)
    const isSame = payment !== undefined && Number(payment.amount) === Number(usdOf(input.amount))
    if (isSame && payment.status !== "failed" && !isReturned)
      return { ...(input.data === undefined ? {} : { data: input.data }) }
    if (payment?.status === "settled" && !isReturned)
      throw new Error(`The session is paid with ${payment.amount} USD: refund it before the total changes.`)
    const { data } = await this.initiatePayment(input)
    return { ...(data === undefined ? {} : { data }) }
  }

  async authorizePayment({ data }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const { payment, isReturned } = await this.#stateOf(data)
    return this.#statusOf(data, payment, isReturned)
  }

  /** A captured payment keeps its status after a refund. */
  async getPaymentStatus({ data }: PaymentProviderInput): Promise<AuthorizePaymentOutput> {
    const { payment } = await this.#stateOf(data)
    return this.#statusOf(data, payment, false)
  }

  /** The money is already in the merchant's wallet. */
  async capturePayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    const { payment } = await this.#stateOf(data)
    if (payment?.status !== "settled") throw new Error("The payment has not settled.")
    return { data: { ...data, paymentId: payment.id, transactionId: payment.reportedTransactionId } }
  }

  /**
   * The merchant's own wallet sends a refund. The first call requests it and fails with instructions; once
   * the chain has proven the transfer, the same call succeeds.
   */
  async refundPayment({ amount, context, data }: RefundPaymentInput): Promise<PaymentProviderOutput> {
    const done = listOf(data, "refunds")
    const paymentId = textOf(data, "paymentId")
    const id = context?.idempotency_key
    const beside = id === undefined ? undefined : await this.#module.refundsBeside(id)
    const note = beside?.find((sibling) => sibling.id === id)?.note
    const { others, refund } = await shopRefund(this.#quittance, {
      paymentId,
      amount: usdOf(amount),
      done,
      note
    })
    if (refund.status !== "proven") {
      const [other] = others
      const more =
        other === undefined
          ? ""
          : ` If you mean refund ${other.id} of ${other.amount} USDC, which was not requested here, cancel this refund in the dashboard, and refund here again with that id in the note.`
      throw new Error(
        `Send ${refund.amount} USDC from your receiving address to ${refund.recipient} (your Quittance dashboard shows the refund with its QR code), then refund here again.${more}`
      )
    }
    if (refund.droppedAt !== undefined)
      throw new Error(
        `The chain no longer shows the transfer of ${refund.amount} USDC. Wait until it does, or cancel that refund in your Quittance dashboard and refund here again.`
      )
    if (id !== undefined && (await this.#hasConcurrentRefund(id, done.length)))
      throw new Error("Another refund of this payment is in progress. Refund here again in a moment.")
    return { data: { ...data, refunds: [...done, refund.id] } }
  }

  /**
   * True if Medusa is handling another refund of the payment, or has since it read `data`: both would count
   * the same transfer. An abandoned refund blocks others only for `inProgressMillis`.
   */
  async #hasConcurrentRefund(id: string, done: number): Promise<boolean> {
    const beside = (await this.#module.refundsBeside(id)) ?? []
    const since = Date.now() - inProgressMillis
    const isRecent = beside.some(
      ({ createdAt, id: otherId }) => otherId !== id && createdAt !== undefined && createdAt.getTime() > since
    )
    return isRecent && beside.length > done + 1
  }

  async retrievePayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    const { payment } = await this.#stateOf(data)
    return { data: { ...data, ...(payment === undefined ? {} : { payment }) } }
  }

  /** Nothing is reserved: an unpaid intent expires on its own. A later payment is refunded. */
  async cancelPayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    return { ...(data === undefined ? {} : { data }) }
  }

  async deletePayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    return { ...(data === undefined ? {} : { data }) }
  }

  /** Throws `WebhookVerificationError` if the delivery is not the service's. */
  async getWebhookActionAndData({
    headers,
    rawData
  }: ProviderWebhookPayload["payload"]): Promise<WebhookActionResult> {
    const signedHeaders = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))
    )
    const body = typeof rawData === "string" ? rawData : new Uint8Array(rawData)
    const { event, order } = await verifyDelivery(body, signedHeaders, this.#options.signingSecret)
    const session = order === null ? null : new URL(order.intentUrl).searchParams.get(sessionParameter)
    if (event.type !== "payment.settled" || order === null || session === null)
      return { action: "not_supported" }
    const atomic = event.tokenChanges.reduce((sum, change) => sum + BigInt(change.amountAtomic), 0n)
    const digits = atomic.toString().padStart(7, "0")
    const amount = Number(`${digits.slice(0, -6)}.${digits.slice(-6)}`)
    const why = await this.#obstacleOf(session, order, amount)
    if (why !== undefined) {
      await this.#refund(order.paymentId, amount, why)
      return { action: "not_supported" }
    }
    return { action: "captured", data: { session_id: session, amount } }
  }

  /** Why a payment completes no order; undefined if it may, or if Medusa lists no sessions. */
  async #obstacleOf(
    sessionId: string,
    { intentUrl, paymentId }: WebhookOrder,
    amount: number
  ): Promise<string | undefined> {
    const sessions = await this.#module.sessions(sessionId)
    if (sessions === undefined) return undefined
    const [session] = sessions
    if (session === undefined) {
      // The session of another shop of the same merchant is unknown here.
      const isOwn = intentUrl === this.#returnUrlOf(sessionId)
      return isOwn ? "its payment session was deleted before it was paid" : undefined
    }
    if (session.paidBy === paymentId) return undefined
    if (session.paidBy !== undefined) return "its payment session was paid already"
    const { amount: sessionAmount } = session.data
    if (typeof sessionAmount !== "string") return undefined
    if (Number(sessionAmount) !== amount) return `its payment session now asks for ${sessionAmount} USD`
    if (await this.#isPaidByAnother(session.data, paymentId))
      return "another payment pays its payment session"
    return undefined
  }

  /** If several payments settled before Medusa was notified, only one of them authorizes the session. */
  async #isPaidByAnother(data: Readonly<Record<string, unknown>>, paymentId: string): Promise<boolean> {
    const { payment, isReturned } = await this.#stateOf(data)
    return payment?.status === "settled" && !isReturned && payment.id !== paymentId
  }

  /**
   * Requests a refund, which waits in the dashboard until the merchant sends it. Its id is the payment's, so
   * a repeated delivery requests no second refund. If the service does not respond, Medusa tries again.
   */
  async #refund(paymentId: string, amount: number, why: string): Promise<void> {
    const refused = (await this.#isRefunded(paymentId))
      ? undefined
      : await this.#requestRefund(paymentId, why)
    const next =
      refused === undefined
        ? "Its refund is pending in your Quittance dashboard: send it, or cancel it there if you fulfil the order by hand."
        : `It could not be refunded (${refused.message}): create a refund of the payment in your Quittance dashboard.`
    this.#module.logError(
      `Quittance payment ${paymentId} of ${amount.toFixed(2)} USD completes no order: ${why}. ${next}`
    )
  }

  /** The reason why the service refuses the refund, if it would refuse it every time. */
  async #requestRefund(paymentId: string, why: string): Promise<QuittanceError | undefined> {
    try {
      await this.#quittance.refunds.create({
        id: paymentId,
        paymentId,
        reason: `No order in Medusa: ${why}.`
      })
      return undefined
    } catch (error) {
      if (error instanceof QuittanceError && !error.retryable) return error
      throw error
    }
  }

  #returnUrlOf(session: string): string {
    const returnUrl = new URL(this.#options.returnUrl)
    returnUrl.searchParams.set(sessionParameter, session)
    return returnUrl.href
  }

  /**
   * Every `intentUrl` that the session's payments may have: `returnUrl` may have changed since. A storefront
   * can put any data into a session, so URLs of other sessions do not count.
   */
  #intentUrlsOf(data: Readonly<Record<string, unknown>> | undefined): ReadonlyArray<string> {
    const session = textOf(data, "session_id")
    const sessionUrls = listOf(data, "intentUrls").filter(
      (url) => URL.parse(url)?.searchParams.get(sessionParameter) === session
    )
    return [...new Set([this.#returnUrlOf(session), ...sessionUrls])]
  }

  #statusOf(
    data: Readonly<Record<string, unknown>> | undefined,
    payment: Payment | undefined,
    isReturned: boolean
  ): AuthorizePaymentOutput {
    if (payment === undefined) return { status: "requires_more", ...(data === undefined ? {} : { data }) }
    return {
      status: isReturned ? "canceled" : statuses[payment.status],
      data: { ...data, paymentId: payment.id, transactionId: payment.reportedTransactionId }
    }
  }

  /**
   * The session's payment, and whether it was refunded and therefore pays for nothing. A page that is still
   * open may pay an earlier intent of the session; its payment counts if the amount is the same.
   */
  async #stateOf(
    data: Readonly<Record<string, unknown>> | undefined
  ): Promise<{ readonly payment: Payment | undefined; readonly isReturned: boolean }> {
    const latest = await this.#latestOf(data)
    const isReturned = latest?.status === "settled" && (await this.#isRefunded(latest.id))
    if (latest?.status === "settled" && !isReturned) return { payment: latest, isReturned }
    const amount = Number(textOf(data, "amount"))
    for (const intentUrl of this.#intentUrlsOf(data))
      for await (const payment of this.#quittance.payments.list({ intentUrl, limit: 100 })) {
        const pays =
          payment.id !== latest?.id && payment.status === "settled" && Number(payment.amount) === amount
        if (pays && !(await this.#isRefunded(payment.id))) return { payment, isReturned: false }
      }
    return { payment: latest, isReturned }
  }

  /** True if the payment was refunded, or a refund is pending. */
  async #isRefunded(paymentId: string): Promise<boolean> {
    for await (const { status } of this.#quittance.refunds.list({ paymentId, limit: 100 }))
      if (status === "pending" || status === "proven") return true
    return false
  }

  /** Undefined if the buyer has not opened the payment. */
  async #latestOf(data: Readonly<Record<string, unknown>> | undefined): Promise<Payment | undefined> {
    try {
      return await this.#quittance.payments.retrieve(textOf(data, "paymentId"))
    } catch (error) {
      if (error instanceof QuittanceError && error.code === "PAYMENT_NOT_FOUND") return undefined
      throw error
    }
  }
}

// biome-ignore lint/style/noDefaultExport: what Medusa loads
export default ModuleProvider(Modules.PAYMENT, { services: [QuittancePaymentProvider] })
