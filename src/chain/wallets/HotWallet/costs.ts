// The cost of a wallet's transaction: beside its gas before it is sent, and in total once it is in a block.
import { BigInt as BigIntOrder, Effect, Order, Schema } from "effect"
import { encodeFunctionData, type Hex, parseAbi, parseTransaction } from "viem"
import type { TransactionHash } from "../../../domain/Chain.ts"
import type { Network } from "../../../domain/networks.ts"
import type { RpcPool } from "../../RpcPool.ts"
import { ReceiptCost, Word } from "../../RpcSchemas.ts"

const l1FeeOracleAbi = parseAbi([
  "function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)"
])
/** Bytes of a transaction without its data and signature. */
const envelopeBytes = 100n
/** The L1 price doubled, like the gas price, so that a rise before its block is covered. */
const l1FeeMultiplier = 2n
/** A call to an address without code returns nothing. */
const Fee = Schema.Union([Word, Schema.Literal("0x")])

/** The most wei that the gas of a signed transaction costs. */
export const maxWeiOf = (raw: Hex): bigint => {
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw)
  return gas * maxFeePerGas
}

export const makeCosts = ({ env, l1FeeOracle }: Network, pool: RpcPool["Service"]) => ({
  /**
   * The most wei that the parent chain charges in addition to gas for a transaction with this much data. 0 if gas
   * includes it, or if no node shows the oracle, as on a local chain. An unreadable oracle is a failure.
   */
  l1Fee: Effect.fnUntraced(function* (bytes: number) {
    if (l1FeeOracle === undefined) return 0n
    const call = {
      to: l1FeeOracle,
      data: encodeFunctionData({
        abi: l1FeeOracleAbi,
        functionName: "getL1FeeUpperBound",
        args: [BigInt(bytes) + envelopeBytes]
      })
    }
    const answers = yield* pool.gather(env, (node) => node.call("eth_call", [call, "latest"], Fee))
    const fees = answers
      .flatMap((answer) => (answer === "0x" ? [] : BigInt(answer)))
      .toSorted(Order.flip(BigIntOrder.Order))
    return (fees[Math.floor(fees.length / 2)] ?? 0n) * l1FeeMultiplier
  }),
  /** The wei that a mined transaction cost; undefined until a majority shows the same. */
  minedCost: (id: TransactionHash) =>
    pool.agreedAnswer(env, (node) => node.call("eth_getTransactionReceipt", [id], ReceiptCost))
})
