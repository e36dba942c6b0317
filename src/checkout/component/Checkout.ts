// Runs the checkout: keeps its model, carries out the commands of transition.ts against the
// service, the wallet and the browser's storage, and feeds the results back.
import { createDidToken } from "../../buyers/createDidToken.ts"
import {
  type Attempt,
  announcedId,
  forgetAnnounced,
  forgetAttempt,
  lockName,
  markAnnounced,
  readAnnounced,
  readAttempt,
  sweepAttempts,
  watchAttempt,
  writeAttempt
} from "./attempt.ts"
import type { Command } from "./Command.ts"
import { callsStatus, sendCalls, takesCalls } from "./calls.ts"
import { follow, inquire, isHash, minedNonce, sentTransaction, startingPoint } from "./chain.ts"
import { atomicOf, encodeTransfer, sameHex, toQuantity } from "./erc20.ts"
import { readIntentToken, type UnverifiedIntent } from "./intentToken.ts"
import type { Message } from "./Message.ts"
import { beforePayment, initial, type Model } from "./Model.ts"
import type { MessageKey } from "./messages/en.ts"
import { type CheckoutService, checkoutService, ServiceError, type SigningTerms } from "./service.ts"
import { forgetSigned, readSigned, type SignedTerms, sweepSigned, writeSigned } from "./signed.ts"
import { switchChain } from "./switchChain.ts"
import { transition } from "./transition.ts"
import { makeWalletConnect } from "./walletConnect.ts"
import {
  accountsOf,
  ask,
  askChainId,
  chainIdOf,
  discoverWallets,
  type Eip1193Provider,
  type Hex,
  type Wallet,
  WalletError,
  type WalletFailure,
  walletErrorOf
} from "./wallets.ts"

const identityLifetimeSeconds = 2 * 3600
/** A token with less left than this is not used for a new payment. */
const identityReserveSeconds = 15 * 60
/** Terms older than this are fetched again before they are signed: they expire after minutes. */
const freshTermsMillis = 120_000
const rememberedWallet = "quittance-checkout-wallet"

interface Identity {
  readonly token: string
  readonly account: string
  /** Unix seconds. */
  readonly expires: number
}

export interface CheckoutOptions {
  /** Origin of the service. */
  readonly baseUrl: string
  readonly intentToken: string
  readonly publishableKey: string
  readonly changed: (model: Model) => void
}

const seconds = () => Math.floor(Date.now() / 1000)

const hexOfUtf8 = (text: string): Hex =>
  `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("")}`

const failureOf = (error: unknown): WalletFailure => walletErrorOf(error).failure

const nothingSent: { readonly [F in WalletFailure]?: MessageKey } = {
  rejected: "noticeDeclined",
  busy: "noticeWalletBusy",
  unauthorized: "noticeUnauthorized",
  funds: "noticeNoGas"
}

const storage = {
  get: (): string | null => {
    try {
      return localStorage.getItem(rememberedWallet)
    } catch {
      return null
    }
  },
  set: (rdns: string | undefined) => {
    try {
      if (rdns === undefined) localStorage.removeItem(rememberedWallet)
      else localStorage.setItem(rememberedWallet, rdns)
    } catch {
      // Without storage the wallet is chosen again after a reload.
    }
  }
}

/**
 * A wallet that has taken calls and forgotten them may still send them, and a transaction that its node has never
 * shown may still be mined, under any nonce; a buyer is asked after this time.
 */
const forgottenMillis = 600_000

/** Wallets may ignore the nonce they are asked to use; what follows goes by the one they used. */
const noteNonce = (attempt: Attempt & { readonly hash: Hex }, nonce: number | undefined): void => {
  if (nonce === undefined || attempt.nonceSeen === true) return
  if (readAttempt(attempt.paymentId)?.hash === attempt.hash)
    writeAttempt({ ...attempt, nonce, nonceSeen: true })
}

/** The reason for the shop's developer; the buyer sees a plain sentence. */
const tellDevelopers = ({ refusal: { code, docUrl, said } }: ServiceError): void => {
  if (said === undefined || !/KEY|TOKEN|REQUEST/.test(code)) return
  console.error(`<quittance-checkout> ${code}: ${said}${docUrl === undefined ? "" : ` See ${docUrl}`}`)
}

/** Whether no other attempt has taken its place. */
const isLatest = ({ id, paymentId }: Attempt): boolean => readAttempt(paymentId)?.id === id

