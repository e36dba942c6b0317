// The wallets to choose from, and the one that is connected.

import type { CheckoutContext } from "../CheckoutContext.ts"
import { takesCalls } from "../calls.ts"
import type { Message, Tell } from "../Message.ts"
import { makeWalletConnect } from "../walletConnect.ts"
import {
  accountsOf,
  ask,
  askChainId,
  chainIdOf,
  discoverWallets,
  type Eip1193Provider,
  failureOf,
  type Wallet,
  WalletError
} from "../wallets.ts"
import type { BuyerIdentity } from "./BuyerIdentity.ts"
import { rememberedWallet } from "./rememberedWallet.ts"

export class WalletConnection {
  readonly #identity: BuyerIdentity
  readonly #send: (message: Message) => void
  /** On the page (EIP-6963), or injected. */
  #announced: ReadonlyArray<Wallet> = []
  #walletConnect: Wallet | undefined
  #wallet: Wallet | undefined
  #unlisten = () => {}
  /** The wallet says that it takes calls, and does not. */
  #refusesCalls = false

  constructor(identity: BuyerIdentity, send: (message: Message) => void) {
    this.#identity = identity
    this.#send = send
  }

  /** Tells of every wallet on the page. Answers how to stop. */
  discover(): () => void {
    return discoverWallets((wallets) => {
      this.#announced = wallets
      this.#tellWallets()
    })
  }

  offerWalletConnect(baseUrl: string, context: CheckoutContext): void {
    this.#walletConnect ??= makeWalletConnect(baseUrl, context)
    if (this.#walletConnect !== undefined) this.#tellWallets()
  }

  get #wallets(): ReadonlyArray<Wallet> {
    return this.#walletConnect === undefined ? this.#announced : [...this.#announced, this.#walletConnect]
  }

  #tellWallets(): void {
    this.#send({
      type: "WalletsFound",
      wallets: this.#wallets.map(({ id, rdns, name, icon }) => ({ id, rdns, name, icon }))
    })
  }

  /** The wallet of before the reload, without a prompt. */
  async restore(tell: Tell): Promise<void> {
    const rdns = rememberedWallet.get()
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

  async connect(walletId: string, isCurrent: () => boolean, tell: Tell): Promise<void> {
    const wallet = this.#wallets.find(({ id }) => id === walletId)
    if (wallet === undefined) return tell({ type: "ConnectFailed", failure: "unclear" })
    const offer = (uri: unknown) => {
      if (typeof uri === "string") tell({ type: "PairingOffered", uri })
    }
    wallet.provider.on?.("display_uri", offer)
    try {
      const [account] = accountsOf(await ask(wallet.provider, "eth_requestAccounts"))
      if (account === undefined) return tell({ type: "ConnectFailed", failure: "unauthorized" })
      const chainId = await askChainId(wallet.provider)
      // An approval that comes after the buyer has gone another way connects nothing.
      if (!isCurrent()) return
      this.#connected(wallet, account, chainId, tell)
    } catch (error) {
      tell({ type: "ConnectFailed", failure: failureOf(error) })
    } finally {
      wallet.provider.removeListener?.("display_uri", offer)
    }
  }

  #connected(wallet: Wallet, account: string, chainId: number, tell: Tell): void {
    this.#listenTo(wallet)
    rememberedWallet.set(wallet.rdns)
    const identified = this.#identity.isKnown(account)
    tell({ type: "Connected", walletId: wallet.id, account, chainId, identified })
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
      this.#send({
        type: "AccountsChanged",
        account,
        identified: account !== undefined && this.#identity.isKnown(account)
      })
    }
    const listeners: ReadonlyArray<readonly [string, (value: unknown) => void]> = [
      ["accountsChanged", changed],
      [
        "chainChanged",
        (value) => {
          const chainId = chainIdOf(value)
          if (chainId !== undefined) this.#send({ type: "ChainChanged", chainId })
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

  /** The buyer chooses another one. */
  forget(): void {
    this.#listenTo(undefined)
    rememberedWallet.set(undefined)
  }

  stop(): void {
    this.#unlisten()
  }

  /** Fails where no wallet is connected. */
  get provider(): Eip1193Provider {
    if (this.#wallet === undefined) throw new WalletError("unauthorized", "no wallet is connected")
    return this.#wallet.provider
  }

  async takesCalls(account: string, chainId: number): Promise<boolean> {
    if (this.#wallet === undefined || this.#refusesCalls) return false
    return takesCalls(this.#wallet.provider, account, chainId)
  }

  noteCallsRefused(): void {
    this.#refusesCalls = true
  }
}
