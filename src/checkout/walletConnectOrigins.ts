import { Option } from "effect"
import type { AppConfig } from "../platform/AppConfig.ts"

/** The other origins that a page needs for WalletConnect: its relay, and the node that it reads from. */
export const walletConnectOrigins = ({
  walletConnect
}: Pick<typeof AppConfig.Service, "walletConnect">): ReadonlyArray<string> =>
  Option.match(walletConnect, {
    onNone: () => [],
    onSome: ({ relayUrl }) => {
      const { protocol, host } = new URL(relayUrl)
      return [`${protocol}//${host}`, "https://rpc.walletconnect.org"]
    }
  })
