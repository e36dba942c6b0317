// Storage of refunds: of a settled payment, or of an incoming transfer that pays none.
import type { Effect, Option } from "effect"
import type { Address, Env, TransactionHash } from "../../../domain/Chain.ts"
import type { Tenant } from "../../../domain/Merchant.ts"
import type { AtomicUsdc } from "../../../domain/Money.ts"
import type { PaymentId } from "../../../domain/Payment.ts"
import type { RefundFailure, RefundStatus } from "../../../domain/Refund.ts"
import type { ClaimedTransfer, WatchResult } from "../../PaymentRepo/PaymentStore.ts"
import type { TransferAlreadyUsed } from "../../TransferAlreadyUsed.ts"

export type RefundTarget = { readonly paymentId: PaymentId } | { readonly transferId: string }

export interface NewRefund extends Tenant {
  readonly id: string
  /** True if the caller chose the id; then only the id identifies the refund. */
  readonly hasOwnId: boolean
  readonly of: RefundTarget
  readonly amount: AtomicUsdc
  readonly recipient: Address
  /** True if the refund may exceed the refundable amount. */
  readonly beyondPaid: boolean
  readonly reason: string | null
  /** Null while nothing has been sent. */
  readonly transactionId: TransactionHash | null
  readonly createdBy: string
  readonly at: Date
  /** The chain's height at that time, if known. */
  readonly createdBlock: bigint | null
  readonly checkAt: Date
}

/** The log that proves a refund. */
export interface RefundProof extends ClaimedTransfer {
  readonly sender: Address
}

/** A proof, the time at which the chain showed it, and the time of the next check of its block. */
export interface ShownProof {
  readonly proof: RefundProof
  readonly at: Date
  readonly checkAt: Date
}

export interface Refund extends Tenant {
  readonly id: string
  readonly paymentId: PaymentId | null
  readonly transferId: string | null
  readonly amount: AtomicUsdc
  readonly recipient: Address
  readonly status: RefundStatus
  readonly beyondPaid: boolean
  readonly reason: string | null
  readonly createdBy: string
  readonly createdAt: Date
  readonly createdBlock: bigint | null
  /** The block of the refunded transfer: no refund is in an earlier block. */
  readonly sinceBlock: bigint
  readonly transactionId: TransactionHash | null
  /** The time at which the transaction was reported. */
  readonly reportedAt: Date | null
  readonly sender: Address | null
  readonly ordinal: number | null
  readonly blockNumber: bigint | null
  readonly blockHash: TransactionHash | null
  readonly provenAt: Date | null
  readonly endedAt: Date | null
  readonly failureReason: RefundFailure | null
  /** The time since which the chain no longer shows the transfer that proved it. */
  readonly droppedAt: Date | null
}

/** A refund that is due for a check, and the end of the lease under which it was taken. */
export interface DueRefund extends Refund {
  readonly leaseUntil: Date
}

/**
 * The amount received for a payment or transfer and still on the chain, and the total of its refunds, proven or
 * pending.
 */
export interface RefundBalance {
  readonly paid: bigint
  readonly refunded: bigint
}

export type RefundCreation =
  | { readonly _tag: "Created"; readonly refund: Refund }
  /** Nothing was added: the same id, or, without an id, the same transaction for the same payment or transfer. */
  | { readonly _tag: "Known"; readonly refund: Refund }
  | { readonly _tag: "Exceeds"; readonly balance: RefundBalance }
  /** The transfer pays a payment, is being attached to one, or has left the chain. */
  | { readonly _tag: "Explained" }
  /** The payment is not settled. */
  | { readonly _tag: "Unsettled" }
  | { readonly _tag: "Unknown" }
  /** Another merchant's refund has the id. */
  | { readonly _tag: "IdTaken" }