/** Puts back what was on record before the attempt, unless another one has taken its place. */
const restore = (attempt: Attempt, earlier: Attempt | undefined): void => {
  if (!isLatest(attempt)) return
  if (earlier === undefined) forgetAttempt(attempt)
  else writeAttempt(earlier)
}

export class Checkout {
  model: Model = initial
  readonly paymentId: string | undefined
  readonly #options: CheckoutOptions
  readonly #claims: UnverifiedIntent | undefined
  readonly #service: CheckoutService
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  readonly #stops: Array<() => void> = []
  /** On the page (EIP-6963), or injected. */
  #announced: ReadonlyArray<Wallet> = []
  #walletConnect: Wallet | undefined
  #wallet: Wallet | undefined
  #unlisten = () => {}
  /** The wallet says that it takes calls, and does not. */
  #refusesCalls = false
  #identity: Identity | undefined
  /** Taking back an announcement, which the next one waits for. */
  #withdrawing: Promise<void> = Promise.resolve()
  /** Lets go of the sending lock, while this tab holds it. */
  #release: (() => void) | undefined
  #stopped = false

  constructor(options: CheckoutOptions) {
    this.#options = options
    this.#claims = readIntentToken(options.intentToken)
    this.paymentId = this.#claims?.id
    this.#service = checkoutService(options.baseUrl, options.publishableKey)
  }

