// Loads the page's connection to WalletConnect, which then announces itself as a wallet (EIP-6963).
import type { CheckoutContext } from "./service.ts"

interface TrustedTypes {
  readonly createPolicy: (
    name: string,
    rules: { readonly createScriptURL: (url: string) => string }
  ) => { readonly createScriptURL: (url: string) => string }
}
const isTrustedTypes = (value: unknown): value is TrustedTypes =>
  value instanceof Object && typeof Reflect.get(value, "createPolicy") === "function"

/** Under Trusted Types by the policy `quittance`, which the page has to allow. */
const scriptUrl = (url: string): string => {
  const types: unknown = Reflect.get(globalThis, "trustedTypes")
  return isTrustedTypes(types)
    ? types.createPolicy("quittance", { createScriptURL: (given) => given }).createScriptURL(url)
    : url
}

/** Once on a page. A page whose policy refuses the script goes without. */
export const loadWalletConnect = (
  baseUrl: string,
  { chain, walletConnect }: Pick<CheckoutContext, "chain" | "walletConnect">
): void => {
  if (walletConnect === undefined || document.querySelector("script[data-project-id]") !== null) return
  const script = document.createElement("script")
  script.dataset["projectId"] = walletConnect.projectId
  script.dataset["relayUrl"] = walletConnect.relayUrl
  script.dataset["chainId"] = String(chain.id)
  if (chain.rpcUrl !== undefined) script.dataset["rpcUrl"] = chain.rpcUrl
  try {
    script.src = scriptUrl(`${baseUrl}/walletconnect.js`)
    document.head.append(script)
  } catch (error) {
    console.warn("[quittance] WalletConnect cannot be loaded on this page:", error)
  }
}
