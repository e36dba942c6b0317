// Runs the checkout: keeps its model, carries out the commands of transition.ts against the
// service, the wallet and the browser's storage, and feeds the results back.
import {
  forgetAnnounced,
  forgetAttempt,
  giveUp,
  readAttempt,
  sweepAttempts,
  wasAddressShown,
  watchAttempt,
  writeAttempt
} from "./attempt.ts"
import { Announcements } from "./Checkout/Announcements.ts"
import { BuyerIdentity } from "./Checkout/BuyerIdentity.ts"
import { fund, readBalance } from "./Checkout/balance.ts"
import { followAttempt, inquireAttempt } from "./Checkout/followAttempt.ts"
import { missingHere } from "./Checkout/missingHere.ts"
import { sign } from "./Checkout/payBySignature.ts"
import { payByTransfer } from "./Checkout/payByTransfer.ts"
import { readAddress } from "./Checkout/readAddress.ts"
import { readAttempts } from "./Checkout/readAttempts.ts"
import { prove, relay, report } from "./Checkout/report.ts"
import { SendingLock } from "./Checkout/SendingLock.ts"
import type { Session } from "./Checkout/Session.ts"
import { WalletConnection } from "./Checkout/WalletConnection.ts"
import type { Command } from "./Command.ts"
import { readIntentToken } from "./intentToken.ts"
import type { Message, Tell } from "./Message.ts"
import { beforePayment, initial, type Model } from "./Model.ts"
import { checkoutService, ServiceError } from "./service.ts"
import { forgetSigned, readSigned, sweepSigned } from "./signed.ts"
import { switchChain } from "./switchChain.ts"
import { transition } from "./transition.ts"
import { failureOf } from "./wallets.ts"

export interface CheckoutOptions {
  /** Origin of the service. */
  readonly baseUrl: string
  readonly intentToken: string
  readonly publishableKey: string
  readonly changed: (model: Model) => void
}

/** The reason for the shop's developer; the buyer sees a plain sentence. */
const tellDevelopers = ({ refusal: { code, docUrl, said } }: ServiceError): void => {
  if (said === undefined || !/KEY|TOKEN|REQUEST/.test(code)) return
  console.error(`<quittance-checkout> ${code}: ${said}${docUrl === undefined ? "" : ` See ${docUrl}`}`)
}

export class Checkout {
  model: Model = initial
  readonly paymentId: string | undefined
  readonly #options: CheckoutOptions
  readonly #session: Session
  readonly #lock: SendingLock
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  readonly #stops: Array<() => void> = []
  #stopped = false

