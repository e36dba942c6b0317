// The interface of PaymentRepo and its guarantees, the same on Postgres and in memory.
import type { Effect, Option } from "effect"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { IntentTokenExpired } from "../../domain/Errors.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import type { AtomicUsdc } from "../../domain/Money.ts"
import type {
  Evidence,
  FailureReason,
  PayerType,
  Payment,
  PaymentId,
  PaymentSummary
} from "../../domain/Payment.ts"
import type { VerdictReason } from "../../domain/VerdictReason.ts"
import type { SettledDelivery } from "../../domain/Webhook.ts"
import type { TransferAlreadyUsed } from "../TransferAlreadyUsed.ts"

export interface OpenPayment extends Tenant {
  readonly id: PaymentId
  readonly amount: AtomicUsdc
  readonly intentUrl: string
  readonly receiver: Address
  readonly payerType: PayerType
  /** Height of the chain, if the process knows it. */
  readonly openedBlock?: bigint
  readonly at: Date
}

export interface PageRequest {
  readonly limit: number
  /** Only payments that this transaction settled. */
  readonly transactionId?: TransactionHash | undefined
  /** Only payments of this order. */
  readonly intentUrl?: string | undefined
  /** The last payment of the previous page. */
  readonly startingAfter: PaymentId | undefined
}

export interface Report extends Tenant {
  readonly paymentId: PaymentId
  readonly evidence: Evidence
  /** Becomes the payment's payer type if this report settles it. */
  readonly payerType: PayerType
  readonly at: Date
  /** The time at which the reconciler checks the report, unless a request does so earlier. */
  readonly nextCheckAt: Date
}

/** Position of the proven Transfer on the chain. */
export interface ClaimedTransfer {
  readonly chainId: number
  readonly transactionId: TransactionHash
  /** Position of the log among its transaction's logs. */
  readonly logPosition: number
  /** Place among the transfers of its transaction with the same payer, receiver and amount. */
  readonly ordinal: number
  readonly blockNumber: bigint
  readonly blockHash: TransactionHash
}

export interface PaymentSettlement {
  readonly paymentId: PaymentId
  readonly evidence: Evidence
  readonly reportedAt: Date
  readonly at: Date
  readonly transfer: ClaimedTransfer
  readonly delivery: SettledDelivery
  /** Used if the transfer settled another payment before: the merchant has handled that delivery's id. */
  readonly laterDelivery?: SettledDelivery
  /** The time of the next check by the finality watch. */
  readonly watchAt: Date
}

/** A transfer that can no longer settle a payment. */
export interface UnavailableTransfer {
  /** Place among the equal transfers of its transaction. */
  readonly ordinal: number
  /** The hash of the block in which a payment claims the transfer; null if a person handled the transfer. */
  readonly blockHash: TransactionHash | null
}

/** The chain's answer about a report. */
export interface Verdict {
  readonly at: Date
  readonly reason: VerdictReason
  readonly expected?: string | undefined
  readonly actual?: string | undefined
}

/** A payment, and the height at which a payer first announced to pay it. */
export interface PaymentWithAttemptBlock {
  readonly payment: Payment
  readonly attemptBlock: bigint | null
}

/** A stored report that is due for another check against the chain. */
export interface DueReport extends PaymentWithAttemptBlock {
  readonly evidence: Evidence
  readonly reportedAt: Date
  /** The number of checks so far. */
  readonly checks: number
  /** The end of the lease under which it was taken. */
  readonly leaseUntil: Date
}

/** A settled transfer whose block is not final yet. */
export interface WatchedTransfer extends ClaimedTransfer, Tenant {
  readonly paymentId: PaymentId
  /** The transfer that the transaction must still contain. */
  readonly transfer: {
    readonly payer: Address
    readonly receiver: Address
    readonly amount: AtomicUsdc
    readonly ordinal: number
  }
  /** The time since which the chain no longer shows it. */
  readonly droppedAt: Date | null
  /** True if it replaced the transfer that settled the payment. */
  readonly isReplacement: boolean
  /** The end of the lease under which it was taken. */
  readonly leaseUntil: Date
}

/** The result of checking a settled transfer's block. */
export interface WatchResult {
  /** The transaction's new position after a reorganisation; absent if it did not move. */
  readonly moved?: Pick<ClaimedTransfer, "blockNumber" | "blockHash"> & {
    readonly logPosition?: number
  }
  /** The time since which the chain no longer shows the transfer. */
  readonly droppedAt: Date | null
  /** The time of the next check; null ends the watch. */
  readonly watchAt: Date | null
}

