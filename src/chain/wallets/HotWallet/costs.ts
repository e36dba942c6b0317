// What a wallet's transaction costs beside its gas before it is sent, and in all once a block holds it.
import { BigInt as BigIntOrder, Effect, Order, Schema } from "effect"
import { encodeFunctionData, parseAbi } from "viem"
import type { TransactionHash } from "../../../domain/Chain.ts"
import type { Network } from "../../../domain/networks.ts"
import type { RpcPool } from "../../RpcPool.ts"
import { ReceiptCost, Word } from "../../RpcSchemas.ts"

const oracle = parseAbi(["function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)"])
/** Bytes of a transaction beside its data, before its signature. */
const frame = 100n
/** The L1 price doubled, as that of gas is, so that a rise before its block is covered. */
const margin = 2n
/** A call to an address without code returns nothing. */
const Fee = Schema.Union([Word, Schema.Literal("0x")])

export const makeCosts = ({ env, l1FeeOracle }: Network, pool: RpcPool["Service"]) => ({
  /**
   * The most wei that the chain below costs beside gas, for a transaction with so much data: 0 if gas contains it, or if
   * no node shows the oracle, as on a local chain. An oracle that cannot be read is a failure.
   */
  l1Fee: Effect.fnUntraced(function* (bytes: number) {
    if (l1FeeOracle === undefined) return 0n
    const call = {
      to: l1FeeOracle,
      data: encodeFunctionData({
        abi: oracle,
        functionName: "getL1FeeUpperBound",
        args: [BigInt(bytes) + frame]
      })
    }
    const answers = yield* pool.gather(env, (node) => node.call("eth_call", [call, "latest"], Fee))
    const fees = answers
      .flatMap((answer) => (answer === "0x" ? [] : BigInt(answer)))
      .toSorted(Order.flip(BigIntOrder.Order))
    return (fees[Math.floor(fees.length / 2)] ?? 0n) * margin
  }),
  /** The wei that a mined transaction has cost; undefined until a majority shows the same. */
  minedCost: (id: TransactionHash) =>
    Effect.map(
      pool.poll(env, {
        ask: (node) => node.call("eth_getTransactionReceipt", [id], ReceiptCost),
        key: String,
        contradicts: () => false
      }),
      ({ agreed }) => agreed?.[0]
    )
})