export interface RefundStore {
  /**
   * Adds a pending refund under the lock of what it refunds, so that concurrent refunds never exceed the received
   * amount. A refunded transfer counts as handled from then on, and pays nothing. With a proof, the refund is proven
   * and claims its log in the same step: if a payment or another refund has that log, nothing is added. It stays
   * pending if `proveRefund` would return none for another reason.
   */
  readonly createRefund: (
    refund: NewRefund,
    shown?: ShownProof
  ) => Effect.Effect<RefundCreation, TransferAlreadyUsed>
  readonly findRefund: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<Refund>>
  /** Newest first. None if `startingAfter` is not one of the tenant's refunds. */
  readonly listRefunds: (
    tenant: Tenant,
    page: {
      readonly of?: RefundTarget
      readonly limit: number
      readonly startingAfter?: string | undefined
    }
  ) => Effect.Effect<Option.Option<ReadonlyArray<Refund>>>
  /** Proven refunds of any merchant that are still on the chain, oldest first. */
  readonly provenRefunds: (paymentId: PaymentId) => Effect.Effect<ReadonlyArray<Refund>>
  readonly refundBalance: (tenant: Tenant, of: RefundTarget) => Effect.Effect<RefundBalance>
  /** The block of the transfer that settled a payment; none if it is not settled. */
  readonly settledBlock: (paymentId: PaymentId) => Effect.Effect<Option.Option<bigint>>
  /** True if a transfer to the address may pay a payment, because it has been a merchant's receiver. */
  readonly isReceiver: (env: Env, address: Address) => Effect.Effect<boolean>
  /**
   * The address from which the merchant refunds money that arrived at `came`: that same address, or, if it has become
   * another merchant's, the merchant's current address, then its newest. None if it has no address.
   */
  readonly senderFor: (tenant: Tenant, came: Address) => Effect.Effect<Option.Option<Address>>
  /**
   * The receiving addresses from which the merchant may have sent a transaction: those that the chain reader saw as
   * its own; otherwise the current address, then the newest.
   */
  readonly sendersOf: (tenant: Tenant, transactionId: TransactionHash) => Effect.Effect<ReadonlySet<Address>>
  /** Records the transaction of a pending refund. False if the refund is not pending. */
  readonly reportRefundTransaction: (
    id: string,
    transactionId: TransactionHash,
    at: Date,
    checkAt: Date
  ) => Effect.Effect<boolean>
  /**
   * Proves a pending refund and claims its log, both or neither. None if it is not pending, or while a claim on the
   * same transaction names another block.
   */
  readonly proveRefund: (
    id: string,
    proof: RefundProof,
    at: Date,
    checkAt: Date
  ) => Effect.Effect<Option.Option<Refund>, TransferAlreadyUsed>
  /**
   * Ends a refund that is pending, or proven by a transfer that the chain no longer shows. Its log becomes free again,
   * and so does a transfer that no other refund has. False if its proof is still on the chain, or, for a failure, if
   * another transaction than the checked one has been reported.
   */
  readonly endRefund: (
    id: string,
    end:
      | { readonly status: "cancelled" }
      | {
          readonly status: "failed"
          readonly reason: RefundFailure
          readonly transactionId: TransactionHash | null
        },
    at: Date
  ) => Effect.Effect<boolean>
  /** Takes refunds that are due for a check. Other instances do not see them until `leaseUntil`. */
  readonly takeDueRefunds: (
    env: Env,
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<DueRefund>>
  /**
   * Transfers that left the merchant's receivers, fit the pending refund and prove no other; the oldest ten. They left
   * above the height of its announcement, or at most a minute and `blockTolerance` before it.
   */
  readonly transfersMatching: (refund: Refund) => Effect.Effect<ReadonlyArray<TransactionHash>>
  /** Sets the next check of a pending refund, unless another transaction was reported since. */
  readonly recordRefundCheck: (
    refund: Pick<Refund, "id" | "transactionId">,
    checkAt: Date
  ) => Effect.Effect<void>
  /**
   * Records the state of a proven refund's block. Returns false and records nothing if another worker has the refund,
   * or it has ended.
   */
  readonly recordRefundWatched: (
    taken: Pick<DueRefund, "id" | "leaseUntil">,
    result: WatchResult
  ) => Effect.Effect<boolean>
}
