// Wallets: found by EIP-6963, called by EIP-1193, with their errors classified by what the buyer can do.
import { isRecord } from "../../platform/pages/browser/isRecord.ts"

export type Hex = `0x${string}`

export interface Eip1193Provider {
  readonly request: (call: {
    readonly method: string
    readonly params?: ReadonlyArray<unknown>
  }) => Promise<unknown>
  readonly on?: (event: string, listener: (value: unknown) => void) => unknown
  readonly removeListener?: (event: string, listener: (value: unknown) => void) => unknown
}

export interface Wallet {
  /** Unique on this page. */
  readonly id: string
  /** The wallet's reverse domain name: the same after a reload. */
  readonly rdns: string
  readonly name: string
  /** A data: URL (RFC 2397) of an image, or empty: nothing is loaded from elsewhere. */
  readonly icon: string
  readonly provider: Eip1193Provider
}

/**
 * - `rejected`: the buyer declined; nothing happened.
 * - `busy`: the wallet already shows a request.
 * - `unknown_chain`: the chain must be added first.
 * - `unauthorized`: the account is not connected to this page, or the wallet refuses the method.
 * - `unknown_calls`: the wallet knows no calls with this id (EIP-5792).
 * - `unreachable`: the wallet is disconnected. It signs nothing; a transaction may have been sent before.
 * - `invalid`: the wallet rejects the request as a mistake, such as one for another chain; nothing was sent.
 * - `funds`: not enough for the amount and the fee; nothing was sent.
 * - `unclear`: anything else; a transaction may have been sent.
 */
export type WalletFailure =
  | "rejected"
  | "busy"
  | "unknown_chain"
  | "unauthorized"
  | "unknown_calls"
  | "unreachable"
  | "invalid"
  | "funds"
  | "unclear"

export class WalletError extends Error {
  override readonly name = "WalletError"
  readonly failure: WalletFailure
  constructor(failure: WalletFailure, message: string) {
    super(message)
    this.failure = failure
  }
}

/** Refusals of EIP-5792 before anything is sent: a capability, the chain, the size, atomicity. */
const refusedCalls: ReadonlyArray<number> = [5700, 5710, 5740, 5760]

/** Codes of EIP-1193, EIP-3085, EIP-5792 and JSON-RPC, wherever wallets put them. */
const codesOf = (error: unknown, depth = 0): ReadonlyArray<unknown> =>
  isRecord(error) && depth < 4
    ? [
        error["code"],
        ...[error["data"], error["originalError"], error["cause"]].flatMap((inner) =>
          codesOf(inner, depth + 1)
        )
      ]
    : []

const messageOf = (error: unknown): string =>
  isRecord(error) && typeof error["message"] === "string" ? error["message"] : String(error)

export const walletErrorOf = (error: unknown): WalletError => {
  if (error instanceof WalletError) return error
  const codes = codesOf(error).map(Number)
  const message = messageOf(error)
  const failure: WalletFailure =
    codes.includes(4001) || codes.includes(5750)
      ? "rejected"
      : codes.includes(4902)
        ? "unknown_chain"
        : codes.includes(-32002)
          ? "busy"
          : codes.some((code) => [4100, 4200, -32601, ...refusedCalls].includes(code))
            ? "unauthorized"
            : codes.includes(5730)
              ? "unknown_calls"
              : codes.includes(4900) || codes.includes(4901)
                ? "unreachable"
                : /insufficient funds|exceeds (the )?balance/i.test(message)
                  ? "funds"
                  : codes.includes(-32602)
                    ? "invalid"
                    : "unclear"
  return new WalletError(failure, message)
}

export const failureOf = (error: unknown): WalletFailure => walletErrorOf(error).failure

export const ask = async (
  provider: Eip1193Provider,
  method: string,
  params: ReadonlyArray<unknown> = []
): Promise<unknown> => {
  try {
    return await provider.request({ method, params })
  } catch (error) {
    throw walletErrorOf(error)
  }
}

export const askSignature = async (
  provider: Eip1193Provider,
  method: string,
  params: ReadonlyArray<unknown>
): Promise<string> => {
  const signature = await ask(provider, method, params)
  if (typeof signature !== "string") throw new WalletError("unclear", "no signature")
  return signature
}

/** Like `ask`, for reads, with a timeout for a node that does not respond. */
export const askNode = async (
  provider: Eip1193Provider,
  method: string,
  params: ReadonlyArray<unknown> = []
): Promise<unknown> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new WalletError("unclear", `${method} timed out`)), 15_000)
  })
  // Old libraries replace `Promise` by one without `finally`.
  try {
    return await Promise.race([ask(provider, method, params), timeout])
  } finally {
    clearTimeout(timer)
  }
}

const isQuantity = (value: unknown): value is string =>
  typeof value === "string" && /^0x[0-9a-fA-F]+$/.test(value)

export const askQuantity = async (
  provider: Eip1193Provider,
  method: string,
  params: ReadonlyArray<unknown> = []
): Promise<bigint> => {
  const answer = await askNode(provider, method, params)
  if (!isQuantity(answer)) throw new WalletError("unclear", `${method} answered no quantity`)
  return BigInt(answer)
}

