// What the chain is asked about a payment, and the answers it can give.
import { Data, Schema } from "effect"
import type { Address, ChainId, Env, TransactionHash } from "../domain/Chain.ts"
import type { AtomicUsdc } from "../domain/Money.ts"
import type { TokenChange } from "../domain/TokenChange.ts"

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
  /** As declared by the client: compared, never trusted. */
  readonly tokenChanges: ReadonlyArray<TokenChange>
  /** Log positions of this transaction that other payments have claimed. */
  readonly excludeLogs?: ReadonlyArray<number>
}

export type PendingReason =
  /** No node knows the transaction yet. */
  | "not_found"
  /** In a block, but not deep enough. */
  | "confirmations"
  /** The block that held it is not canonical (any more). */
  | "reorganised"
  /** Nodes contradict each other. */
  | "disagreement"
  /** Too few nodes answered. */
  | "rpc_unavailable"
  /** The configured nodes serve another network; settlement is off until that is corrected. */
  | "wrong_network"

export type MismatchReason =
  | "receiver"
  | "amount"
  | "token"
  | "payer"
  | "reverted"
  | "too_old"
  | "declared_changes"
  | "no_transfer"
  | "already_used"

export type Verification = Data.TaggedEnum<{
  Verified: {
    readonly chainId: ChainId
    readonly transactionId: TransactionHash
    /** Position of the log among the logs of its transaction: it survives re-inclusion in another block. */
    readonly logPosition: number
    readonly blockNumber: bigint
    readonly blockHash: TransactionHash
    readonly payer: Address
    readonly receiver: Address
    readonly token: Address
    /** Atomic USDC. */
    readonly value: AtomicUsdc
    /** Blocks on top of the one that holds the transfer. */
    readonly confirmations: number
  }
  Pending: {
    readonly reason: PendingReason
    /** With `confirmations`: blocks still to come. */
    readonly missingConfirmations?: number
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
  /** Position of the log among its transaction's logs. */
  readonly logPosition?: number
  /** With it a re-included transaction must still carry this very transfer. */
  readonly transfer?: { readonly payer: Address; readonly receiver: Address; readonly amount: AtomicUsdc }
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

export type NetworkVerdict =
  | "ok"
  | "unconfigured"
  | "wrong_chain"
  | "no_token"
  | "wrong_domain"
  | "unavailable"

/** The start-up check of a chain: `message` says what to change. */
export interface NetworkCheck {
  readonly env: Env
  readonly verdict: NetworkVerdict
  readonly message: string
  readonly nodes: ReadonlyArray<{ readonly host: string; readonly verdict: NetworkVerdict }>
}

/** Balances of an address: atomic USDC and wei. */
export interface Balance {
  readonly usdcAtomic: bigint
  readonly gasWei: bigint
}

/** No answer from the chain that could be relied on; trying again later can help. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  reason: Schema.Literals(["unconfigured", "rpc_unavailable", "disagreement"]),
  message: Schema.String
}) {}
