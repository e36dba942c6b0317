// Decides whether a transaction settles a payment. Pure: takes the chain's facts and the payment's expectation, and
// returns a verification. The transaction's own sender, recipient and input are never considered.
import type { TransactionHash } from "../../domain/Chain.ts"
import type { Finality } from "../../domain/Finality.ts"
import { networks } from "../../domain/networks.ts"
import { isSameTokenChanges } from "../../domain/TokenChange.ts"
import type { MismatchReason, PendingReason } from "../../domain/VerdictReason.ts"
import { isSameAddress } from "../Address.ts"
import { type Expectation, Verification } from "../Verification.ts"
import { type RawLog, readTransferLogs, readTransferLogsWithMints, type TransferLog } from "./TransferLog.ts"
import { usedNonces } from "./usedNonces.ts"

/** The chain's facts about a mined transaction. */
export interface TransactionFacts {
  readonly blockNumber: bigint
  readonly blockHash: TransactionHash
  readonly status: "success" | "reverted"
  /** In the order of the receipt. */
  readonly logs: ReadonlyArray<RawLog>
  /** Hash of the canonical block at that height. */
  readonly canonicalHash: TransactionHash
  /** Unix seconds of that block. */
  readonly blockTime: bigint
  /** Height of the chain. */
  readonly head: bigint
  /** Heights of the blocks with these tags; null if they are not read, or if there is no majority. */
  readonly tagged: { readonly safe: bigint | null; readonly finalized: bigint | null }
  /** True if all nodes show the same. */
  readonly unanimous: boolean
}

/** The facts that the chain must show about a transfer's block. */
export interface RequiredFinality {
  readonly finality: Finality
  /** Blocks on top of it, for `confirmed` and `included`. */
  readonly confirmations: number
}

const reaches = (height: bigint, tagged: bigint | null) => tagged !== null && tagged >= height

/** The reason why a transfer waits; undefined once its block is as certain as required. */
export const waitReason = (
  { blockNumber, head, tagged, unanimous }: TransactionFacts,
  { confirmations, finality }: RequiredFinality
): Extract<PendingReason, "confirmations" | "safe" | "finalized"> | undefined => {
  const finalized = reaches(blockNumber, tagged.finalized)
  const safe = finalized || reaches(blockNumber, tagged.safe)
  const confirmed = head - blockNumber >= BigInt(confirmations)
  switch (finality) {
    case "confirmed":
      return confirmed ? undefined : "confirmations"
    case "included":
      // While a node is silent or lagging, the tag decides.
      if (safe || (confirmed && unanimous)) return undefined
      return confirmed ? "safe" : "confirmations"
    case "safe":
      return safe ? undefined : "safe"
    case "finalized":
      return finalized ? undefined : "finalized"
  }
}

/** Clocks of buyers' payments and of blocks may differ by this much. */
const clockToleranceSeconds = 60

interface Mismatch {
  readonly reason: MismatchReason
  readonly expected?: string
  readonly actual?: string
}

/** Finds the field in which the nearest transfer differs. */
const findMismatch = (expectation: Expectation, transfers: ReadonlyArray<TransferLog>): Mismatch => {
  const { amount, payer, receiver } = expectation
  const token = networks[expectation.env].usdc.address
  const usdc = transfers.filter((transfer) => isSameAddress(transfer.token, token))
  const from = (transfer: TransferLog) => isSameAddress(transfer.from, payer)
  const to = (transfer: TransferLog) => isSameAddress(transfer.to, receiver)
  const exact = (transfer: TransferLog) => transfer.value === amount

  const otherAmount = usdc.find((transfer) => from(transfer) && to(transfer))
  if (otherAmount !== undefined) {
    return { reason: "amount", expected: String(amount), actual: String(otherAmount.value) }
  }
  const otherPayer = usdc.find((transfer) => to(transfer) && exact(transfer)) ?? usdc.find(to)
  if (otherPayer !== undefined) return { reason: "payer", expected: payer, actual: otherPayer.from }
  const otherReceiver = usdc.find((transfer) => from(transfer) && exact(transfer)) ?? usdc.find(from)
  if (otherReceiver !== undefined) return { reason: "receiver", expected: receiver, actual: otherReceiver.to }
  const otherToken = transfers.find(
    (transfer) => !isSameAddress(transfer.token, token) && from(transfer) && to(transfer)
  )
  if (otherToken !== undefined) return { reason: "token", expected: token, actual: otherToken.token }
  return { reason: "no_transfer" }
}

