// The available wallets, and the connected one.

import type { CheckoutContext } from "../CheckoutContext.ts"
import { takesCalls } from "../calls.ts"
import type { Dispatch, Message } from "../Message.ts"
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
  /** Wallets on the page (EIP-6963), or injected. */
  #announced: ReadonlyArray<Wallet> = []
  #walletConnect: Wallet | undefined
  #wallet: Wallet | undefined
  #unlisten = () => {}
  /** True if the wallet claims to accept calls but refuses them. */
  #refusesCalls = false

  constructor(identity: BuyerIdentity, send: (message: Message) => void) {
    this.#identity = identity
    this.#send = send
  }

  /** Reports every wallet on the page. Returns a function that stops the search. */
  discover(): () => void {
    return discoverWallets((wallets) => {
      this.#announced = wallets
      this.#dispatchWallets()
    })
  }

  offerWalletConnect(baseUrl: string, context: CheckoutContext): void {
    this.#walletConnect ??= makeWalletConnect(baseUrl, context)
    if (this.#walletConnect !== undefined) this.#dispatchWallets()
  }

  get #wallets(): ReadonlyArray<Wallet> {
    return this.#walletConnect === undefined ? this.#announced : [...this.#announced, this.#walletConnect]
  }

  #dispatchWallets(): void {
    this.#send({
      type: "WalletsFound",
      wallets: this.#wallets.map(({ id, rdns, name, icon }) => ({ id, rdns, name, icon }))
    })
  }

  /** Reconnects the wallet from before the reload, without a prompt. */
  async restore(dispatch: Dispatch): Promise<void> {
    const rdns = rememberedWallet.get()
    const wallet = this.#wallets.find((candidate) => candidate.rdns === rdns)
    if (wallet === undefined || this.#wallet !== undefined) return dispatch({ type: "NotConnected" })
    try {
      const [account] = accountsOf(await ask(wallet.provider, "eth_accounts"))
      if (account === undefined) return dispatch({ type: "NotConnected" })
      const chainId = await askChainId(wallet.provider)
      if (this.#wallet !== undefined) return
      this.#connected(wallet, account, chainId, dispatch)
    } catch {
      dispatch({ type: "NotConnected" })
    }
  }

  async connect(walletId: string, isCurrent: () => boolean, dispatch: Dispatch): Promise<void> {
    const wallet = this.#wallets.find(({ id }) => id === walletId)
    if (wallet === undefined) return dispatch({ type: "ConnectFailed", failure: "unclear" })
    const offer = (uri: unknown) => {
      if (typeof uri === "string") dispatch({ type: "PairingOffered", uri })
    }
    wallet.provider.on?.("display_uri", offer)
    try {
      const [account] = accountsOf(await ask(wallet.provider, "eth_requestAccounts"))
      if (account === undefined) return dispatch({ type: "ConnectFailed", failure: "unauthorized" })
      const chainId = await askChainId(wallet.provider)
      // An approval that arrives after the buyer has changed course connects nothing.
      if (!isCurrent()) return
      this.#connected(wallet, account, chainId, dispatch)
    } catch (error) {
      dispatch({ type: "ConnectFailed", failure: failureOf(error) })
    } finally {
      wallet.provider.removeListener?.("display_uri", offer)
    }
  }

  #connected(wallet: Wallet, account: string, chainId: number, dispatch: Dispatch): void {
    this.#listenTo(wallet)
    rememberedWallet.set(wallet.rdns)
    const identified = this.#identity.isKnown(account)
    dispatch({ type: "Connected", walletId: wallet.id, account, chainId, identified })
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
      // EIP-1193: the wallet has lost all chains.
      ["disconnect", () => changed([])]
    ]
    for (const [event, listener] of listeners) provider.on?.(event, listener)
    this.#unlisten = () => {
      for (const [event, listener] of listeners) provider.removeListener?.(event, listener)
    }
  }

  /** The buyer chooses another wallet. */
  forget(): void {
    this.#listenTo(undefined)
    rememberedWallet.set(undefined)
  }

  stop(): void {
    this.#unlisten()
  }

  /** Fails if no wallet is connected. */
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
