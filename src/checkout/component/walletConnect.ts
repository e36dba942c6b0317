// WalletConnect as one more wallet to choose. Its script, `{base_url}/walletconnect.js`, is loaded when the
// wallet is first asked for something: when the buyer chooses it, or has paid with it before.
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
/** Under Trusted Types by the policy `quittance`, which the page has to allow. */
const scriptUrl = (url: string): string => {
  const types: unknown = Reflect.get(globalThis, "trustedTypes")
  if (!isTrustedTypes(types)) return url
  policy ??= types.createPolicy("quittance", { createScriptURL: (given) => given })
  return policy.createScriptURL(url)
}

const unreachable = () => new WalletError("unreachable", "WalletConnect cannot be loaded on this page")

/** The script answers on its own element, by the event `provider`. */
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

/** One connection for all checkouts of a page. */
let loading: Promise<Eip1193Provider> | undefined

/** The wallet that loads itself, where the operator has a project of WalletConnect. */
export const makeWalletConnect = (
  baseUrl: string,
  context: Pick<CheckoutContext, "chain" | "walletConnect">
): Wallet | undefined => {
  if (context.walletConnect === undefined) return undefined
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
        listeners = listeners.filter(([name, one]) => name !== event || one !== listener)
        provider?.removeListener?.(event, listener)
      }
    }
  }
}
