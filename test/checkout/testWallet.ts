// A wallet for the browser tests: announced over EIP-6963 in the page, its key and its
// node in the test process. It really signs; a test may make any method misbehave.

import { Schema } from "effect"
import type { BrowserContext, Page } from "playwright-core"
import { type Hex, isHex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { type ContractWallet, makeContractWallet } from "./contractWallet.ts"

export interface WalletProblem {
  readonly code: number
  readonly message: string
}

/** Answers instead of the wallet; `next` is the wallet's usual answer. Throw a WalletProblem to refuse. */
export type Behaviour = (params: ReadonlyArray<unknown>, next: () => Promise<unknown>) => Promise<unknown>

export interface TestWallet {
  readonly account: PrivateKeyAccount
  /** The address that pages see: the account's, or that of the contract wallet it owns. */
  readonly address: Hex
  /** Becomes a contract wallet owned by the account. */
  readonly becomeContract: (deployed: boolean) => Promise<ContractWallet>
  readonly requests: Array<{ readonly method: string; readonly params: ReadonlyArray<unknown> }>
  /** The number of times a method was called. */
  readonly count: (method: string) => number
  readonly behave: (method: string, behaviour: Behaviour | undefined) => void
  /** The wallet's present chain, and the chains that it knows. */
  chainId: number
  readonly known: Set<number>
  /** The accounts that the page may see. */
  connected: boolean
  /** The nonce that the page requests is not used, as in some wallets. */
  ignoresNonce: boolean
  /** Typed data for another chain than the wallet's is refused, as in some wallets. */
  signsForItsChainAlone: boolean
  readonly rpc: (method: string, params: ReadonlyArray<unknown>) => Promise<unknown>
  /** Does what a page requests, unless a behaviour overrides it. */
  readonly handle: (
    method: string,
    params: ReadonlyArray<unknown>
  ) => Promise<{ readonly result: unknown } | { readonly error: WalletProblem }>
  readonly emit: (page: Page, event: string, value: unknown) => Promise<void>
  readonly install: (
    context: BrowserContext,
    options?: { readonly name?: string; readonly delayMillis?: number }
  ) => Promise<void>
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 36 36'%3E%3Crect width='36' height='36' fill='%23f6851b'/%3E%3Ccircle cx='18' cy='18' r='8' fill='white'/%3E%3C/svg%3E"

/** Runs in every page before its own scripts, as an extension would. */
const pageScript = (binding: string, name: string, delayMillis: number) => `(() => {
  const listeners = {}
  // An extension does not serialise with the page's prototypes, but this wallet's transport does.
  const prototypes = [Array, String, Number, Object].map((one) => one.prototype)
  const unspoilt = (run) => {
    const spoilt = prototypes.map((one) => Object.getOwnPropertyDescriptor(one, "toJSON"))
    for (const one of prototypes) delete one.toJSON
    try {
      return run()
    } finally {
      prototypes.forEach((one, index) => spoilt[index] && Object.defineProperty(one, "toJSON", spoilt[index]))
    }
  }
  const provider = {
    request: async ({ method, params = [] }) => {
      const answer = await unspoilt(() => window.${binding}(method, params))
      if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code })
      return answer.result
    },
    on: (event, listener) => (listeners[event] ??= new Set()).add(listener),
    removeListener: (event, listener) => listeners[event]?.delete(listener)
  }
  window.${binding}Emit = (event, value) => listeners[event]?.forEach((listener) => listener(value))
  const detail = Object.freeze({
    info: { uuid: String(Math.random()), name: ${JSON.stringify(name)}, icon: ${JSON.stringify(icon)}, rdns: "test.${binding}" },
    provider
  })
  const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }))
  setTimeout(() => {
    window.addEventListener("eip6963:requestProvider", announce)
    announce()
  }, ${delayMillis})
})()`

const isTransaction = (value: unknown): value is { to: Hex; data: Hex; nonce?: string } =>
  typeof value === "object" && value !== null && "to" in value && "data" in value

const isWalletProblem = (error: unknown): error is WalletProblem =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "number"

const TypedData = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      types: Schema.Record(
        Schema.String,
        Schema.mutable(Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String })))
      ),
      primaryType: Schema.String,
      domain: Schema.Record(Schema.String, Schema.Unknown),
      message: Schema.Record(Schema.String, Schema.Unknown)
    })
  )
)

