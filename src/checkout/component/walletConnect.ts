// WalletConnect as another wallet to choose. Its script, `{base_url}/walletconnect.js`, is loaded at the wallet's
// first request: if the buyer chooses it, or has paid with it before.
import type { CheckoutContext } from "./CheckoutContext.ts"
import { type Eip1193Provider, isProvider, type Wallet, WalletError, walletConnectRdns } from "./wallets.ts"

interface TrustedTypePolicy {
  readonly createScriptURL: (url: string) => string
}
interface TrustedTypes {
  readonly createPolicy: (name: string, rules: TrustedTypePolicy) => TrustedTypePolicy
}
const isTrustedTypes = (value: unknown): value is TrustedTypes =>
  value instanceof Object && typeof Reflect.get(value, "createPolicy") === "function"

let policy: TrustedTypePolicy | undefined
/** With Trusted Types, uses the policy `quittance`, which the page must allow. */
const scriptUrl = (url: string): string => {
  const types: unknown = Reflect.get(globalThis, "trustedTypes")
  if (!isTrustedTypes(types)) return url
  policy ??= types.createPolicy("quittance", { createScriptURL: (given) => given })
  return policy.createScriptURL(url)
}

const unreachable = () => new WalletError("unreachable", "WalletConnect cannot be loaded on this page")

/** The script delivers its provider through the event `provider` on its own element. */
const fetchProvider = (
  baseUrl: string,
  { chain, walletConnect }: Pick<CheckoutContext, "chain" | "walletConnect">
) =>
  new Promise<Eip1193Provider>((resolve, reject) => {
    const script = document.createElement("script")
    const give = (event: Event) => {
      if (event instanceof CustomEvent && isProvider(event.detail)) resolve(event.detail)
    }
    script.addEventListener("provider", give)
    for (const event of ["load", "error"])
      script.addEventListener(event, () => {
        script.remove()
        reject(unreachable())
      })
    Object.assign(script.dataset, {
      projectId: walletConnect?.projectId,
      relayUrl: walletConnect?.relayUrl,
      chainId: String(chain.id),
      ...(chain.rpcUrl === undefined ? {} : { rpcUrl: chain.rpcUrl })
    })
    script.crossOrigin = "anonymous"
    script.integrity = QUITTANCE_WALLETCONNECT_INTEGRITY
    try {
      script.src = scriptUrl(`${baseUrl}/walletconnect.js`)
      document.head.append(script)
    } catch (error) {
      console.warn("<quittance-checkout> The page's policy does not let WalletConnect be loaded:", error)
      reject(unreachable())
    }
  })

/**
 * True if the page's libraries have changed what WalletConnect's messages and sessions are made with. The buyer could
 * then only wait for a wallet that does not answer.
 */
const isPageChanged = (): boolean => {
  const [item] = Array.from(new Set(["a"]))
  return JSON.stringify({ list: [item, 1] }) !== '{"list":["a",1]}' || Object.keys({ item }).length !== 1
}

/** One connection for all checkouts of a page. */
let loading: Promise<Eip1193Provider> | undefined

/** The wallet that loads itself, if the operator has a WalletConnect project and the page lets it work. */
export const makeWalletConnect = (
  baseUrl: string,
  context: Pick<CheckoutContext, "chain" | "walletConnect">
): Wallet | undefined => {
  if (context.walletConnect === undefined) return undefined
  if (isPageChanged()) {
    console.warn(
      "<quittance-checkout> WalletConnect is not offered: a library of this page changed JSON.stringify, Array.from or Object.keys."
    )
    return undefined
  }
  let listeners: ReadonlyArray<readonly [string, (value: unknown) => void]> = []
  let provider: Eip1193Provider | undefined
  const load = async (): Promise<Eip1193Provider> => {
    loading ??= fetchProvider(baseUrl, context).catch((error: unknown) => {
      loading = undefined
      throw error
    })
    const loaded = await loading
    if (provider === undefined) for (const [event, listener] of listeners) loaded.on?.(event, listener)
    provider = loaded
    return loaded
  }
  return {
    id: "walletconnect",
    rdns: walletConnectRdns,
    name: "WalletConnect",
    icon: "",
    provider: {
      request: async (call) => (await load()).request(call),
      on: (event, listener) => {
        listeners = [...listeners, [event, listener]]
        provider?.on?.(event, listener)
      },
      removeListener: (event, listener) => {
        listeners = listeners.filter(([name, registered]) => name !== event || registered !== listener)
        provider?.removeListener?.(event, listener)
      }
    }
  }
}
