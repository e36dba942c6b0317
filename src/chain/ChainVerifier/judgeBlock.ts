// Judges whether a settled transfer's block is final, dropped or undecided. Pure, like `judgeTransfer`.
import type { Env } from "../../domain/Chain.ts"
import { type Network, networks } from "../../domain/networks.ts"
import { isSameAddress } from "../Address.ts"
import { BlockStatus, type SettledTransfer } from "../Verification.ts"
import type { TransactionFacts } from "./judgeTransfer.ts"
import { readTransferLogsWithMints } from "./TransferLog.ts"

/** The depth in blocks at which a settled transfer is final, or the tag that marks it. */
export type FinalityRule = Network["finalityRule"]

/** `facts`: what the chain currently shows of the transaction. */
export const judgeBlock = (
  env: Env,
  settled: SettledTransfer,
  facts: TransactionFacts,
  finalityRule: FinalityRule
): BlockStatus => {
  if (facts.blockHash !== facts.canonicalHash) {
    return BlockStatus.Dropped({ reason: "not_included" })
  }
  const confirmations = Math.max(0, Number(facts.head - facts.blockNumber))
  if (facts.blockHash === settled.blockHash) {
    const { finalized } = facts.tagged
    const final =
      finalityRule === "finalized"
        ? finalized !== null && finalized >= facts.blockNumber
        : confirmations >= finalityRule.blocks
    return BlockStatus.Canonical({ confirmations, final })
  }
  const moved = { blockNumber: facts.blockNumber, blockHash: facts.blockHash, confirmations }
  if (facts.status !== "success") return BlockStatus.Dropped({ reason: "reverted" })
  if (settled.transfer === undefined) return BlockStatus.Moved(moved)
  const { amount, ordinal, payer, receiver } = settled.transfer
  // A mint may have settled the payment, by a person's decision.
  const carried = readTransferLogsWithMints(facts.logs).filter(
    ({ from, to, token, value }) =>
      isSameAddress(token, networks[env].usdc.address) &&
      isSameAddress(from, payer) &&
      isSameAddress(to, receiver) &&
      value === amount
  )
  // The ordinal distinguishes equal transfers: the others may pay other payments.
  const transfer = carried[ordinal]
  return transfer === undefined
    ? BlockStatus.Dropped({ reason: "transfer_changed" })
    : BlockStatus.Moved({ ...moved, logPosition: transfer.position })
}
