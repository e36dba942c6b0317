// Reads the transfers, balances and costs from the chain's own node, without the service.
import { type Hex, parseAbiItem } from "viem"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import type { LivesWorld } from "./livesWorld.ts"

/** A transfer of USDC on the chain as it is at the end. */
export interface ChainTransfer {
  readonly hash: Hex
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly block: bigint
}

const transferEvent = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)")

export const sumOf = (all: ReadonlyArray<{ readonly amount: bigint }>): bigint =>
  all.reduce((sum, { amount }) => sum + amount, 0n)

export const readChain = async ({ merchants, world }: LivesWorld) => {
  const { publicClient } = world.chain
  const logs = await publicClient.getLogs({
    address: moneyNetwork.usdc.address,
    event: transferEvent,
    strict: true,
    fromBlock: 0n,
    toBlock: await publicClient.getBlockNumber({ cacheTime: 0 })
  })
  const transfers = logs.map(
    ({ args, blockNumber, transactionHash }): ChainTransfer => ({
      hash: transactionHash,
      from: args.from.toLowerCase(),
      to: args.to.toLowerCase(),
      amount: args.value,
      block: blockNumber
    })
  )
  const receiptOf = (hash: Hex) => publicClient.getTransactionReceipt({ hash }).catch(() => undefined)
  return {
    transfers,
    hasTransaction: async (hash: Hex) => (await receiptOf(hash)) !== undefined,
    /** The wei that a transaction cost its sender; undefined if the chain has no such transaction. */
    costOf: async (hash: Hex) => {
      const receipt = await receiptOf(hash)
      return receipt === undefined ? undefined : receipt.gasUsed * receipt.effectiveGasPrice
    },
    /** Each receiver's transfers and balance. */
    accounts: await Promise.all(
      merchants.map(async ({ receiver }) => {
        const address = receiver.address.toLowerCase()
        return {
          arrived: transfers.filter(({ to }) => to === address),
          left: transfers.filter(({ from }) => from === address),
          balance: await world.balanceOf(receiver.address)
        }
      })
    )
  }
}

export type ChainFacts = Awaited<ReturnType<typeof readChain>>
