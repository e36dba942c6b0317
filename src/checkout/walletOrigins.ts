// Lists origins for the Content-Security-Policy of pages with the checkout.
import { Option } from "effect"
import { envs } from "../domain/networks.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import { browserNode } from "./browserNode.ts"

/**
 * The other origins that wallets in a page need: WalletConnect's relay and the node that it reads from, and, for it and
 * for the test wallet, the local chains' nodes.
 */
export const walletOrigins = (config: typeof AppConfig.Service): ReadonlyArray<string> => {
  const { testWallet, walletConnect } = config
  const relay = Option.match(walletConnect, {
    onNone: () => [],
    onSome: ({ relayUrl }) => {
      const { protocol, host } = new URL(relayUrl)
      return [`${protocol}//${host}`, "https://rpc.walletconnect.org"]
    }
  })
  if (relay.length === 0 && !testWallet) return []
  const nodes = envs.flatMap((env) => browserNode(config, env) ?? [])
  return [...new Set([...relay, ...nodes.map((url) => new URL(url).origin)])]
}
