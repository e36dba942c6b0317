// A USDC transfer with a wallet in this browser.
import { atomicOf, encodeTransfer, toQuantity } from "../../checkout/component/erc20.ts"
import {
  accountsOf,
  ask,
  askChainId,
  type Eip1193Provider,
  WalletError
} from "../../checkout/component/wallets.ts"

export interface UsdcTransfer {
  readonly token: { readonly address: string; readonly chainId: number }
  /** The account that must send it. */
  readonly from: string
  readonly to: string
  /** Decimal USD, six decimals at most. */
  readonly amount: string
}

const onChain = async (provider: Eip1193Provider, chainId: number) => {
  if ((await askChainId(provider)) === chainId) return
  await ask(provider, "wallet_switchEthereumChain", [{ chainId: toQuantity(chainId) }])
  if ((await askChainId(provider)) !== chainId)
    throw new WalletError("unknown_chain", "The wallet stays on another network.")
}

/** The transaction's hash. Throws WalletError; with `unclear` it may have been sent. */
export const sendUsdc = async (
  provider: Eip1193Provider,
  { amount, from, to, token }: UsdcTransfer
): Promise<string> => {
  const accounts = accountsOf(await ask(provider, "eth_requestAccounts"))
  const account = accounts.find((one) => one.toLowerCase() === from.toLowerCase())
  if (account === undefined) throw new WalletError("unauthorized", "another account")
  await onChain(provider, token.chainId)
  const hash = await ask(provider, "eth_sendTransaction", [
    {
      from: account,
      to: token.address,
      value: "0x0",
      data: encodeTransfer(to, atomicOf(amount)),
      // If the user switches chains during the prompt, the wallet would otherwise send the money on the wrong chain.
      chainId: toQuantity(token.chainId)
    }
  ])
  if (typeof hash !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(hash))
    throw new WalletError("unclear", "The wallet returned no transaction hash.")
  return hash.toLowerCase()
}