  constructor(options: CheckoutOptions) {
    const { baseUrl, intentToken, publishableKey } = options
    const claims = readIntentToken(intentToken)
    const service = checkoutService(baseUrl, publishableKey)
    const identity = new BuyerIdentity(claims?.id)
    const send = (message: Message) => this.send(message)
    this.#options = options
    this.paymentId = claims?.id
    this.#lock = new SendingLock(this.paymentId ?? "")
    this.#session = {
      intentToken,
      claims,
      service,
      identity,
      wallet: new WalletConnection(identity, send),
      announcements: new Announcements(service, intentToken, identity),
      model: () => this.model,
      isCurrent: (epoch) => this.model.epoch === epoch && !this.#stopped,
      send
    }
  }

  start(): void {
    void this.#begin()
  }

  async #begin(): Promise<void> {
    const missing = await missingHere()
    if (this.#stopped) return
    if (missing !== undefined) {
      console.error(`<quittance-checkout> ${missing.code}: ${missing.remedy}`)
      return this.#cannotStart(missing.code)
    }
    sweepAttempts(Date.now())
    sweepSigned(Math.floor(Date.now() / 1000))
    const { paymentId } = this
    if (paymentId !== undefined) {
      this.#stops.push(
        watchAttempt(paymentId, (attempt) => {
          if (attempt !== undefined) this.send({ type: "AttemptSeen", attempt })
        })
      )
    }
    const look = () => void this.#lookAgain()
    document.addEventListener("visibilitychange", look)
    this.#stops.push(() => document.removeEventListener("visibilitychange", look))
    this.#stops.push(this.#session.wallet.discover())
    this.#run({ run: "load" })
  }

  /** The code that a phone scans instead of the token, once the payment is open. */
  get resumeCode(): string | undefined {
    return this.#session.service.resumeCode()
  }

  #cannotStart(code: string): void {
    const refusal = { code, reason: undefined, actual: undefined, retryAfter: undefined, retryable: false }
    this.send({ type: "LoadFailed", refusal })
  }

  /** Ends timers and listeners. A wallet prompt that is open keeps its record. */
  stop(): void {
    this.#stopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    for (const stop of this.#stops) stop()
    this.#session.wallet.stop()
    this.#lock.release()
  }

  send(message: Message): void {
    if (this.#stopped) return
    if (message.type === "ChangeWallet" || message.type === "ShowPanel") this.#session.wallet.forget()
    const before = this.model
    const [model, commands] = transition(before, message)
    this.model = model
    if (model !== before) this.#options.changed(model)
    for (const command of commands) this.#run(command)
    if (before.state !== "settled" && model.state === "settled") void this.#readReceipt()
  }

  /** Carries out a command; a result that comes after the buyer has changed course is dropped. */
  #run(command: Command): void {
    const session = this.#session
    const { epoch } = this.model
    const isCurrent = () => session.isCurrent(epoch)
    const tell: Tell = (message) => {
      if (isCurrent()) this.send(message)
    }
    const alone = (ask: () => Promise<void>) => this.#lock.hold(ask, () => tell({ type: "Elsewhere" }))
    switch (command.run) {
      case "wait": {
        const timer = setTimeout(() => {
          this.#timers.delete(timer)
          if (isCurrent()) this.#run(command.next)
        }, command.millis)
        this.#timers.add(timer)
        return
      }
      case "save":
        writeAttempt(command.attempt)
        return
      case "forget":
        forgetAttempt(command.attempt)
        forgetAnnounced(command.attempt.paymentId, command.attempt.from)
        return
      case "giveUp":
        giveUp(command.attempt)
        return
      case "forgetSigned":
        forgetSigned(this.paymentId ?? "")
        return
      case "release":
        this.#lock.release()
        return
      case "load":
        return void this.#load(tell)
      case "restore":
        return void session.wallet.restore(tell)
      case "connect":
        return void session.wallet.connect(command.walletId, isCurrent, tell)
      case "switchChain":
        return void this.#switchChain(tell)
      case "readBalance":
        return void readBalance(session, tell)
      case "readAttempts":
        return void readAttempts(session, tell)
      case "fund":
        return void fund(session, tell)
      case "readAddress":
        return void readAddress(session, tell)
      case "sign":
        return void alone(() => sign(session, tell))
      case "relay":
        return void relay(session, command.signed, tell)
      case "pay":
        return void alone(() => payByTransfer(session, command.again, tell))
      case "awaitLock":
        return void this.#awaitLock(tell)
      case "inquire":
        return void inquireAttempt(session, command.attempt, tell)
      case "follow":
        return void followAttempt(session, command.attempt, tell)
      case "prove":
        return void prove(session, command.attempt, tell)
      case "poll":
        return void report(session, tell)
    }
  }

  async #load(tell: Tell): Promise<void> {
    const { intentToken, service, wallet } = this.#session
    try {
      const reading = this.model.context ?? service.context()
      // While a network is closed no wallet is spoken to, and no payment opened.
      const mayBeClosed = this.#options.publishableKey.startsWith("pk_live_")
      if (mayBeClosed && !(await reading).open) return this.#cannotStart("LIVE_MODE_GATED")
      const [context, payment] = await Promise.all([reading, service.open(intentToken)])
      const attempt = readAttempt(payment.id)
      const signed = readSigned(payment.id)
      wallet.offerWalletConnect(this.#options.baseUrl, context)
      const elsewhere = await this.#lock.isHeldElsewhere()
      const addressShown = wasAddressShown(payment.id)
      tell({ type: "Loaded", context, payment, attempt, signed, elsewhere, addressShown })
    } catch (error) {
      if (error instanceof ServiceError) {
        tellDevelopers(error)
        const id = this.paymentId ?? ""
        const onRecord = (readAttempt(id) ?? readSigned(id)) !== undefined || wasAddressShown(id)
        tell({ type: "LoadFailed", refusal: error.refusal, onRecord })
      } else {
        console.error("<quittance-checkout> could not start:", error)
        this.#cannotStart("UNEXPECTED")
      }
    }
  }

  /** The payment may have settled on another device while this page was out of sight. */
  async #lookAgain(): Promise<void> {
    const { intentToken, service } = this.#session
    if (document.visibilityState === "hidden" || !beforePayment.has(this.model.state)) return
    const payment = await service.open(intentToken).catch(() => undefined)
    if (payment === undefined || payment.status === "pending" || !beforePayment.has(this.model.state)) return
    this.send({ type: "Superseded", payment })
  }

  /** A payment is paid without its receipt being read. */
  async #readReceipt(): Promise<void> {
    const url = await this.#session.service.receipt(this.paymentId ?? "").catch(() => undefined)
    if (url !== undefined) this.send({ type: "ReceiptRead", url })
  }

  async #switchChain(tell: Tell): Promise<void> {
    const { context } = this.model
    if (context === undefined) return
    try {
      tell({ type: "Switched", chainId: await switchChain(this.#session.wallet.provider, context.chain) })
    } catch (error) {
      tell({ type: "SwitchFailed", failure: failureOf(error) })
    }
  }

  async #awaitLock(tell: Tell): Promise<void> {
    await this.#lock.untilFree()
    tell({ type: "LockFreed", attempt: readAttempt(this.paymentId ?? "") })
  }
}