/** By height if the expectation has one, otherwise by time. */
const ageMismatch = (
  facts: TransactionFacts,
  { notBefore, sinceBlock }: Expectation
): Mismatch | undefined => {
  if (sinceBlock !== undefined) {
    return facts.blockNumber >= sinceBlock
      ? undefined
      : {
          reason: "too_old",
          expected: `block ${sinceBlock} or later`,
          actual: `block ${facts.blockNumber}`
        }
  }
  const earliest = BigInt(Math.floor(notBefore.getTime() / 1000) - clockToleranceSeconds)
  return facts.blockTime >= earliest
    ? undefined
    : {
        reason: "too_old",
        expected: `a block at or after ${isoTime(earliest)}`,
        actual: isoTime(facts.blockTime)
      }
}

/**
 * Judges a transaction. A permanent mismatch is returned immediately; a match waits until its block is as certain as
 * required.
 */
export const judgeTransfer = (
  facts: TransactionFacts,
  expectation: Expectation,
  required: RequiredFinality
): Verification => {
  const { usdc, chainId } = networks[expectation.env]
  if (facts.blockHash !== facts.canonicalHash) return Verification.Pending({ reason: "reorganised" })

  const confirmations = Math.max(0, Number(facts.head - facts.blockNumber))
  const waiting = waitReason(facts, required)
  const mismatch = (difference: Mismatch) =>
    Verification.Mismatch({ ...difference, confirmed: waiting === undefined })
  if (facts.status !== "success") return mismatch({ reason: "reverted" })

  const transfers =
    expectation.byPerson === true ? readTransferLogsWithMints(facts.logs) : readTransferLogs(facts.logs)
  const matching = transfers.filter(
    (transfer) =>
      isSameAddress(transfer.token, usdc.address) &&
      isSameAddress(transfer.from, expectation.payer) &&
      isSameAddress(transfer.to, expectation.receiver) &&
      transfer.value === expectation.amount
  )
  if (matching.length === 0) return mismatch(findMismatch(expectation, transfers))

  const age = ageMismatch(facts, expectation)
  if (age !== undefined) return mismatch(age)
  const claimed = expectation.excludeOrdinals ?? []
  const ordinal = matching.findIndex((_, index) => !claimed.includes(index))
  const transfer = matching[ordinal]
  if (transfer === undefined) return mismatch({ reason: "already_used" })

  const tokenChange = {
    amountAtomic: String(transfer.value),
    chainId,
    receiver: transfer.to,
    tokenAddress: transfer.token
  }
  if (!isSameTokenChanges(expectation.tokenChanges, [tokenChange])) {
    return mismatch({ reason: "declared_changes", expected: JSON.stringify([tokenChange]) })
  }
  if (waiting !== undefined) return Verification.Pending({ reason: waiting })
  // The token logs the use of an authorization directly before its transfer.
  const [authorization] = usedNonces(
    usdc.address,
    transfer.from,
    facts.logs.slice(0, transfer.position).slice(-1)
  )
  return Verification.Verified({
    ...(authorization === undefined ? {} : { authorization }),
    chainId,
    transactionId: expectation.transactionId,
    logPosition: transfer.position,
    ordinal,
    blockNumber: facts.blockNumber,
    blockHash: facts.blockHash,
    payer: transfer.from,
    receiver: transfer.to,
    token: transfer.token,
    value: expectation.amount,
    confirmations
  })
}

/** Block times as ISO text. A hostile node can report one beyond the calendar. */
const isoTime = (seconds: bigint): string => {
  const time = new Date(Number(seconds) * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s` : time.toISOString()
}