  start(): void {
    // Without https there are no Web Locks, and wallets refuse the page.
    if (!isSecureContext) {
      this.#cannotStart("INSECURE_CONTEXT")
      return
    }
    // No wallet is spoken to, and no payment opened.
    if (this.#options.publishableKey.startsWith("pk_live_")) {
      this.#cannotStart("LIVE_MODE_GATED")
      return
    }
    sweepAttempts(Date.now())
    sweepSigned(seconds())
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
    this.#stops.push(
      discoverWallets((wallets) => {
        this.#announced = wallets
        this.#tellWallets()
      })
    )
    this.#run({ run: "load" })
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
    this.#unlisten()
    this.#release?.()
  }

  send(message: Message): void {
    if (this.#stopped) return
    if (message.type === "ChangeWallet" || message.type === "ShowPanel") {
      this.#listenTo(undefined)
      storage.set(undefined)
    }
    const before = this.model
    const [model, commands] = transition(before, message)
    this.model = model
    if (model !== before) this.#options.changed(model)
    for (const command of commands) this.#run(command)
    if (before.state !== "settled" && model.state === "settled") void this.#readReceipt()
  }

  /** A payment is paid without its receipt being read. */
  async #readReceipt(): Promise<void> {
    const url = await this.#service.receipt(this.paymentId ?? "").catch(() => undefined)
    if (url !== undefined) this.send({ type: "ReceiptRead", url })
  }

  /** Carries out a command; a result that comes after the buyer has changed course is dropped. */
  #run(command: Command): void {
    const { epoch } = this.model
    const tell = (message: Message) => {
      if (this.model.epoch === epoch) this.send(message)
    }
    switch (command.run) {
      case "wait": {
        const timer = setTimeout(() => {
          this.#timers.delete(timer)
          if (!this.#stopped && this.model.epoch === epoch) this.#run(command.next)
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
        this.#giveUp(command.attempt)
        return
      case "forgetSigned":
        forgetSigned(this.paymentId ?? "")
        return
      case "release":
        this.#release?.()
        return
      default:
        void this.#perform(command, tell)
    }
  }

  async #perform(
    command: Exclude<
      Command,
      { readonly run: "wait" | "save" | "forget" | "giveUp" | "forgetSigned" | "release" }
    >,
    tell: (message: Message) => void
  ): Promise<void> {
    switch (command.run) {
      case "load":
        return this.#load(tell)
      case "restore":
        return this.#restore(tell)
      case "connect":
        return this.#connect(command.walletId, tell)
      case "switchChain":
        return this.#switchChain(tell)
      case "readBalance":
        return this.#readBalance(tell)
      case "readAttempts":
        return this.#readAttempts(tell)
      case "fund":
        return this.#fund(tell)
      case "readAddress":
        return this.#readAddress(tell)
      case "sign":
        return this.#alone(tell, () => this.#sign(tell))
      case "relay":
        return this.#relay(command.signed, tell)
      case "pay":
        return this.#alone(tell, () => this.#payAlone(command.again, tell))
      case "awaitLock":
        return this.#awaitLock(tell)
      case "inquire":
        return this.#inquire(command.attempt, tell)
      case "follow":
        return this.#follow(command.attempt, tell)
      case "prove":
        return this.#prove(command.attempt, tell)
      case "poll":
        return this.#poll(tell)
    }
  }

  // Loading

  async #load(tell: (message: Message) => void): Promise<void> {
    const { intentToken } = this.#options
    try {
      const [context, payment] = await Promise.all([
        this.model.context ?? this.#service.context(),
        this.#service.open(intentToken)
      ])
      if (context.env !== "test") return this.#cannotStart("LIVE_MODE_GATED")
      const attempt = readAttempt(payment.id)
      const signed = readSigned(payment.id)
      this.#walletConnect ??= makeWalletConnect(this.#options.baseUrl, context)
      if (this.#walletConnect !== undefined) this.#tellWallets()
      tell({ type: "Loaded", context, payment, attempt, signed, elsewhere: await this.#sendingElsewhere() })
    } catch (error) {
      if (error instanceof ServiceError) {
        tellDevelopers(error)
        tell({ type: "LoadFailed", refusal: error.refusal })
      }
      // A sandboxed frame has neither storage nor locks: no double payment could be ruled out there.
      else this.#cannotStart("STORAGE_BLOCKED")
    }
  }

  /** The payment may have settled on another device while this page was out of sight. */
  async #lookAgain(): Promise<void> {
    if (document.visibilityState === "hidden" || !beforePayment.has(this.model.state)) return
    const payment = await this.#service.open(this.#options.intentToken).catch(() => undefined)
    if (payment === undefined || payment.status === "pending" || !beforePayment.has(this.model.state)) return
    this.send({ type: "Superseded", payment })
  }

  async #sendingElsewhere(): Promise<boolean> {
    const { held } = await navigator.locks.query()
    return held?.some(({ name }) => name === this.#lockName) === true && this.#release === undefined
  }

  get #lockName(): string {
    return lockName(this.paymentId ?? "")
  }

  async #awaitLock(tell: (message: Message) => void): Promise<void> {
    // Let a wallet prompt of this tab go first, or it would wait for itself.
    await new Promise((resolve) => setTimeout(resolve, 0))
    await navigator.locks.request(this.#lockName, () => {})
    tell({ type: "LockFreed", attempt: readAttempt(this.paymentId ?? "") })
  }

  // Wallets

  get #wallets(): ReadonlyArray<Wallet> {
    return this.#walletConnect === undefined ? this.#announced : [...this.#announced, this.#walletConnect]
  }

  #tellWallets(): void {
    this.send({
      type: "WalletsFound",
      wallets: this.#wallets.map(({ id, rdns, name, icon }) => ({ id, rdns, name, icon }))
    })
  }

  async #restore(tell: (message: Message) => void): Promise<void> {
    const rdns = storage.get()
    const wallet = this.#wallets.find((one) => one.rdns === rdns)
    if (wallet === undefined || this.#wallet !== undefined) return tell({ type: "NotConnected" })
    try {
      const [account] = accountsOf(await ask(wallet.provider, "eth_accounts"))
      if (account === undefined) return tell({ type: "NotConnected" })
      const chainId = await askChainId(wallet.provider)
      if (this.#wallet !== undefined) return
      this.#connected(wallet, account, chainId, tell)
    } catch {
      tell({ type: "NotConnected" })
    }
  }

  async #connect(walletId: string, tell: (message: Message) => void): Promise<void> {
    const wallet = this.#wallets.find(({ id }) => id === walletId)
    if (wallet === undefined) return tell({ type: "ConnectFailed", failure: "unclear" })
    const { epoch } = this.model
    const offer = (uri: unknown) => {
      if (typeof uri === "string") tell({ type: "PairingOffered", uri })
    }
    wallet.provider.on?.("display_uri", offer)
    try {
      const [account] = accountsOf(await ask(wallet.provider, "eth_requestAccounts"))
      if (account === undefined) return tell({ type: "ConnectFailed", failure: "unauthorized" })
      const chainId = await askChainId(wallet.provider)
      // An approval that comes after the buyer has gone another way connects nothing.
      if (this.#stopped || this.model.epoch !== epoch) return
      this.#connected(wallet, account, chainId, tell)
    } catch (error) {
      tell({ type: "ConnectFailed", failure: failureOf(error) })
    } finally {
      wallet.provider.removeListener?.("display_uri", offer)
    }
  }

  #connected(wallet: Wallet, account: string, chainId: number, tell: (message: Message) => void): void {
    this.#listenTo(wallet)
    storage.set(wallet.rdns)
    tell({ type: "Connected", walletId: wallet.id, account, chainId, identified: this.#identified(account) })
  }

  #listenTo(wallet: Wallet | undefined): void {
    this.#unlisten()
    this.#wallet = wallet
    this.#refusesCalls = false
    this.#unlisten = () => {}
    if (wallet === undefined) return
    const { provider } = wallet
    const changed = (accounts: unknown) => {
      const [account] = accountsOf(accounts)
      if (account === undefined) this.#listenTo(undefined)
      this.send({
        type: "AccountsChanged",
        account,
        identified: account !== undefined && this.#identified(account)
      })
    }
    const listeners: ReadonlyArray<readonly [string, (value: unknown) => void]> = [
      ["accountsChanged", changed],
      [
        "chainChanged",
        (value) => {
          const chainId = chainIdOf(value)
          if (chainId !== undefined) this.send({ type: "ChainChanged", chainId })
        }
      ],
      // EIP-1193: the wallet has lost every chain.
      ["disconnect", () => changed([])]
    ]
    for (const [event, listener] of listeners) provider.on?.(event, listener)
    this.#unlisten = () => {
      for (const [event, listener] of listeners) provider.removeListener?.(event, listener)
    }
  }

  get #provider(): Eip1193Provider {
    if (this.#wallet === undefined) throw new WalletError("unauthorized", "no wallet is connected")
    return this.#wallet.provider
  }

  async #switchChain(tell: (message: Message) => void): Promise<void> {
    const { context } = this.model
    if (context === undefined) return
    try {
      tell({ type: "Switched", chainId: await switchChain(this.#provider, context.chain) })
    } catch (error) {
      tell({ type: "SwitchFailed", failure: failureOf(error) })
    }
  }

  async #readBalance(tell: (message: Message) => void): Promise<void> {
    const { account } = this.model
    if (account === undefined) return
    try {
      const [balance, terms, byCalls] = await Promise.all([
        this.#service.balance(account),
        this.#terms(account),
        this.#takesCalls(account)
      ])
      tell({ type: "BalanceRead", balance, terms, byCalls })
    } catch {
      tell({ type: "BalanceFailed" })
    }
  }

  async #takesCalls(account: string): Promise<boolean> {
    const { context } = this.model
    if (context === undefined || this.#wallet === undefined || this.#refusesCalls) return false
    return takesCalls(this.#wallet.provider, account, context.chain.id)
  }

  /** What the account would sign for exactly this payment; undefined where the service does not say. */
  async #terms(account: string): Promise<SigningTerms | undefined> {
    const claims = this.#claims
    if (claims === undefined) return undefined
    const terms = await this.#service.terms(claims.id, account).catch(() => undefined)
    return terms !== undefined &&
      sameHex(terms.receiver, claims.receiver) &&
      sameHex(terms.token.address, claims.token.address) &&
      terms.token.chainId === claims.token.chainId &&
      terms.atomic === this.#atomic
      ? terms
      : undefined
  }

  async #readAttempts(tell: (message: Message) => void): Promise<void> {
    const { account, payment } = this.model
    if (payment === undefined) return
    try {
      const announced = account === undefined ? undefined : readAnnounced(payment.id, account)
      const lost = announced?.state === "lost" ? announced : undefined
      const [all, own] = await Promise.all([
        this.#service.attempts(payment.id),
        account === undefined ? undefined : this.#service.attempts(payment.id, account, lost)
      ])
      const mine = own?.attempts ?? []
      // What this browser announced itself, and never asked the wallet for, it announces again.
      const ours = announced !== undefined && lost === undefined
      tell({
        type: "AttemptsRead",
        account,
        payment: all.payment,
        own: ours ? undefined : mine[0],
        others: all.attempts.filter((one) =>
          mine.every(({ payer, since }) => payer !== one.payer || since !== one.since)
        )
      })
    } catch {
      tell({ type: "AttemptsUnread" })
    }
  }

  async #readAddress(tell: (message: Message) => void): Promise<void> {
    const { payment } = this.model
    if (payment === undefined) return
    try {
      const address = await this.#service.address(payment.id)
      // What the service says is held against what the intent names.
      const { receiver } = this.#claims ?? {}
      if (receiver === undefined || !sameHex(address.address, receiver))
        return tell({ type: "AddressUnread" })
      tell({ type: "AddressRead", address })
    } catch {
      tell({ type: "AddressUnread" })
    }
  }

  // The buyer's identity

  #identified(account: string): boolean {
    const identity = this.#identity
    return (
      identity !== undefined &&
      sameHex(identity.account, account) &&
      identity.expires > seconds() + identityReserveSeconds
    )
  }

  async #identify(account: string): Promise<Identity> {
    if (this.#identity !== undefined && this.#identified(account)) return this.#identity
    const provider = this.#provider
    const { context } = this.model
    if (context?.env !== "test") throw new WalletError("unauthorized", "live payments are not open")
    const now = seconds()
    const token = await createDidToken(
      {
        address: account,
        signMessage: async ({ message }) => {
          const signature = await ask(provider, "personal_sign", [hexOfUtf8(message), account])
          if (typeof signature !== "string") throw new WalletError("unclear", "no signature")
          return signature
        }
      },
      {
        audience: context.audience,
        lifetimeSeconds: identityLifetimeSeconds,
        now,
        // Good for this payment alone.
        ...(this.paymentId === undefined ? {} : { id: this.paymentId })
      }
    )
    this.#identity = { token, account, expires: now + identityLifetimeSeconds }
    return this.#identity
  }

  async #fund(tell: (message: Message) => void): Promise<void> {
    const { account } = this.model
    if (account === undefined) return
    try {
      const { token } = await this.#identify(account)
      tell({ type: "Funded", balance: await this.#service.fund(token) })
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        return tell({ type: "FundingDeclined", failure: failureOf(error) })
      }
      if (error.refusal.code === "INVALID_BUYER_TOKEN") this.#identity = undefined
      tell({ type: "FundingFailed", refusal: error.refusal })
    }
  }

  // Paying

  /** One tab at a time asks its wallet for money. */
  async #alone(tell: (message: Message) => void, ask: () => Promise<void>): Promise<void> {
    // A prompt that was given up lets go of the lock first.
    await new Promise((resolve) => setTimeout(resolve, 0))
    await navigator.locks.request(this.#lockName, { ifAvailable: true }, async (lock) => {
      if (lock === null) return tell({ type: "Elsewhere" })
      const released = new Promise<void>((resolve) => {
        this.#release = resolve
      })
      const mine = this.#release
      await Promise.race([ask(), released])
      if (this.#release === mine) this.#release = undefined
    })
  }

  /** One prompt: what it signs pays this payment alone, and moves nothing until it is handed in. */
  async #sign(tell: (message: Message) => void): Promise<void> {
    const { account, payment, epoch } = this.model
    if (account === undefined || payment === undefined) return
    const notSent = (notice: MessageKey) => tell({ type: "NotSent", notice, chainId: undefined })
    let terms: SigningTerms | undefined = this.model.terms
    try {
      const earlier = readAttempt(payment.id)
      if (earlier !== undefined) {
        return tell(
          earlier.hash === null ? { type: "Unclear", attempt: earlier } : { type: "Sent", attempt: earlier }
        )
      }
      const now = await this.#service.open(this.#options.intentToken)
      if (now.status !== "pending") return tell({ type: "Superseded", payment: now })
      if (terms === undefined || Date.now() - terms.readAt > freshTermsMillis)
        terms = await this.#terms(account)
    } catch {
      return notSent("noticeUnreachable")
    }
    if (terms?.relayed !== true) return tell({ type: "NotRelayed" })
    try {
      const signature = await ask(this.#provider, "eth_signTypedData_v4", [account, terms.json])
      if (typeof signature !== "string") throw new WalletError("unclear", "no signature")
      // The buyer has changed course while the wallet was asked: what they signed goes nowhere.
      if (this.model.epoch !== epoch || this.#stopped) return
      const { validAfter, validBefore } = terms
      const signed: SignedTerms = { payer: account, validAfter, validBefore, signature }
      writeSigned(payment.id, signed)
      tell({ type: "Signed", signed })
    } catch (error) {
      const chainId = await askChainId(this.#provider).catch(() => undefined)
      tell({ type: "SignFailed", failure: failureOf(error), chainId })
    }
  }

  async #relay(signed: SignedTerms, tell: (message: Message) => void): Promise<void> {
    try {
      const { payment, ...answer } = await this.#service.relay(this.paymentId ?? "", signed)
      tell(
        answer.outcome === "settled"
          ? { type: "Reported", payment }
          : { type: "StillPending", payment, retryAfter: answer.retryAfter }
      )
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      tell({ type: "RelayRefused", refusal: error.refusal })
    }
  }

  /** One tab at a time comes here. Nothing is sent before the attempt is on record. */
  async #payAlone(again: boolean, tell: (message: Message) => void): Promise<void> {
    const { account, payment, context } = this.model
    const claims = this.#claims
    if (account === undefined || payment === undefined || context === undefined || claims === undefined)
      return
    const { epoch } = this.model
    const notSent = (notice: MessageKey, chainId?: number) => tell({ type: "NotSent", notice, chainId })
    let provider: Eip1193Provider
    let attempt: Attempt
    let earlier: Attempt | undefined
    try {
      await this.#withdrawing
      earlier = readAttempt(payment.id)
      if (earlier !== undefined && (!again || earlier.hash !== null)) {
        return tell(
          earlier.hash === null ? { type: "Unclear", attempt: earlier } : { type: "Sent", attempt: earlier }
        )
      }
      const now = await this.#service.open(this.#options.intentToken)
      if (now.status !== "pending") return tell({ type: "Superseded", payment: now })

      provider = this.#provider
      const identity = await this.#identify(account)
      tell({ type: "Asking", step: "transfer" })
      const [accounts, chainId] = await Promise.all([
        ask(provider, "eth_accounts").then(accountsOf),
        askChainId(provider)
      ])
      const byCalls = earlier === undefined ? this.model.byCalls : earlier.calls !== undefined
      if (!byCalls && chainId !== context.chain.id) return notSent("noticeWrongAccount", chainId)
      if (!accounts.some((one) => sameHex(one, account))) return notSent("noticeWrongAccount")
      const start = byCalls ? { nonce: 0, block: 0 } : await startingPoint(provider, account)
      const reused =
        !byCalls &&
        earlier !== undefined &&
        sameHex(earlier.from, account) &&
        (await minedNonce(provider, account)) <= earlier.nonce
          ? earlier.nonce
          : undefined
      attempt = {
        version: 1,
        id: crypto.randomUUID(),
        paymentId: payment.id,
        from: account,
        nonce: reused ?? start.nonce,
        block: earlier?.block ?? start.block,
        startedAt: Date.now(),
        buyerToken: identity.token,
        hash: null,
        // The same id again is the same request: a wallet takes it once.
        ...(byCalls ? { calls: earlier?.calls ?? { id: crypto.randomUUID(), taken: false } } : {}),
        refused: earlier?.refused ?? []
      }
      // The buyer has changed course while the wallet was asked for the signature.
      if (this.model.epoch !== epoch || this.#stopped) return
      if (!writeAttempt(attempt)) return notSent("failedStorage")
    } catch (error) {
      if (error instanceof ServiceError) return notSent("noticeUnreachable")
      const failure = failureOf(error)
      return notSent(nothingSent[failure] ?? "noticeNoNetwork")
    }
    const told = await this.#announce(attempt, earlier, tell)
    if (told === undefined) return
    if (this.model.epoch !== epoch || this.#stopped) {
      // An answer may come late: the announcement is a newer attempt's where one has taken over.
      const latest = isLatest(attempt)
      restore(attempt, earlier)
      if (latest && earlier === undefined) await this.#withdraw(attempt)
      return
    }
    await this.#sendTransfer(provider, told, earlier, claims, atomicOf(payment.amount), tell)
  }

  /** Tells the service. Answers the attempt as it may be sent; undefined where the wallet must not be asked. */
  async #announce(
    attempt: Attempt,
    earlier: Attempt | undefined,
    tell: (message: Message) => void
  ): Promise<Attempt | undefined> {
    const { buyerToken, from, paymentId } = attempt
    const notSent = (notice: MessageKey) => tell({ type: "NotSent", notice, chainId: undefined })
    let kept = readAnnounced(paymentId, from)
    try {
      if (kept?.state === "lost") {
        const { attempts } = await this.#service.attempts(paymentId, from, kept)
        if (attempts.length > 0) {
          restore(attempt, earlier)
          tell({ type: "AttemptOpen" })
          return undefined
        }
        forgetAnnounced(paymentId, from, kept.id)
        kept = undefined
      }
      if (kept?.state === "withdrawn") {
        // By another tab, or before a reload: its request may arrive after this announcement, and must not end it.
        await this.#service.withdraw(paymentId, kept.id)
        forgetAnnounced(paymentId, from, kept.id)
        kept = undefined
      }
      const nonce = await this.#service.announce(paymentId, {
        buyerDidToken: buyerToken,
        attemptId: announcedId(paymentId, from, Date.now()),
        ...(attempt.calls === undefined ? { nonce: attempt.nonce } : {})
      })
      if (nonce === undefined || attempt.calls !== undefined || nonce === attempt.nonce) return attempt
      const fixed: Attempt = { ...attempt, nonce }
      if (writeAttempt(fixed)) return fixed
      notSent("failedStorage")
    } catch (error) {
      restore(attempt, earlier)
      const { code, retryable } =
        error instanceof ServiceError ? error.refusal : { code: "NETWORK", retryable: true }
      // The next attempt is another one, but where this one may have arrived.
      if (!retryable) forgetAnnounced(paymentId, from)
      switch (code) {
        case "INVALID_REQUEST":
          // The service has ended the attempt of this id.
          if (kept !== undefined && writeAttempt(attempt)) return this.#announce(attempt, earlier, tell)
          notSent("noticeUnreachable")
          break
        case "PAYMENT_ATTEMPT_OPEN":
          tell({ type: "AttemptOpen" })
          break
        case "PAYMENT_SETTLED":
        case "PAYMENT_FAILED": {
          const payment = await this.#service.open(this.#options.intentToken).catch(() => undefined)
          if (payment === undefined) notSent("noticeUnreachable")
          else tell({ type: "Superseded", payment })
          break
        }
        case "INVALID_BUYER_TOKEN":
          this.#identity = undefined
          notSent("noticeOtherSigner")
          break
        default:
          notSent("noticeUnreachable")
      }
    }
    return undefined
  }

  /** The wallet has answered and asks no more: the service is told so before another attempt takes its place. */
  #giveUp(attempt: Attempt): void {
    const { from, paymentId } = attempt
    const announced = readAnnounced(paymentId, from)
    const kept = readAttempt(paymentId)
    // Another tab may have asked the wallet again: that nonce is not this one's.
    const isSeen = kept?.id === attempt.id && kept.nonceSeen === true
    forgetAttempt(attempt)
    if (announced !== undefined)
      markAnnounced(paymentId, from, announced, "lost", isSeen ? kept.nonce : undefined)
  }

  /** Takes the announcement back: the wallet has sent nothing. */
  async #withdraw({ paymentId, from }: Attempt): Promise<void> {
    const announced = readAnnounced(paymentId, from)
    if (announced === undefined) return
    markAnnounced(paymentId, from, announced, "withdrawn")
    this.#withdrawing = this.#service.withdraw(paymentId, announced.id).then(
      () => forgetAnnounced(paymentId, from, announced.id),
      // Kept: whoever announces next asks for it once more.
      () => {}
    )
    await Promise.race([this.#withdrawing, new Promise((resolve) => setTimeout(resolve, 2_000))])
  }

  async #sendTransfer(
    provider: Eip1193Provider,
    attempt: Attempt,
    earlier: Attempt | undefined,
    { receiver, token }: UnverifiedIntent,
    atomic: bigint,
    tell: (message: Message) => void
  ): Promise<void> {
    try {
      if (attempt.calls !== undefined) {
        const id = await sendCalls(provider, {
          id: attempt.calls.id,
          from: attempt.from,
          chainId: token.chainId,
          to: token.address,
          data: encodeTransfer(receiver, atomic)
        })
        const taken: Attempt = { ...attempt, calls: { id, taken: true } }
        writeAttempt(taken)
        this.send({ type: "Sent", attempt: taken })
        return
      }
      const hash = await ask(provider, "eth_sendTransaction", [
        {
          from: attempt.from,
          to: token.address,
          value: "0x0",
          data: encodeTransfer(receiver, atomic),
          nonce: toQuantity(attempt.nonce)
        }
      ])
      if (!isHash(hash)) return tell({ type: "Unclear", attempt })
      const sent: Attempt = { ...attempt, hash }
      writeAttempt(sent)
      // However late the wallet answers: the money has moved.
      this.send({ type: "Sent", attempt: sent })
      noteNonce({ ...sent, hash }, (await sentTransaction(provider, hash).catch(() => undefined))?.nonce)
    } catch (error) {
      const failure = failureOf(error)
      const notice = nothingSent[failure]
      if (attempt.calls !== undefined && failure === "unauthorized") this.#refusesCalls = true
      if (notice === undefined) return tell({ type: "Unclear", attempt })
      // A refusal counts however late it comes, unless a newer attempt has taken over.
      const latest = isLatest(attempt)
      restore(attempt, earlier)
      // An earlier request may still be approved: this refusal says nothing of it.
      if (latest && earlier === undefined) await this.#withdraw(attempt)
      const declined: Message =
        earlier === undefined
          ? { type: "NotSent", notice, chainId: undefined }
          : { type: "Unclear", attempt: earlier }
      if (this.model.attempt?.id === attempt.id) this.send(declined)
      else tell(declined)
    }
  }

  // After the wallet was asked

  get #atomic(): bigint {
    return atomicOf(this.model.payment?.amount ?? "0.00")
  }

  async #inquire(attempt: Attempt, tell: (message: Message) => void): Promise<void> {
    if (this.#claims === undefined) return
    if (attempt.calls !== undefined) return this.#inquireCalls(attempt, attempt.calls, this.#claims, tell)
    try {
      const found = await inquire(this.#provider, attempt, this.#claims, this.#atomic)
      tell(
        found.outcome === "found"
          ? { type: "TransferFound", hash: found.hash }
          : { type: "NoTransfer", mined: found.mined, pending: found.pending }
      )
    } catch {
      tell({ type: "ChainSilent" })
    }
  }

  /** The service may know before the wallet says: it watches the chain for what was announced. */
  async #inquireCalls(
    attempt: Attempt,
    { id, taken }: NonNullable<Attempt["calls"]>,
    claims: UnverifiedIntent,
    tell: (message: Message) => void
  ): Promise<void> {
    try {
      const payment = await this.#service.open(this.#options.intentToken).catch(() => undefined)
      if (payment !== undefined && payment.status !== "pending") return tell({ type: "Superseded", payment })
      const status = await callsStatus(this.#provider, id, attempt, claims, this.#atomic)
      switch (status.outcome) {
        case "found":
          return tell({ type: "TransferFound", hash: status.hash })
        case "waits":
          return tell({ type: "NoTransfer", mined: false, pending: true })
        case "unknown": {
          const pending = taken && Date.now() - attempt.startedAt < forgottenMillis
          return tell({ type: "NoTransfer", mined: false, pending })
        }
        case "failed":
          await this.#withdraw(attempt)
          return tell({ type: "NoTransfer", mined: true, pending: false })
      }
    } catch {
      tell({ type: "ChainSilent" })
    }
  }

  async #follow(attempt: Attempt, tell: (message: Message) => void): Promise<void> {
    const kept = readAttempt(attempt.paymentId) ?? attempt
    if (this.#claims === undefined || this.#wallet === undefined || kept.hash === null) return
    // What calls become is not replaced by the account's next transaction.
    if (kept.calls !== undefined) return
    const sent = { ...kept, hash: kept.hash }
    try {
      const course = await follow(this.#provider, sent, this.#claims, this.#atomic)
      if (course.outcome === "stands") noteNonce(sent, course.nonce)
      if (course.outcome === "replaced") tell({ type: "TransferFound", hash: course.hash })
      // The nonce that it was asked to use proves nothing of the one that it has.
      const isProven = kept.nonceSeen === true || Date.now() - kept.startedAt >= forgottenMillis
      if (course.outcome === "lost" && isProven) tell({ type: "Lost" })
    } catch {
      // The service goes on looking for the transaction; the next poll follows again.
    }
  }

  async #prove(attempt: Attempt, tell: (message: Message) => void): Promise<void> {
    const { account } = this.model
    try {
      if (account === undefined) throw new WalletError("unauthorized", "no wallet is connected")
      this.#identity = undefined
      const { token } = await this.#identify(account)
      const proven: Attempt = { ...attempt, buyerToken: token }
      writeAttempt(proven)
      tell({ type: "Proven", attempt: proven })
    } catch (error) {
      tell({ type: "ProveFailed", failure: failureOf(error) })
    }
  }

  async #poll(tell: (message: Message) => void): Promise<void> {
    const { attempt } = this.model
    const claims = this.#claims
    if (claims === undefined || attempt?.hash == null) return
    try {
      const answer = await this.#service.report(claims.id, {
        buyerDidToken: attempt.buyerToken,
        transactionId: attempt.hash,
        tokenChanges: [
          {
            amountAtomic: this.#atomic.toString(),
            chainId: claims.token.chainId,
            receiver: claims.receiver,
            tokenAddress: claims.token.address
          }
        ]
      })
      tell(
        answer.outcome === "settled"
          ? { type: "Reported", payment: answer.payment }
          : {
              type: "StillPending",
              payment: answer.payment,
              retryAfter: answer.retryAfter
            }
      )
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      tell({ type: "ReportRefused", refusal: error.refusal })
    }
  }
}
