// The questions about a payment that the chain can answer, and the answers.

import { Data, Schema } from "effect"
import type { Hex } from "viem"
import type { Address, Env, TransactionHash } from "../domain/Chain.ts"
import type { SettlementLevels } from "../domain/Finality.ts"
import type { AtomicUsdc } from "../domain/Money.ts"
import type { ChainId } from "../domain/networks.ts"
import type { TokenChange } from "../domain/TokenChange.ts"
import type { MismatchReason, PendingReason } from "../domain/VerdictReason.ts"

/** The transfer that must have happened for a payment to settle. */
export interface Expectation {
  readonly env: Env
  readonly transactionId: TransactionHash
  /** The address that the buyer's token proves. */
  readonly payer: Address
  /** The receiver frozen in the intent. */
  readonly receiver: Address
  readonly amount: AtomicUsdc
  /** The merchant's levels. Default: the operator's. */
  readonly levels?: SettlementLevels
  /** The payment's creation; older transfers belong to something else. */
  readonly notBefore: Date
  /**
   * A height below which no block can contain the transfer. If set, it decides instead of `notBefore`, because it does
   * not depend on this service's clock.
   */
  readonly sinceBlock?: bigint
  /** The client's declaration, which is compared and never trusted. */
  readonly tokenChanges: ReadonlyArray<TokenChange>
  /** Ordinals, among the transaction's equal transfers, that other payments have claimed. */
  readonly excludeOrdinals?: ReadonlyArray<number>
  /** True if a person attaches the transfer. Only then can a mint pay, because a mint has no sender to match. */
  readonly byPerson?: boolean
}

export type Verification = Data.TaggedEnum<{
  Verified: {
    readonly chainId: ChainId
    readonly transactionId: TransactionHash
    /** Position of the log among the logs of its transaction, in this block. */
    readonly logPosition: number
    /** Place among the transfers of its transaction with the same payer, receiver and amount. */
    readonly ordinal: number
    readonly blockNumber: bigint
    readonly blockHash: TransactionHash
    readonly payer: Address
    readonly receiver: Address
    readonly token: Address
    /** Atomic USDC. */
    readonly value: AtomicUsdc
    /** Blocks on top of the block that contains the transfer. */
    readonly confirmations: number
    /** The nonce of the payer's authorization that moved it (EIP-3009), if any. */
    readonly authorization?: Hex
  }
  Pending: {
    readonly reason: PendingReason
  }
  Mismatch: {
    readonly reason: MismatchReason
    readonly expected?: string
    readonly actual?: string
    /** True if the block is as certain as required; until then a reorganisation can still change it. */
    readonly confirmed: boolean
  }
}>
export const Verification = Data.taggedEnum<Verification>()

/** The position of a settled transfer, as recorded when it settled. */
export interface SettledTransfer {
  readonly blockNumber: bigint
  readonly blockHash: TransactionHash
  readonly transactionId: TransactionHash
  /** If set, a re-included transaction must still contain this transfer. */
  readonly transfer?: {
    readonly payer: Address
    readonly receiver: Address
    readonly amount: AtomicUsdc
    /** Place among the transaction's equal transfers. */
    readonly ordinal: number
  }
}

/** The state of a settled transfer's block. */
export type BlockStatus = Data.TaggedEnum<{
  /** Still in place, `confirmations` blocks deep; `final` once it is no longer watched. */
  Canonical: { readonly confirmations: number; readonly final: boolean }
  /** Reorganised into another block, with the transfer intact. */
  Moved: {
    readonly blockNumber: bigint
    readonly blockHash: TransactionHash
    /** The transfer's current position among the transaction's logs; absent if `transfer` was not specified. */
    readonly logPosition?: number
    readonly confirmations: number
  }
  /** No longer on the canonical chain: the money did not move. */
  Dropped: { readonly reason: "not_included" | "reverted" | "transfer_changed" }
  /** The nodes cannot decide now. */
  Unknown: { readonly reason: "disagreement" | "rpc_unavailable" | "lagging" }
}>
export const BlockStatus = Data.taggedEnum<BlockStatus>()

export type NodeStatus =
  | "ok"
  | "unconfigured"
  | "wrong_chain"
  | "no_token"
  | "wrong_domain"
  | "no_tags"
  | "unavailable"

/** The start-up check of a chain. `message` says what to change. */
export interface NetworkCheck {
  readonly env: Env
  readonly status: NodeStatus
  readonly message: string
  readonly nodes: ReadonlyArray<{ readonly host: string; readonly status: NodeStatus }>
}

/** Balances of an address: atomic USDC and wei. */
export interface Balance {
  readonly usdcAtomic: bigint
  readonly gasWei: bigint
}

/** The chain gave no reliable answer; trying again later can help. */
export class RpcUnavailable extends Schema.TaggedError<RpcUnavailable>()("RpcUnavailable", {
  reason: Schema.Literals(["unconfigured", "rpc_unavailable", "disagreement"]),
  message: Schema.String
}) {}

/** A USDC transfer as the chain shows it. */
export interface ChainTransfer {
  readonly transactionId: TransactionHash
  readonly payer: Address
  readonly receiver: Address
  /** Atomic USDC. */
  readonly amount: bigint
  /** Place among the transfers of its transaction with the same payer, receiver and amount. */
  readonly ordinal: number
  readonly blockNumber: bigint
  readonly blockHash: TransactionHash
}

/** A transfer of a token that is not USDC. */
export interface OtherTransfer extends ChainTransfer {
  readonly symbol: string
}

/** The nodes' answer about a range of blocks. */
export type RangeReading = Data.TaggedEnum<{
  /** Every USDC transfer of the range that matches the filter, in the order of the chain. */
  Read: {
    /** Hash of the block before the first. */
    readonly parentHash: TransactionHash
    /** The last block's hash; its time is in Unix seconds. */
    readonly blockHash: TransactionHash
    readonly blockTime: bigint
    readonly transfers: ReadonlyArray<ChainTransfer>
    /** The same for the network's other tokens. */
    readonly others: ReadonlyArray<OtherTransfer>
  }
  /** A majority has not reached the last block. */
  Behind: Record<never, never>
  /** The nodes have later blocks, but too few have these for a majority. */
  Missing: Record<never, never>
  /** No majority: silence, contradictions or errors. If `refused`, a shorter range may be answered. */
  Unread: { readonly refused: boolean }
}>
export const RangeReading = Data.taggedEnum<RangeReading>()

/** An account's state on the chain. */
export interface AccountState {
  /** Height of the chain. */
  readonly head: bigint
  /** The next nonce by mined transactions; null if the account has code and may send without using one. */
  readonly nonce: bigint | null
  /** The next nonce that includes the node's unmined transactions; null for the same reason. */
  readonly pending: bigint | null
}
