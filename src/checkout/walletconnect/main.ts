// The script behind {base_url}/walletconnect.js: passes its provider to the script that loaded it, through the event
// `provider` on its own element. The checkout loads it only when a buyer chooses WalletConnect.
import { makeWalletConnectProvider } from "./WalletConnectProvider.ts"

const script = document.currentScript
const { chainId, projectId, relayUrl, rpcUrl } = script?.dataset ?? {}

if (projectId !== undefined && relayUrl !== undefined && chainId !== undefined) {
  const rpc = new URL("https://rpc.walletconnect.org/v1/")
  rpc.search = new URLSearchParams({ chainId: `eip155:${chainId}`, projectId }).toString()
  const detail = makeWalletConnectProvider({
    projectId,
    relayUrl,
    chainId: Number(chainId),
    rpcUrl: rpcUrl ?? rpc.href,
    page: { name: document.title === "" ? location.host : document.title, url: location.origin }
  })
  script?.dispatchEvent(new CustomEvent("provider", { detail }))
}
