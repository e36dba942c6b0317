// The transactions that the faucet's wallet signs for a grant: gas and USDC.
import { encodeFunctionData, erc20Abi, type Hex } from "viem"
import type { Address } from "../../../domain/Chain.ts"
import { faucetNetwork } from "../../../domain/networks.ts"
import type { RpcPool } from "../../RpcPool.ts"
import { makeHotWallet, type WalletState } from "../../wallets/HotWallet.ts"

const { usdc } = faucetNetwork
/** Enough for a transfer to a contract wallet and for Circle's USDC. Unused gas is not paid. */
const gasLimits = { gas: 100_000n, usdc: 150_000n }

export const makeFaucetWallet = (privateKey: Hex, pool: RpcPool["Service"]) => {
  const wallet = makeHotWallet(faucetNetwork, () => privateKey, pool)
  return Object.assign(wallet, {
    /** The most wei that a grant costs the wallet. */
    costOf: ({ fees }: WalletState, gasWei: bigint) =>
      gasWei + (gasLimits.gas + gasLimits.usdc) * fees.maxFeePerGas,
    gasOf: (asset: "gas" | "usdc") => gasLimits[asset],
    signGas: (state: WalletState, nonce: number, to: Address, value: bigint) =>
      wallet.sign(state.fees, { nonce, to, value, gas: gasLimits.gas }),
    signUsdc: (state: WalletState, nonce: number, to: Address, value: bigint) =>
      wallet.sign(state.fees, {
        nonce,
        to: usdc.address,
        data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, value] }),
        gas: gasLimits.usdc
      })
  })
}

export type FaucetWallet = ReturnType<typeof makeFaucetWallet>