/** Wallets differ in whether they sign for a chain that they are not on. */
const typedDataIn = (json: unknown, { chainId, signsForItsChainAlone }: TestWallet) => {
  const { types, ...data } = TypedData(json)
  const { EIP712Domain: _, ...own } = types
  if (signsForItsChainAlone && data.domain["chainId"] !== chainId)
    throw { code: -32603, message: `Provided chainId must match the active chainId "${chainId}"` }
  return { ...data, types: own }
}

let wallets = 0

export const makeTestWallet = (rpcUrl: string, chainId: number): TestWallet => {
  const account = privateKeyToAccount(generatePrivateKey())
  const behaviours = new Map<string, Behaviour>()
  const binding = `testWallet${wallets++}`

  const rpc = async (method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    })
    const answer: { result?: unknown; error?: WalletProblem } = await response.json()
    if (answer.error !== undefined) throw answer.error
    return answer.result
  }

  const send = async (transaction: { to: Hex; data: Hex; nonce?: string }): Promise<unknown> => {
    const { to, data } = transaction
    const nonce =
      transaction.nonce === undefined || wallet.ignoresNonce
        ? await rpc("eth_getTransactionCount", [account.address, "pending"])
        : transaction.nonce
    const signed = await account.signTransaction({
      chainId,
      to,
      data,
      nonce: Number(nonce),
      gas: 400_000n,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      type: "eip1559"
    })
    return rpc("eth_sendRawTransaction", [signed])
  }

  const chainOf = (params: ReadonlyArray<unknown>) => {
    const [first] = params
    const id = typeof first === "object" && first !== null && "chainId" in first ? Number(first.chainId) : 0
    return id
  }

  let contract: ContractWallet | undefined
  const sealed = (signature: Hex) => contract?.seal(signature) ?? signature

  const own = async (method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
    const [first] = params
    const answer = contract?.answer(method, params)
    if (answer !== undefined) return answer()
    switch (method) {
      case "eth_requestAccounts":
        wallet.connected = true
        return [wallet.address]
      case "eth_accounts":
        return wallet.connected ? [wallet.address] : []
      case "eth_chainId":
        return `0x${wallet.chainId.toString(16)}`
      case "wallet_switchEthereumChain":
        if (!wallet.known.has(chainOf(params))) throw { code: 4902, message: "Unrecognized chain" }
        wallet.chainId = chainOf(params)
        return null
      case "wallet_addEthereumChain":
        wallet.known.add(chainOf(params))
        return null
      case "personal_sign":
        if (!isHex(first)) throw { code: -32602, message: "not hex" }
        return sealed(await account.signMessage({ message: { raw: first } }))
      case "eth_signTypedData_v4":
        return sealed(await account.signTypedData(typedDataIn(params[1], wallet)))
      case "eth_sendTransaction":
        if (!isTransaction(first)) throw { code: -32602, message: "no transaction" }
        return send(first)
      default:
        return rpc(method, params)
    }
  }

  const handle: TestWallet["handle"] = async (method, params) => {
    wallet.requests.push({ method, params })
    try {
      const behaviour = behaviours.get(method)
      const next = () => own(method, params)
      return { result: (await (behaviour === undefined ? next() : behaviour(params, next))) ?? null }
    } catch (error) {
      return { error: isWalletProblem(error) ? error : { code: -32603, message: String(error) } }
    }
  }

  const wallet: TestWallet = {
    account,
    get address() {
      return contract?.address ?? account.address
    },
    becomeContract: async (deployed) => {
      contract = await makeContractWallet(account, chainId, rpc, send, deployed)
      return contract
    },
    requests: [],
    count: (method) => wallet.requests.filter((one) => one.method === method).length,
    behave: (method, behaviour) => {
      if (behaviour === undefined) behaviours.delete(method)
      else behaviours.set(method, behaviour)
    },
    chainId,
    known: new Set([chainId]),
    connected: false,
    ignoresNonce: false,
    signsForItsChainAlone: false,
    rpc,
    handle,
    emit: async (page, event, value) => {
      await page.evaluate(`window.${binding}Emit(${JSON.stringify(event)}, ${JSON.stringify(value)})`)
    },
    install: async (context, { name = "Test Wallet", delayMillis = 0 } = {}) => {
      await context.exposeBinding(binding, (_source, method: string, params: ReadonlyArray<unknown>) =>
        handle(method, params)
      )
      await context.addInitScript(pageScript(binding, name, delayMillis))
    }
  }
  return wallet
}

/** The wallet's user declines. */
export const decline: Behaviour = async () => {
  throw { code: 4001, message: "User rejected the request." }
}