export interface PaymentStore {
  /** Creates the pending payment, or returns the one that the same token opened before. */
  readonly open: (
    input: OpenPayment
  ) => Effect.Effect<{ readonly payment: Payment; readonly created: boolean }>
  /** The payment that a token opened, for replays after its expiry. */
  readonly openExpired: (tenant: Tenant, id: PaymentId) => Effect.Effect<Payment, IntentTokenExpired>
  readonly find: (tenant: Tenant, id: PaymentId) => Effect.Effect<Option.Option<Payment>>
  /** The tenant's existing payments with these ids, in no order. */
  readonly findMany: (
    tenant: Tenant,
    ids: ReadonlyArray<PaymentId>
  ) => Effect.Effect<ReadonlyArray<PaymentSummary>>
  /** True if any merchant has a payment with this id. */
  readonly exists: (id: PaymentId) => Effect.Effect<boolean>
  /** Newest first. None if `startingAfter` is not one of the tenant's payments. */
  readonly list: (
    tenant: Tenant,
    page: PageRequest
  ) => Effect.Effect<
    Option.Option<{ readonly payments: ReadonlyArray<PaymentSummary>; readonly hasMore: boolean }>
  >
  /**
   * Returns the payment's current state, in one round trip. If the payment is not settled, stores the report: for the
   * reconciler on an open network, as a record on a closed one.
   */
  readonly report: (report: Report) => Effect.Effect<Option.Option<PaymentWithAttemptBlock>>
  /** The ordinals of a transaction's equal transfers that can no longer pay, or cannot pay this payment. */
  readonly unavailableTransfers: (
    transfer: Pick<PaymentSettlement, "evidence"> & {
      readonly paymentId?: PaymentId
      readonly chainId: number
      readonly receiver: Address
      readonly amount: AtomicUsdc
    }
  ) => Effect.Effect<ReadonlyArray<UnavailableTransfer>>
  /**
   * Settles a payment that is pending, or failed and paid late. Claims its transfer, queues its webhook and deletes
   * its reports, all or nothing. None if the payment is settled already, or while a claim on the same transaction
   * names another block.
   */
  readonly settle: (
    settlement: PaymentSettlement
  ) => Effect.Effect<Option.Option<Payment>, TransferAlreadyUsed>
  /**
   * Records the result of a check against the chain; `nextCheckAt` null ends the checks. Does nothing if the report is
   * no longer due at `leaseUntil`: another instance took it, or it was reported again, and that check counts.
   */
  readonly recordCheck: (
    paymentId: PaymentId,
    evidence: Evidence,
    verdict: Verdict,
    next: { readonly leaseUntil: Date; readonly nextCheckAt: Date | null }
  ) => Effect.Effect<void>
  /** Records a verdict only for the payment's history. An unchanged verdict is recorded once. */
  readonly recordVerdict: (paymentId: PaymentId, evidence: Evidence, verdict: Verdict) => Effect.Effect<void>
  /** Makes reports due that were only recorded while the network was closed. Returns their number. */
  readonly requeueRecordedReports: (env: Env, at: Date) => Effect.Effect<number>
  /** Takes due reports. Other instances do not see them until `leaseUntil`. */
  readonly takeDueReports: (
    env: Env,
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<DueReport>>
  /**
   * Fails pending payments that were opened before `openedBefore`, oldest first. A payment stays pending if:
   * - one of its reports was made since `reportedBefore`, is still to be checked, or is on a closed network;
   * - an x402 settlement of it is pending;
   * - a transfer that could pay it is not matched yet.
   */
  readonly expire: (cutoff: {
    readonly openedBefore: { readonly [E in Env]: Date }
    readonly reportedBefore: Date
    readonly at: Date
    /** Default 500. */
    readonly limit?: number
  }) => Effect.Effect<ReadonlyArray<{ readonly id: PaymentId; readonly reason: FailureReason }>>
  /** Deletes old, unchecked reports of ended payments on open networks. Returns their number. */
  readonly pruneReports: (reportedBefore: Date, limit: number) => Effect.Effect<number>
  /** Takes settled transfers whose blocks are due for a finality check. */
  readonly takeWatched: (
    env: Env,
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<WatchedTransfer>>
  /**
   * Records the state of a settled transfer's block. The payment itself does not change. While the chain does not show
   * the transfer, open transfers like it are matched again. Returns false, and records nothing, if another instance
   * has taken the transfer since.
   */
  readonly recordWatched: (
    taken: Pick<WatchedTransfer, "paymentId" | "leaseUntil">,
    result: WatchResult
  ) => Effect.Effect<boolean>
}

/** The operations of background work: take due payments under a lease and record the outcome. */
export type ReconcilerStore = Pick<
  PaymentStore,
  | "recordCheck"
  | "recordVerdict"
  | "requeueRecordedReports"
  | "takeDueReports"
  | "expire"
  | "pruneReports"
  | "takeWatched"
  | "recordWatched"
>
