// The script behind {base_url}/walletconnect.js: announces WalletConnect as one more wallet of the page
// (EIP-6963). The checkout loads it where the operator has a project of WalletConnect, and nowhere else.
import { makeWalletConnectProvider } from "./WalletConnectProvider.ts"

const { chainId, projectId, relayUrl, rpcUrl } = document.currentScript?.dataset ?? {}

if (projectId !== undefined && relayUrl !== undefined && chainId !== undefined) {
  const rpc = new URL("https://rpc.walletconnect.org/v1/")
  rpc.search = new URLSearchParams({ chainId: `eip155:${chainId}`, projectId }).toString()
  const detail = Object.freeze({
    info: Object.freeze({
      uuid: crypto.randomUUID(),
      name: "WalletConnect",
      icon: "",
      rdns: "org.walletconnect"
    }),
    provider: makeWalletConnectProvider({
      projectId,
      relayUrl,
      chainId: Number(chainId),
      rpcUrl: rpcUrl ?? rpc.href,
      page: { name: document.title === "" ? location.host : document.title, url: location.origin }
    })
  })
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }))
  addEventListener("eip6963:requestProvider", announce)
  announce()
}
