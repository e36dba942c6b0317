// Runs the checkout: holds its model, executes the commands of transition.ts with the service, the wallet and the
// browser's storage, and feeds the results back.
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
import type { Dispatch, Message } from "./Message.ts"
import { beforePayment, initial, type Model, mayPay } from "./Model.ts"
import { checkoutService, ServiceError } from "./service.ts"
import { forgetSigned, readSigned, sweepSigned } from "./signed.ts"
import { switchChain } from "./switchChain.ts"
import { transition } from "./transition.ts"
import { failureOf } from "./wallets.ts"

/** A page that offers to pay checks this often whether the payment is paid from elsewhere. */
const lookMillis = 10_000

export interface CheckoutOptions {
  /** Origin of the service. */
  readonly baseUrl: string
  readonly intentToken: string
  readonly publishableKey: string
  readonly changed: (model: Model) => void
}

/** Logs the reason for the shop's developer; the buyer sees a plain sentence. */
const logForDevelopers = ({ refusal: { code, docUrl, serviceMessage } }: ServiceError): void => {
  if (serviceMessage === undefined || !/KEY|TOKEN|REQUEST/.test(code)) return
  console.error(
    `<quittance-checkout> ${code}: ${serviceMessage}${docUrl === undefined ? "" : ` See ${docUrl}`}`
  )
}

export class Checkout {
  model: Model = initial
  readonly paymentId: string | undefined
  readonly #options: CheckoutOptions
  readonly #session: Session
  readonly #lock: SendingLock
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  /** At most one check of the attempts is scheduled, however many commands request it. */
  #nextLook: ReturnType<typeof setTimeout> | undefined
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
    this.#begin().catch((error: unknown) => this.#failed(error))
  }

  async #begin(): Promise<void> {
    const missing = await missingHere(() => this.#isOnRecord())
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
    const looking = setInterval(() => this.#lookElsewhere(), lookMillis)
    this.#stops.push(() => clearInterval(looking))
    this.#stops.push(this.#session.wallet.discover())
    this.#run({ run: "load" })
  }

  /** The code that a phone scans instead of the token, once the payment is open. */
  get resumeCode(): string | undefined {
    return this.#session.service.resumeCode()
  }

  #cannotStart(code: string, onRecord = false): void {
    const refusal = { code, reason: undefined, actual: undefined, retryAfter: undefined, retryable: false }
    this.send({ type: "LoadFailed", refusal, onRecord })
  }

  /** A fault of this code, or of the page around it. */
  #failed(error: unknown): void {
    console.error("<quittance-checkout> could not start:", error)
    this.#cannotStart("UNEXPECTED", this.#isOnRecord())
  }

  /** True if money may have been sent for the payment before, as far as this browser knows. */
  #isOnRecord(): boolean {
    const id = this.paymentId ?? ""
    return (readAttempt(id) ?? readSigned(id)) !== undefined || wasAddressShown(id)
  }

  /** Ends timers and listeners. An open wallet prompt keeps its record. */
  stop(): void {
    this.#stopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    clearTimeout(this.#nextLook)
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

  /** Executes a command; its result is dropped if the buyer has changed course. */
  #run(command: Command): void {
    const session = this.#session
    const { epoch } = this.model
    const isCurrent = () => session.isCurrent(epoch)
    const dispatch: Dispatch = (message) => {
      if (isCurrent()) this.send(message)
    }
    const alone = (ask: () => Promise<void>) => this.#lock.hold(ask, () => dispatch({ type: "Elsewhere" }))
    switch (command.run) {
      case "wait": {
        const timer = setTimeout(() => {
          this.#timers.delete(timer)
          if (isCurrent()) this.#run(command.next)
        }, command.millis)
        if (command.next.run === "readAttempts") {
          clearTimeout(this.#nextLook)
          this.#nextLook = timer
        } else this.#timers.add(timer)
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
        return void this.#load(dispatch)
      case "restore":
        return void session.wallet.restore(dispatch)
      case "connect":
        return void session.wallet.connect(command.walletId, isCurrent, dispatch)
      case "switchChain":
        return void this.#switchChain(dispatch)
      case "readBalance":
        return void readBalance(session, dispatch)
      case "readAttempts":
        return void readAttempts(session, dispatch)
      case "fund":
        return void fund(session, dispatch)
      case "readAddress":
        return void readAddress(session, dispatch)
      case "sign":
        return void alone(() => sign(session, dispatch))
      case "relay":
        return void relay(session, command.signed, dispatch)
      case "pay":
        return void alone(() => payByTransfer(session, command.again, dispatch))
      case "awaitLock":
        return void this.#awaitLock(dispatch)
      case "inquire":
        return void inquireAttempt(session, command.attempt, dispatch)
      case "follow":
        return void followAttempt(session, command.attempt, dispatch)
      case "prove":
        return void prove(session, command.attempt, dispatch)
      case "poll":
        return void report(session, dispatch)
    }
  }

  async #load(dispatch: Dispatch): Promise<void> {
    const { intentToken, service, wallet } = this.#session
    try {
      const reading = this.model.context ?? service.context()
      // While a network is closed, no wallet is contacted and no payment is opened. The test network is always open.
      const mayBeClosed = !this.#options.publishableKey.startsWith("pk_test_")
      if (mayBeClosed && !(await reading).open)
        return this.#cannotStart("LIVE_MODE_GATED", this.#isOnRecord())
      const [context, payment] = await Promise.all([reading, service.open(intentToken)])
      const attempt = readAttempt(payment.id)
      const signed = readSigned(payment.id)
      wallet.offerWalletConnect(this.#options.baseUrl, context)
      const elsewhere = await this.#lock.isHeldElsewhere()
      const addressShown = wasAddressShown(payment.id)
      dispatch({ type: "Loaded", context, payment, attempt, signed, elsewhere, addressShown })
    } catch (error) {
      if (error instanceof ServiceError) {
        logForDevelopers(error)
        dispatch({ type: "LoadFailed", refusal: error.refusal, onRecord: this.#isOnRecord() })
      } else this.#failed(error)
    }
  }

  /** The payment may have settled on another device while this page was out of sight. */
  async #lookAgain(): Promise<void> {
    const { intentToken, service } = this.#session
    if (document.visibilityState === "hidden" || !beforePayment.has(this.model.state)) return
    const payment = await service.open(intentToken).catch(() => undefined)
    if (payment?.status === "pending") return this.#lookElsewhere()
    if (payment === undefined || !beforePayment.has(this.model.state)) return
    this.send({ type: "Superseded", payment })
  }

  /** The payment's money may be on the chain, sent from elsewhere. */
  #lookElsewhere(): void {
    if (document.visibilityState !== "hidden" && mayPay(this.model)) this.#run({ run: "readAttempts" })
  }

  /** A settled payment whose receipt was not read yet. */
  async #readReceipt(): Promise<void> {
    const url = await this.#session.service.receipt(this.paymentId ?? "").catch(() => undefined)
    if (url !== undefined) this.send({ type: "ReceiptRead", url })
  }

  async #switchChain(dispatch: Dispatch): Promise<void> {
    const { context } = this.model
    if (context === undefined) return
    try {
      dispatch({ type: "Switched", chainId: await switchChain(this.#session.wallet.provider, context.chain) })
    } catch (error) {
      dispatch({ type: "SwitchFailed", failure: failureOf(error) })
    }
  }

  async #awaitLock(dispatch: Dispatch): Promise<void> {
    await this.#lock.untilFree()
    dispatch({ type: "LockFreed", attempt: readAttempt(this.paymentId ?? "") })
  }
}
