// What the chain is asked about a payment, and the answers it can give.

import { Data, Schema } from "effect"
import type { Hex } from "viem"
import type { Address, Env, TransactionHash } from "../domain/Chain.ts"
import type { AtomicUsdc } from "../domain/Money.ts"
import type { ChainId } from "../domain/networks.ts"
import type { TokenChange } from "../domain/TokenChange.ts"
import type { MismatchReason, PendingReason } from "../domain/VerdictReason.ts"

/** What must have happened for a payment to be settled. */
export interface Expectation {
  readonly env: Env
  readonly transactionId: TransactionHash
  /** The address that the buyer's token proves. */
  readonly payer: Address
  /** The receiver frozen in the intent. */
  readonly receiver: Address
  readonly amount: AtomicUsdc
  /** The payment's creation; older transfers belong to something else. */
  readonly notBefore: Date
  /**
   * A height below which no block can hold the transfer. Where it is known it decides instead of
   * `notBefore`: a chain's heights need no clock of ours.
   */
  readonly sinceBlock?: bigint
  /** As declared by the client: compared, never trusted. */
  readonly tokenChanges: ReadonlyArray<TokenChange>
  /** Ordinals, among the transaction's equal transfers, that other payments have claimed. */
  readonly excludeOrdinals?: ReadonlyArray<number>
  /** A person says what it is for: so pays what was minted, which nobody has sent. */
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
    /** Blocks on top of the one that holds the transfer. */
    readonly confirmations: number
    /** The nonce of the payer's authorization that moved it (EIP-3009), where one did. */
    readonly authorization?: Hex
  }
  Pending: {
    readonly reason: PendingReason
  }
  Mismatch: {
    readonly reason: MismatchReason
    readonly expected?: string
    readonly actual?: string
    /** Whether the block has the required confirmations; until then a reorganisation can still change it. */
    readonly confirmed: boolean
  }
}>
export const Verification = Data.taggedEnum<Verification>()

/** The place of a settled transfer, as recorded when it settled. */
export interface SettledTransfer {
  readonly blockNumber: bigint
  readonly blockHash: TransactionHash
  readonly transactionId: TransactionHash
  /** With it a re-included transaction must still carry this very transfer. */
  readonly transfer?: {
    readonly payer: Address
    readonly receiver: Address
    readonly amount: AtomicUsdc
    /** Place among the transaction's equal transfers. */
    readonly ordinal: number
  }
}

/** What has become of a settled transfer's block. */
export type BlockStatus = Data.TaggedEnum<{
  /** Where it was, `confirmations` blocks deep; `final` once that reaches the finality depth. */
  Canonical: { readonly confirmations: number; readonly final: boolean }
  /** Reorganised into another block, the transfer intact. */
  Moved: {
    readonly blockNumber: bigint
    readonly blockHash: TransactionHash
    /** Where the transfer now is among the transaction's logs; absent when `transfer` was not given. */
    readonly logPosition?: number
    readonly confirmations: number
  }
  /** No longer on the canonical chain: the money did not move. */
  Dropped: { readonly reason: "not_included" | "reverted" | "transfer_changed" }
  /** The nodes cannot tell now. */
  Unknown: { readonly reason: "disagreement" | "rpc_unavailable" | "lagging" }
}>
export const BlockStatus = Data.taggedEnum<BlockStatus>()

export type NodeStatus = "ok" | "unconfigured" | "wrong_chain" | "no_token" | "wrong_domain" | "unavailable"

/** The start-up check of a chain: `message` says what to change. */
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

/** No answer from the chain that could be relied on; trying again later can help. */
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

/** What the nodes say of a range of blocks. */
export type RangeReading = Data.TaggedEnum<{
  /** Every USDC transfer of the range, in the order of the chain. */
  Read: {
    /** Hash of the block before the first. */
    readonly parentHash: TransactionHash
    /** Of the last block; the time in Unix seconds. */
    readonly blockHash: TransactionHash
    readonly blockTime: bigint
    readonly transfers: ReadonlyArray<ChainTransfer>
  }
  /** A majority has not reached the last block. */
  Behind: Record<never, never>
  /** No majority: silence, refusals or contradictions. A shorter range may be answered. */
  Unread: Record<never, never>
}>
export const RangeReading = Data.taggedEnum<RangeReading>()

/** An account's state on the chain. */
export interface AccountState {
  /** Height of the chain. */
  readonly head: bigint
  /** Next nonce by mined transactions; null where the account has code, and may send without using one. */
  readonly nonce: bigint | null
  /** Next nonce by those that the node holds unmined as well; null likewise. */
  readonly pending: bigint | null
}