/** `eth_chainId`; some wallets return a decimal string or a number. */
export const askChainId = async (provider: Eip1193Provider): Promise<number> => {
  const id = chainIdOf(await askNode(provider, "eth_chainId"))
  if (id === undefined) throw new WalletError("unclear", "eth_chainId answered no chain id")
  return id
}

export const chainIdOf = (value: unknown): number | undefined => {
  const id = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN
  return Number.isSafeInteger(id) ? id : undefined
}

export const accountsOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.filter(
        (account): account is string => typeof account === "string" && /^0x[0-9a-fA-F]{40}$/.test(account)
      )
    : []

const imageUrl = /^data:image\/(png|svg\+xml|webp|jpeg|gif)[;,]/i
/**
 * EIP-6963 recommends 96 pixels per side and has no length limit; announced icons have at most about 30,000
 * characters.
 */
const maxIconLength = 200_000

const iconOf = (icon: unknown): string =>
  typeof icon === "string" && icon.length <= maxIconLength && imageUrl.test(icon) ? icon : ""

export const isProvider = (value: unknown): value is Eip1193Provider =>
  isRecord(value) && typeof value["request"] === "function"

const walletOf = (detail: unknown): Wallet | undefined => {
  if (!isRecord(detail) || !isRecord(detail["info"]) || !isProvider(detail["provider"])) return undefined
  const { uuid, rdns, name, icon } = detail["info"]
  if (typeof uuid !== "string" || typeof name !== "string") return undefined
  return {
    id: uuid,
    rdns: typeof rdns === "string" ? rdns : uuid,
    name: name.slice(0, 60),
    icon: iconOf(icon),
    provider: detail["provider"]
  }
}

/**
 * The time for wallets to announce themselves before the page's own provider is offered, and the times of further
 * searches: wallet apps may inject their provider after the page has loaded.
 */
const announcementMillis = [300, 1_000, 3_000]

/** Names of wallets by the marks on providers that they do not announce. */
const marks: Readonly<Record<string, string>> = {
  isRainbow: "Rainbow",
  isTrust: "Trust Wallet",
  isTrustWallet: "Trust Wallet",
  isCoinbaseWallet: "Coinbase Wallet",
  isOkxWallet: "OKX Wallet",
  isOKExWallet: "OKX Wallet",
  isRabby: "Rabby",
  isMetaMask: "MetaMask"
}

export const walletConnectRdns = "org.walletconnect"

/** A wallet that scans a code is available on every page. */
export const isOnPage = ({ rdns }: Pick<Wallet, "rdns">): boolean => rdns !== walletConnectRdns

/** Providers on the page without an announcement: one, or several behind it. */
const injectedWallets = (): ReadonlyArray<Wallet> => {
  const own: unknown = Reflect.get(globalThis, "ethereum")
  const several = isRecord(own) && Array.isArray(own["providers"]) ? own["providers"] : []
  const all: ReadonlyArray<unknown> = several.length === 0 ? [own] : several
  return all.filter(isProvider).map((provider, index) => {
    const mark = Object.keys(marks).find((name) => Reflect.get(provider, name) === true)
    const id = index === 0 ? legacyId : `${legacyId} ${index}`
    return { id, rdns: id, name: mark === undefined ? "" : (marks[mark] ?? ""), icon: "", provider }
  })
}

/**
 * Calls back with all wallets of the page each time another one announces itself, however late. If none does, offers
 * the page's `window.ethereum`. Returns a function that stops the search.
 */
export const discoverWallets = (onFound: (wallets: ReadonlyArray<Wallet>) => void): (() => void) => {
  let wallets: ReadonlyArray<Wallet> = []
  const listen = (event: Event) => {
    const wallet = event instanceof CustomEvent ? walletOf(event.detail) : undefined
    if (wallet === undefined || wallets.some((other) => other.provider === wallet.provider)) return
    const isNamed = isOnPage(wallet)
    wallets = [
      ...wallets.filter(({ id }) => id !== wallet.id && !(isNamed && id.startsWith(legacyId))),
      wallet
    ]
    onFound(wallets)
  }
  addEventListener("eip6963:announceProvider", listen)
  // MooTools replaces `Event`.
  dispatchEvent(new CustomEvent("eip6963:requestProvider"))
  const look = () => {
    if (wallets.some(isOnPage)) return
    const injected = injectedWallets()
    if (injected.length === 0) return
    wallets = [...injected, ...wallets]
    onFound(wallets)
  }
  const timers = announcementMillis.map((millis) => setTimeout(look, millis))
  addEventListener("ethereum#initialized", look)
  return () => {
    for (const timer of timers) clearTimeout(timer)
    removeEventListener("ethereum#initialized", look)
    removeEventListener("eip6963:announceProvider", listen)
  }
}

/** The provider of a wallet that does not announce itself; it has no name. */
const legacyId = "injected"
