// The faucet's wallet on the test chain: what it holds, what it signs, and how its
// transactions reach the nodes.
import { Effect } from "effect"
import {
  encodeFunctionData,
  erc20Abi,
  type Hex,
  isHex,
  parseTransaction,
  type TransactionSerializableEIP1559
} from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { RpcNode } from "../chain/RpcNode.ts"
import type { RpcPool } from "../chain/RpcPool.ts"
import { Quantity, Receipt, Word } from "../chain/RpcSchemas.ts"
import { Address, networks } from "../domain/Chain.ts"

const { chainId, usdc } = networks.test
/** Enough for a transfer to a contract wallet and for Circle's USDC; what is unused is not paid. */
const gasLimits = { gas: 100_000n, usdc: 150_000n }

export interface WalletState {
  readonly nonce: number
  /** Per gas, doubled so that a rising base fee does not strand the transaction. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly usdcAtomic: bigint
  readonly wei: bigint
}

/** What the nodes made of a broadcast. `unknown`: no node answered, it may be under way. */
export type Broadcast = "accepted" | "refused" | "unknown"

/** What became of a transaction: in no block yet, or in one, having moved what it should or nothing. */
export type Outcome = "open" | "moved" | "reverted"

export const makeFaucetWallet = (privateKey: Hex, pool: RpcPool["Service"]) => {
  const account = privateKeyToAccount(privateKey)
  const address = Address.make(account.address)

  const state = pool.first("test", (node) =>
    Effect.all(
      {
        nonce: node.call("eth_getTransactionCount", [address, "pending"], Quantity),
        price: node.call("eth_gasPrice", [], Quantity),
        usdcAtomic: node
          .call(
            "eth_call",
            [
              {
                to: usdc.address,
                data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [address] })
              },
              "latest"
            ],
            Word
          )
          .pipe(Effect.map(BigInt)),
        wei: node.call("eth_getBalance", [address, "latest"], Quantity)
      },
      { concurrency: "unbounded" }
    ).pipe(
      Effect.map(
        ({ nonce, price, usdcAtomic, wei }): WalletState => ({
          nonce: Number(nonce),
          maxFeePerGas: price * 2n + 1n,
          maxPriorityFeePerGas: price < 1_000_000_000n ? price : 1_000_000_000n,
          usdcAtomic,
          wei
        })
      )
    )
  )

  const sign = (transaction: TransactionSerializableEIP1559) =>
    Effect.promise(() => account.signTransaction({ ...transaction, type: "eip1559", chainId }))

  const fees = ({ maxFeePerGas, maxPriorityFeePerGas }: WalletState) => ({
    maxFeePerGas,
    maxPriorityFeePerGas
  })

  const send = (node: RpcNode, raw: Hex): Effect.Effect<Broadcast> =>
    node.call("eth_sendRawTransaction", [raw], Word).pipe(
      Effect.match({
        onSuccess: (): Broadcast => "accepted",
        onFailure: ({ kind, said = "" }) =>
          // A node that has it already, or mined it, has accepted it: so it is after a lost answer.
          /already ?(known|imported|exists)|nonce too low|known transaction|replacement transaction underpriced/i.test(
            said
          )
            ? "accepted"
            : kind === "refused" || kind === "reverted"
              ? "refused"
              : "unknown"
      })
    )

  return {
    address,
    state,
    /** Wei that a grant costs the wallet at most. */
    costOf: (wallet: WalletState, gasWei: bigint) =>
      gasWei + (gasLimits.gas + gasLimits.usdc) * wallet.maxFeePerGas,
    signGas: (wallet: WalletState, nonce: number, to: Address, value: bigint) =>
      sign({ nonce, to, value, gas: gasLimits.gas, chainId, ...fees(wallet) }),
    signUsdc: (wallet: WalletState, nonce: number, to: Address, value: bigint) =>
      sign({
        nonce,
        to: usdc.address,
        data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, value] }),
        gas: gasLimits.usdc,
        chainId,
        ...fees(wallet)
      }),
    /** Spends a nonce on nothing. */
    signFiller: (wallet: WalletState, nonce: number) =>
      sign({ nonce, to: address, value: 0n, gas: 21_000n, chainId, ...fees(wallet) }),
    /** The same transaction at a fee that replaces it: a quarter more, or the present price. */
    signDearer: (wallet: WalletState, raw: Hex) => {
      const old = parseTransaction(raw)
      const dearer = (fee: bigint | undefined, present: bigint) => {
        const raised = ((fee ?? 0n) * 5n) / 4n + 1n
        return raised > present ? raised : present
      }
      return sign({
        ...(old.nonce === undefined ? {} : { nonce: old.nonce }),
        ...(old.to === undefined || old.to === null ? {} : { to: old.to }),
        ...(old.value === undefined ? {} : { value: old.value }),
        ...(old.data === undefined || !isHex(old.data) ? {} : { data: old.data }),
        ...(old.gas === undefined ? {} : { gas: old.gas }),
        chainId,
        maxFeePerGas: dearer(old.maxFeePerGas, wallet.maxFeePerGas),
        maxPriorityFeePerGas: dearer(old.maxPriorityFeePerGas, wallet.maxPriorityFeePerGas)
      })
    },
    broadcast: (raw: Hex): Effect.Effect<Broadcast> =>
      Effect.map(
        Effect.forEach(pool.nodes("test"), (node) => send(node, raw), { concurrency: "unbounded" }),
        (all) =>
          all.includes("accepted")
            ? "accepted"
            : all.length > 0 && all.every((one) => one === "refused")
              ? "refused"
              : "unknown"
      ),
    outcomeOf: (transactionId: string) =>
      pool.first("test", (node) =>
        Effect.map(
          node.call("eth_getTransactionReceipt", [transactionId], Receipt),
          (receipt): Outcome => (receipt === null ? "open" : receipt.status === "0x1" ? "moved" : "reverted")
        )
      ),
    minedNonce: pool.first("test", (node) =>
      Effect.map(node.call("eth_getTransactionCount", [address, "latest"], Quantity), Number)
    )
  }
}

export type FaucetWallet = ReturnType<typeof makeFaucetWallet>
