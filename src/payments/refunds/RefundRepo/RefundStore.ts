// Refunds at rest. What is refunded is a settled payment, or an incoming transfer that pays none.
import type { Effect, Option } from "effect"
import type { Address, Env, TransactionHash } from "../../../domain/Chain.ts"
import type { Tenant } from "../../../domain/Merchant.ts"
import type { AtomicUsdc } from "../../../domain/Money.ts"
import type { PaymentId } from "../../../domain/Payment.ts"
import type { RefundFailure, RefundStatus } from "../../../domain/Refund.ts"
import type { ClaimedTransfer, WatchNote } from "../../PaymentRepo/PaymentStore.ts"
import type { TransferAlreadyUsed } from "../../TransferAlreadyUsed.ts"

export type RefundedThing = { readonly paymentId: PaymentId } | { readonly transferId: string }

export interface NewRefund extends Tenant {
  readonly id: string
  /** True if the caller chose the id; then only the id identifies the refund. */
  readonly hasOwnId: boolean
  readonly of: RefundedThing
  readonly amount: AtomicUsdc
  readonly recipient: Address
  /** True if the refund may exceed the refundable amount. */
  readonly beyondPaid: boolean
  readonly reason: string | null
  /** Null while nothing has been sent. */
  readonly transactionId: TransactionHash | null
  readonly createdBy: string
  readonly at: Date
  /** The chain's height by then, where it is known. */
  readonly createdBlock: bigint | null
  readonly checkAt: Date
}

/** The log that proves a refund. */
export interface RefundProof extends ClaimedTransfer {
  readonly sender: Address
}

/** A proof, when the chain has shown it, and when its block is looked at next. */
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
  readonly namedAt: Date | null
  readonly sender: Address | null
  readonly ordinal: number | null
  readonly blockNumber: bigint | null
  readonly blockHash: TransactionHash | null
  readonly provenAt: Date | null
  readonly endedAt: Date | null
  readonly failureReason: RefundFailure | null
  /** Since when the chain no longer shows the transfer that proved it. */
  readonly droppedAt: Date | null
}

/** A refund that is due for a check, and the end of the lease under which it was taken. */
export interface DueRefund extends Refund {
  readonly heldUntil: Date
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
  /** The same id, or where the caller chose none the same transaction for the same thing: nothing was added. */
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
   * Adds a pending refund under the lock of what it refunds, so that two at once never exceed what was paid.
   * A refunded transfer is handled from then on, and pays nothing. With a proof it is proven, and claims its log, as it
   * is added: where a payment or another refund has that log, nothing is added. It stays pending where `proveRefund`
   * would answer none for another reason.
   */
  readonly createRefund: (
    refund: NewRefund,
    shown?: ShownProof
  ) => Effect.Effect<RefundCreation, TransferAlreadyUsed>
  readonly findRefund: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<Refund>>
  /** Newest first. None where `startingAfter` is not a refund of the tenant. */
  readonly listRefunds: (
    tenant: Tenant,
    page: {
      readonly of?: RefundedThing
      readonly limit: number
      readonly startingAfter?: string | undefined
    }
  ) => Effect.Effect<Option.Option<ReadonlyArray<Refund>>>
  /** Proven refunds of any merchant that are still on the chain, oldest first. */
  readonly provenRefunds: (paymentId: PaymentId) => Effect.Effect<ReadonlyArray<Refund>>
  readonly refundBalance: (tenant: Tenant, of: RefundedThing) => Effect.Effect<RefundBalance>
  /** The block of the transfer that settled a payment; none where nothing has. */
  readonly settledBlock: (paymentId: PaymentId) => Effect.Effect<Option.Option<bigint>>
  /** True if a transfer to the address may pay a payment, because it has been a merchant's receiver. */
  readonly isReceiver: (env: Env, address: Address) => Effect.Effect<boolean>
  /**
   * From which address the merchant sends back what came to one: from that one, or where it has become another
   * merchant's, from its present one, then the newest. None where it has none any more.
   */
  readonly senderFor: (tenant: Tenant, came: Address) => Effect.Effect<Option.Option<Address>>
  /**
   * By which of its receiving addresses the merchant may have sent a transaction: those that were its own as the reader
   * of the chain saw it, and otherwise the present one, then the newest.
   */
  readonly sendersOf: (tenant: Tenant, transactionId: TransactionHash) => Effect.Effect<ReadonlySet<Address>>
  /** Names the transaction of a pending refund; false where it is not pending. */
  readonly nameRefundTransaction: (
    id: string,
    transactionId: TransactionHash,
    at: Date,
    checkAt: Date
  ) => Effect.Effect<boolean>
  /**
   * Proves a pending refund and claims its log, both or neither. None where it is not pending, or while a
   * claim on the same transaction names another block.
   */
  readonly proveRefund: (
    id: string,
    proof: RefundProof,
    at: Date,
    checkAt: Date
  ) => Effect.Effect<Option.Option<Refund>, TransferAlreadyUsed>
  /**
   * Ends a refund that is pending, or proven by what the chain no longer shows: its log is free again, and
   * so is a transfer that no other refund takes. False where it stands, and for a failure where another
   * transaction has been named than the one that was checked.
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
  /** Takes refunds that are due for a check; each is out of other instances' sight until `leaseUntil`. */
  readonly takeDueRefunds: (
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<DueRefund>>
  /**
   * Transfers that left the merchant's receivers, fit the pending refund and prove no other; the oldest ten. They left
   * above the height of its announcement, or at most a minute and `blockTolerance` before it.
   */
  readonly sentFor: (refund: Refund) => Effect.Effect<ReadonlyArray<TransactionHash>>
  /** Sets the next check of a pending refund, unless another transaction was reported since. */
  readonly noteRefundCheck: (
    refund: Pick<Refund, "id" | "transactionId">,
    checkAt: Date
  ) => Effect.Effect<void>
  /**
   * Records the state of a proven refund's block. Returns false and records nothing if another worker has the refund,
   * or it has ended.
   */
  readonly noteRefundWatched: (
    taken: Pick<DueRefund, "id" | "heldUntil">,
    note: WatchNote
  ) => Effect.Effect<boolean>
}
