// Switches a wallet to the payment's chain, and adds the chain if the wallet does not know it.
import { networks } from "../../domain/networks.ts"
import type { CheckoutContext } from "./CheckoutContext.ts"
import { toQuantity } from "./erc20.ts"
import { ask, askChainId, type Eip1193Provider, walletErrorOf } from "./wallets.ts"

/** A public node for a wallet that does not know the chain, if the service reports none. */
const publicNodeOf = (id: number): string =>
  Object.values(networks).find(({ chainId }) => chainId === id)?.nodes.default[0] ?? ""

/** Returns the wallet's chain afterwards (EIP-3326, EIP-3085). Fails with a WalletError. */
export const switchChain = async (
  provider: Eip1193Provider,
  { id, name, explorerUrl, rpcUrl }: CheckoutContext["chain"]
): Promise<number> => {
  const chainId = toQuantity(id)
  try {
    await ask(provider, "wallet_switchEthereumChain", [{ chainId }])
  } catch (error) {
    if (walletErrorOf(error).failure !== "unknown_chain") throw error
    await ask(provider, "wallet_addEthereumChain", [
      {
        chainId,
        chainName: name,
        nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
        rpcUrls: [rpcUrl ?? publicNodeOf(id)],
        ...(explorerUrl === undefined ? {} : { blockExplorerUrls: [explorerUrl] })
      }
    ])
    // Some wallets add a chain without moving to it.
    if ((await askChainId(provider)) !== id) await ask(provider, "wallet_switchEthereumChain", [{ chainId }])
  }
  return askChainId(provider)
}
