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
  /** The page to which the buyer returns; the session's id is added as `quittance_session`. */
  readonly returnUrl: string
}

const optionNames = ["baseUrl", "secretKey", "publishableKey", "signingSecret", "returnUrl"] as const
const sessionParameter = "quittance_session"
/** Longer than a call of the service takes with its retries. */
const inHandMillis = 300_000

const textOf = (data: Readonly<Record<string, unknown>> | undefined, name: string): string => {
  const value = data?.[name]
  if (typeof value !== "string" || value === "") throw new Error(`The payment session has no ${name}.`)
  return value
}
const listOf = (data: Readonly<Record<string, unknown>> | undefined, name: string): ReadonlyArray<string> => {
  const value = data?.[name]
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []
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

  /** `data.payUrl` is where the storefront sends the buyer; `data.intentToken` opens the element instead. */
  async initiatePayment({
    amount,
    currency_code,
    data
  }: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    if (currency_code.toLowerCase() !== "usd")
      throw new Error(`Quittance takes US dollars alone, not ${currency_code.toUpperCase()}.`)
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

  /** A payment that is open stays for the same amount; for another one, or before it is opened, there is a new one. */
  async updatePayment(input: InitiatePaymentInput): Promise<PaymentProviderOutput> {
    const { payment, isReturned } = await this.#standingOf(input.data)
    const isSame = payment !== undefined && Number(payment.amount) === Number(usdOf(input.amount))
    if (isSame && payment.status !== "failed" && !isReturned)
      return { ...(input.data === undefined ? {} : { data: input.data }) }
    if (payment?.status === "settled" && !isReturned)
      throw new Error(`The session is paid with ${payment.amount} USD: refund it before the total changes.`)
    const { data } = await this.initiatePayment(input)
    return { ...(data === undefined ? {} : { data }) }
  }

  async authorizePayment({ data }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const { payment, isReturned } = await this.#standingOf(data)
    return this.#statusOf(data, payment, isReturned)
  }

  /** Also of a payment that was captured, and refunded since. */
  async getPaymentStatus({ data }: PaymentProviderInput): Promise<AuthorizePaymentOutput> {
    const { payment } = await this.#standingOf(data)
    return this.#statusOf(data, payment, false)
  }

  /** The money is in the merchant's wallet already. */
  async capturePayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    const { payment } = await this.#standingOf(data)
    if (payment?.status !== "settled") throw new Error("The payment has not settled.")
    return { data: { ...data, paymentId: payment.id, transactionId: payment.reportedTransactionId } }
  }

  /**
   * The merchant's own wallet sends a refund: the first call asks for it and fails with what to do; once the
   * chain has proven the transfer, the same call is done.
   */
  async refundPayment({ amount, context, data }: RefundPaymentInput): Promise<PaymentProviderOutput> {
    const done = listOf(data, "refunds")
    const paymentId = textOf(data, "paymentId")
    const id = context?.idempotency_key
    const beside = id === undefined ? undefined : await this.#module.refundsBeside(id)
    const note = beside?.find((one) => one.id === id)?.note
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
          : ` If you mean refund ${other.id} of ${other.amount} USDC, which was not asked for here, cancel this one there, and refund here with that id in the note.`
      throw new Error(
        `Send ${refund.amount} USDC from your receiving address to ${refund.recipient} (your Quittance dashboard shows the refund with its QR code), then refund here once more.${more}`
      )
    }
    if (refund.droppedAt !== undefined)
      throw new Error(
        `The chain no longer shows the transfer of ${refund.amount} USDC. Wait until it does, or cancel that refund in your Quittance dashboard, and refund here once more.`
      )
    if (id !== undefined && (await this.#isBesideAnother(id, done.length)))
      throw new Error("Another refund of this payment is being handled. Refund here once more in a moment.")
    return { data: { ...data, refunds: [...done, refund.id] } }
  }

  /**
   * True if Medusa is just about another refund of the payment, or has done one since it read `data`: what that one
   * takes would be taken twice. One that Medusa has left behind, as when it was killed, keeps nobody waiting for good.
   */
  async #isBesideAnother(id: string, done: number): Promise<boolean> {
    const beside = (await this.#module.refundsBeside(id)) ?? []
    const since = Date.now() - inHandMillis
    const isRecent = beside.some(
      (one) => one.id !== id && one.createdAt !== undefined && one.createdAt.getTime() > since
    )
    return isRecent && beside.length > done + 1
  }

  async retrievePayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    const { payment } = await this.#standingOf(data)
    return { data: { ...data, ...(payment === undefined ? {} : { payment }) } }
  }

  /** Nothing is reserved: an intent that nobody pays ends by itself. One that is paid later is given back. */
  async cancelPayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    return { ...(data === undefined ? {} : { data }) }
  }

  async deletePayment({ data }: PaymentProviderInput): Promise<PaymentProviderOutput> {
    return { ...(data === undefined ? {} : { data }) }
  }

  /** Throws `WebhookVerificationError` where the delivery is not the service's. */
  async getWebhookActionAndData({
    headers,
    rawData
  }: ProviderWebhookPayload["payload"]): Promise<WebhookActionResult> {
    const given = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))
    )
    const body = typeof rawData === "string" ? rawData : new Uint8Array(rawData)
    const { event, order } = await verifyDelivery(body, given, this.#options.signingSecret)
    const session = order === null ? null : new URL(order.intentUrl).searchParams.get(sessionParameter)
    if (event.type !== "payment.settled" || order === null || session === null)
      return { action: "not_supported" }
    const atomic = event.tokenChanges.reduce((sum, change) => sum + BigInt(change.amountAtomic), 0n)
    const digits = atomic.toString().padStart(7, "0")
    const amount = Number(`${digits.slice(0, -6)}.${digits.slice(-6)}`)
    const why = await this.#whyUseless(session, order, amount)
    if (why !== undefined) {
      await this.#giveBack(order.paymentId, amount, why)
      return { action: "not_supported" }
    }
    return { action: "captured", data: { session_id: session, amount } }
  }

  /** The reason why a payment completes no order; undefined where it may, or where Medusa does not say what the session is. */
  async #whyUseless(
    sessionId: string,
    { intentUrl, paymentId }: WebhookOrder,
    amount: number
  ): Promise<string | undefined> {
    const found = await this.#module.sessions(sessionId)
    if (found === undefined) return undefined
    const [session] = found
    if (session === undefined) {
      // Of another shop of the same merchant, nothing is known here.
      const isOwn = intentUrl === this.#returnUrlOf(sessionId)
      return isOwn ? "its payment session was deleted before it was paid" : undefined
    }
    if (session.paidBy === paymentId) return undefined
    if (session.paidBy !== undefined) return "its payment session was paid already"
    const { amount: asked } = session.data
    if (typeof asked !== "string") return undefined
    if (Number(asked) !== amount) return `its payment session asks for ${asked} USD by now`
    if (await this.#isPaidByAnother(session.data, paymentId))
      return "another payment pays its payment session"
    return undefined
  }

  /** If several payments settled before Medusa was notified, only one of them authorizes the session. */
  async #isPaidByAnother(data: Readonly<Record<string, unknown>>, paymentId: string): Promise<boolean> {
    const { payment, isReturned } = await this.#standingOf(data)
    return payment?.status === "settled" && !isReturned && payment.id !== paymentId
  }

  /**
   * Asks for a refund, which waits in the merchant's dashboard until their wallet has sent it. Its id is the payment's:
   * a delivery that comes again asks for no other one. Where the service does not answer, Medusa tries again.
   */
  async #giveBack(paymentId: string, amount: number, why: string): Promise<void> {
    const refused = (await this.#isRefunded(paymentId)) ? undefined : await this.#askForRefund(paymentId, why)
    const next =
      refused === undefined
        ? "Its refund waits in your Quittance dashboard: send it, or cancel it there where you take the order by hand."
        : `No refund of it could be made (${refused.message}): make one at the payment in your Quittance dashboard.`
    this.#module.logError(
      `Quittance payment ${paymentId} of ${amount.toFixed(2)} USD completes no order: ${why}. ${next}`
    )
  }

  /** The reason why the service makes none, where it would say the same each time. */
  async #askForRefund(paymentId: string, why: string): Promise<QuittanceError | undefined> {
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
   * All that its payments were asked for under: `returnUrl` may have changed since. A storefront may give a session
   * data of its own, so those of another session do not count.
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
   * The session's payment, and whether its money was given back, so that it pays for nothing. A page that is still
   * open pays the session's intent of before; its money counts where the amount is the same.
   */
  async #standingOf(
    data: Readonly<Record<string, unknown>> | undefined
  ): Promise<{ readonly payment: Payment | undefined; readonly isReturned: boolean }> {
    const latest = await this.#latestOf(data)
    const isReturned = latest?.status === "settled" && (await this.#isRefunded(latest.id))
    if (latest?.status === "settled" && !isReturned) return { payment: latest, isReturned }
    const amount = Number(textOf(data, "amount"))
    for (const intentUrl of this.#intentUrlsOf(data))
      for await (const one of this.#quittance.payments.list({ intentUrl, limit: 100 })) {
        const pays = one.id !== latest?.id && one.status === "settled" && Number(one.amount) === amount
        if (pays && !(await this.#isRefunded(one.id))) return { payment: one, isReturned: false }
      }
    return { payment: latest, isReturned }
  }

  /** True if the merchant gives it back, or has: it then pays for nothing any more. */
  async #isRefunded(paymentId: string): Promise<boolean> {
    for await (const { status } of this.#quittance.refunds.list({ paymentId, limit: 100 }))
      if (status === "pending" || status === "proven") return true
    return false
  }

  /** Undefined where the buyer has not opened it. */
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
