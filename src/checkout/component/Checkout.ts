// Runs the checkout: keeps the model of flow.ts, carries out its commands against the
// service, the wallet and the browser's storage, and feeds the results back.
import { createDidToken } from "../../buyers/createDidToken.ts"
import {
  type Attempt,
  forgetAttempt,
  lockName,
  readAttempt,
  sweepAttempts,
  watchAttempt,
  writeAttempt
} from "./attempt.ts"
import { follow, inquire, isHash, minedNonce, nonceOf, startingPoint } from "./chain.ts"
import { atomicOf, encodeBalanceOf, encodeTransfer, sameHex, toQuantity } from "./erc20.ts"
import {
  beforePayment,
  type Command,
  initial,
  type Message,
  type Model,
  reportedElsewhere,
  transition
} from "./flow.ts"
import { type IntentClaims, readIntentToken } from "./intentToken.ts"
import type { MessageKey } from "./messages/en.ts"
import { type CheckoutService, checkoutService, ServiceError } from "./service.ts"
import { switchChain } from "./switchChain.ts"
import {
  accountsOf,
  ask,
  askChainId,
  askQuantity,
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

export class Checkout {
  model: Model = initial
  readonly paymentId: string | undefined
  readonly #options: CheckoutOptions
  readonly #claims: IntentClaims | undefined
  readonly #service: CheckoutService
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  readonly #stops: Array<() => void> = []
  #wallets: ReadonlyArray<Wallet> = []
  #wallet: Wallet | undefined
  #unlisten = () => {}
  #identity: Identity | undefined
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
    sweepAttempts(Date.now())
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
        this.#wallets = wallets
        this.send({
          type: "WalletsFound",
          wallets: wallets.map(({ id, rdns, name, icon }) => ({ id, rdns, name, icon }))
        })
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
    if (message.type === "ChangeWallet") {
      this.#listenTo(undefined)
      storage.set(undefined)
    }
    const before = this.model
    const [model, commands] = transition(before, message)
    this.model = model
    if (model !== before) this.#options.changed(model)
    for (const command of commands) this.#run(command)
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
        return
      case "release":
        this.#release?.()
        return
      default:
        void this.#perform(command, tell)
    }
  }

  async #perform(
    command: Exclude<Command, { readonly run: "wait" | "save" | "forget" | "release" }>,
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
      case "fund":
        return this.#fund(tell)
      case "pay":
        return this.#pay(command.again, tell)
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
      const attempt = readAttempt(payment.id)
      tell({ type: "Loaded", context, payment, attempt, elsewhere: await this.#sendingElsewhere() })
    } catch (error) {
      if (error instanceof ServiceError) tell({ type: "LoadFailed", refusal: error.refusal })
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
    try {
      const [account] = accountsOf(await ask(wallet.provider, "eth_requestAccounts"))
      if (account === undefined) return tell({ type: "ConnectFailed", failure: "unauthorized" })
      this.#connected(wallet, account, await askChainId(wallet.provider), tell)
    } catch (error) {
      tell({ type: "ConnectFailed", failure: failureOf(error) })
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
    const { account, context } = this.model
    if (account === undefined || context === undefined) return
    try {
      tell({ type: "BalanceRead", balance: await this.#balanceOf(account, context.env === "test") })
    } catch {
      tell({ type: "BalanceFailed" })
    }
  }

  async #balanceOf(account: string, test: boolean) {
    if (test) return this.#service.balance(account)
    const provider = this.#provider
    const [usdcAtomic, gasWei] = await Promise.all([
      askQuantity(provider, "eth_call", [
        { to: this.#claims?.token.address, data: encodeBalanceOf(account) },
        "latest"
      ]),
      askQuantity(provider, "eth_getBalance", [account, "latest"])
    ])
    return { usdcAtomic, gasWei }
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
      { audience: this.#options.baseUrl, lifetimeSeconds: identityLifetimeSeconds, now }
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

  async #pay(again: boolean, tell: (message: Message) => void): Promise<void> {
    // A prompt that was given up lets go of the lock first.
    await new Promise((resolve) => setTimeout(resolve, 0))
    await navigator.locks.request(this.#lockName, { ifAvailable: true }, async (lock) => {
      if (lock === null) return tell({ type: "Elsewhere" })
      const released = new Promise<void>((resolve) => {
        this.#release = resolve
      })
      const mine = this.#release
      await Promise.race([this.#payAlone(again, tell), released])
      if (this.#release === mine) this.#release = undefined
    })
  }

  /** One tab at a time comes here. Nothing is sent before the attempt is on record. */
  async #payAlone(again: boolean, tell: (message: Message) => void): Promise<void> {
    const { account, disowned, payment, context } = this.model
    const claims = this.#claims
    if (account === undefined || payment === undefined || context === undefined || claims === undefined)
      return
    const { epoch } = this.model
    const notSent = (notice: MessageKey, chainId?: number) => tell({ type: "NotSent", notice, chainId })
    let provider: Eip1193Provider
    let attempt: Attempt
    try {
      const earlier = readAttempt(payment.id)
      if (earlier !== undefined && (!again || earlier.hash !== null)) {
        return tell(
          earlier.hash === null ? { type: "Unclear", attempt: earlier } : { type: "Sent", attempt: earlier }
        )
      }
      const now = await this.#service.open(this.#options.intentToken)
      if (now.status !== "pending" || reportedElsewhere(now, disowned))
        return tell({ type: "Superseded", payment: now })

      provider = this.#provider
      const identity = await this.#identify(account)
      tell({ type: "Asking", step: "transfer" })
      const [accounts, chainId] = await Promise.all([
        ask(provider, "eth_accounts").then(accountsOf),
        askChainId(provider)
      ])
      if (chainId !== context.chain.id) return notSent("noticeWrongAccount", chainId)
      if (!accounts.some((one) => sameHex(one, account))) return notSent("noticeWrongAccount")
      const start = await startingPoint(provider, account)
      const reusable =
        earlier !== undefined &&
        sameHex(earlier.from, account) &&
        (await minedNonce(provider, account)) <= earlier.nonce
      attempt = {
        version: 1,
        id: crypto.randomUUID(),
        paymentId: payment.id,
        from: account,
        nonce: reusable ? earlier.nonce : start.nonce,
        block: earlier?.block ?? start.block,
        startedAt: Date.now(),
        buyerToken: identity.token,
        hash: null,
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
    await this.#sendTransfer(provider, attempt, claims, atomicOf(payment.amount), tell)
  }

  async #sendTransfer(
    provider: Eip1193Provider,
    attempt: Attempt,
    { receiver, token }: IntentClaims,
    atomic: bigint,
    tell: (message: Message) => void
  ): Promise<void> {
    try {
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
      await this.#noteNonce(provider, sent, hash)
    } catch (error) {
      const notice = nothingSent[failureOf(error)]
      if (notice === undefined) return tell({ type: "Unclear", attempt })
      forgetAttempt(attempt)
      // A refusal counts however late it comes, unless a newer attempt has taken over.
      const declined: Message = { type: "NotSent", notice, chainId: undefined }
      if (this.model.attempt?.id === attempt.id) this.send(declined)
      else tell(declined)
    }
  }

  /** Wallets may ignore the nonce they are given; what follows goes by the one they used. */
  async #noteNonce(provider: Eip1193Provider, attempt: Attempt, hash: Hex): Promise<void> {
    const nonce = await nonceOf(provider, hash).catch(() => undefined)
    if (nonce === undefined || nonce === attempt.nonce) return
    if (readAttempt(attempt.paymentId)?.hash === hash) writeAttempt({ ...attempt, nonce })
  }

  // After the wallet was asked

  get #atomic(): bigint {
    return atomicOf(this.model.payment?.amount ?? "0.00")
  }

  async #inquire(attempt: Attempt, tell: (message: Message) => void): Promise<void> {
    if (this.#claims === undefined) return
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

  async #follow(attempt: Attempt, tell: (message: Message) => void): Promise<void> {
    const kept = readAttempt(attempt.paymentId) ?? attempt
    if (this.#claims === undefined || this.#wallet === undefined || kept.hash === null) return
    try {
      const replaced = await follow(this.#provider, { ...kept, hash: kept.hash }, this.#claims, this.#atomic)
      if (replaced === "lost") tell({ type: "Lost" })
      else if (replaced !== undefined) tell({ type: "TransferFound", hash: replaced })
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
    const { attempt, context } = this.model
    const claims = this.#claims
    if (claims === undefined || context === undefined) return
    const gated = context.env === "live"
    try {
      if (attempt?.hash == null) {
        const payment = await this.#service.open(this.#options.intentToken)
        return tell(
          payment.status === "pending"
            ? { type: "StillPending", payment, retryAfter: undefined, gated }
            : { type: "Reported", payment }
        )
      }
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
              retryAfter: answer.outcome === "pending" ? answer.retryAfter : undefined,
              gated: answer.outcome === "gated"
            }
      )
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      tell({ type: "ReportRefused", refusal: error.refusal })
    }
  }
}
