// Storage of incoming transfers: each USDC transfer to a receiver, the block up to which the chain is read, and how a
// person resolved a transfer that no payment claims.

import type { Effect, Option } from "effect"
import type { Hex } from "viem"
import type { ChainTransfer } from "../../chain/Verification.ts"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { LikelyReason, TransferKind } from "../../domain/IncomingTransfer.ts"
import type { MerchantId, Tenant } from "../../domain/Merchant.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type { MatchAttempt } from "../AttemptRepo/AttemptStore.ts"

/** The delay before a transfer that was given up and has reappeared is checked: lagging nodes may still miss it. */
export const reappearanceDelayMillis = 60_000

/** The block up to which a chain is read. */
export interface ChainCursor {
  readonly blockNumber: bigint
  readonly blockHash: TransactionHash
  readonly blockTime: Date
}

/** The right to continue reading a chain, until it ends or is renewed. */
export interface CursorLease {
  readonly id: string
  readonly at: Date
  readonly until: Date
}

/** A lease that ends later than this was taken while the clock was ahead, and blocks nobody. */
export const latestPlausibleEnd = ({ at, until }: Pick<CursorLease, "at" | "until">): Date =>
  new Date(2 * until.getTime() - at.getTime())

export interface IncomingTransfer extends ChainTransfer, Tenant {
  readonly id: string
  readonly blockTime: Date
  /** The time at which the service first read it. */
  readonly storedAt: Date
  readonly kind: TransferKind | null
  /** The payment that claimed it. */
  readonly paymentId: PaymentId | null
  readonly droppedAt: Date | null
  readonly handledAt: Date | null
  readonly handledBy: string | null
  readonly note: string | null
}

/** A payment that a transfer may be meant for, and what connects them. */
export interface LikelyPayment {
  readonly payment: Payment
  readonly reasons: ReadonlyArray<LikelyReason>
  /** True if it settled by a transfer that the chain no longer shows. */
  readonly dropped: boolean
}

/** A payment that a transfer may settle without a person's decision. */
export interface Match {
  readonly payment: Payment
  /** The time of the report that names the transaction; null for an announced attempt. */
  readonly reportedAt: Date | null
  /** The payer's attempts on the payment. */
  readonly attempts: ReadonlyArray<MatchAttempt>
}

/** The transfers read between two cursors. */
export interface ReadRange {
  readonly env: Env
  readonly lease: CursorLease
  readonly from: ChainCursor
  readonly to: ChainCursor
  readonly transfers: ReadonlyArray<
    ChainTransfer & { readonly id: string; readonly merchantId: MerchantId; readonly blockTime: Date }
  >
  /** Transfers that left a receiver, with its merchant. */
  readonly outgoing: ReadonlyArray<
    ChainTransfer & { readonly merchantId: MerchantId; readonly blockTime: Date }
  >
}

export interface TransferStore {
  readonly cursor: (env: Env) => Effect.Effect<Option.Option<ChainCursor>>
  /** Records that the network is closed with nothing in progress, until it is read again. */
  readonly closeCursor: (env: Env, at: Date) => Effect.Effect<void>
  /** Sets the first cursor of a chain; an existing one stays. */
  readonly startCursor: (env: Env, cursor: ChainCursor) => Effect.Effect<void>
  /** Takes or renews a cursor's lease. None while another instance holds it, until its end or `latestPlausibleEnd`. */
  readonly leaseCursor: (env: Env, lease: CursorLease) => Effect.Effect<Option.Option<ChainCursor>>
  /** Releases the lease, so that another instance reads on immediately. */
  readonly releaseCursor: (env: Env, leaseId: string) => Effect.Effect<void>
  /** Addresses that receive money, at most `limit`. */
  readonly receivers: (env: Env, limit: number) => Effect.Effect<ReadonlyArray<Address>>
  /** The receivers among these addresses, each with its merchant and the time since which it receives. */
  readonly receiversAmong: (
    env: Env,
    addresses: ReadonlyArray<Address>
  ) => Effect.Effect<ReadonlyMap<Address, { readonly merchantId: MerchantId; readonly since: Date }>>
  /**
   * Stores the transfers of a range of blocks and moves the cursor, together. A transfer that was stored for these
   * blocks and is not among them counts as dropped. A transfer that was given up as lost and is among them is watched
   * again. False if another instance holds the lease or has moved the cursor.
   */
  readonly recordRange: (range: ReadRange) => Effect.Effect<boolean>
  /** Moves the cursor back, to read the blocks after a reorganisation again. */
  readonly rewindCursor: (
    env: Env,
    lease: CursorLease,
    from: ChainCursor,
    to: ChainCursor
  ) => Effect.Effect<boolean>
  /**
   * Takes transfers that are still to be matched. Other instances do not see them until `leaseUntil`. Releases
   * transfers that a person took for a payment and did not settle within the lease.
   */
  readonly takeUnmatched: (
    env: Env,
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<IncomingTransfer>>
  /**
   * True while an authorization of the payer with the same terms is being settled: until it ends, the transfer may
   * belong to it.
   */
  readonly awaitsSettlement: (
    transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount">
  ) => Effect.Effect<boolean>
  /** True while any authorization is being settled for the payment: another transfer would pay it twice. */
  readonly isReserved: (paymentId: PaymentId) => Effect.Effect<boolean>
  /**
   * Payments of the transfer's terms, in any status, for which one of these nonces was requested, reserved or used.
   */
  readonly paymentsOfNonces: (
    transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount">,
    nonces: ReadonlyArray<Hex>
  ) => Effect.Effect<ReadonlyArray<Payment>>
  /** The payment for which the payer's authorization was requested, or which it is settling. */
  readonly paymentOfNonce: (env: Env, payer: Address, nonce: Hex) => Effect.Effect<Option.Option<PaymentId>>
  /** Unsettled payments of the exact amount that the payer reported with this transaction, or announced. */
  readonly matchesOf: (transfer: IncomingTransfer) => Effect.Effect<ReadonlyArray<Match>>
  /** Payments that the transfer may be meant for, most likely first, at most 10. */
  readonly likelyPayments: (transfer: IncomingTransfer) => Effect.Effect<ReadonlyArray<LikelyPayment>>
  /** Ends the matching with a kind, or matches again at `matchAt`. */
  readonly recordMatch: (
    id: string,
    outcome: { readonly kind: TransferKind } | { readonly matchAt: Date }
  ) => Effect.Effect<void>
  readonly findTransfer: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<IncomingTransfer>>
  /** Newest first. `open`: neither claimed nor handled, and still on the chain. */
  readonly listTransfers: (
    tenant: Tenant,
    page: {
      readonly status: "open" | "handled" | "all"
      readonly limit: number
      readonly startingAfter: string | undefined
    }
  ) => Effect.Effect<ReadonlyArray<IncomingTransfer>>
  /** Records who resolved an open transfer. False if it is not open. */
  readonly handleTransfer: (
    tenant: Tenant,
    id: string,
    by: { readonly person: string; readonly note: string | null; readonly at: Date }
  ) => Effect.Effect<boolean>
  /**
   * Leases an open transfer for a payment, in a member's name, for `attachLeaseMillis`. False if it is no longer open,
   * or the payment is reserved. During the lease, no authorization is sent for the payment.
   */
  readonly leaseForPayment: (
    tenant: Tenant,
    id: string,
    paymentId: PaymentId,
    by: { readonly person: string; readonly note: string | null; readonly at: Date }
  ) => Effect.Effect<boolean>
  /**
   * Ends the lease of `leasedAt`, because the transfer did not settle its payment. If somebody else has leased the
   * transfer since, it stays theirs.
   */
  readonly releaseLease: (id: string, paymentId: PaymentId, leasedAt: Date) => Effect.Effect<void>
  /** Merchants with open transfers that were stored before `storedBefore` and raised no alert yet. */
  readonly tenantsToAlert: (
    storedBefore: Date
  ) => Effect.Effect<ReadonlyArray<Tenant & { readonly count: number }>>
  readonly recordAlerted: (tenant: Tenant, storedBefore: Date, at: Date) => Effect.Effect<void>
}

/** The position up to which the chain is read, and the transfers read. */
export type ChainReadingStore = Pick<
  TransferStore,
  | "cursor"
  | "closeCursor"
  | "startCursor"
  | "leaseCursor"
  | "releaseCursor"
  | "receivers"
  | "receiversAmong"
  | "recordRange"
  | "rewindCursor"
>

/** The payments that a transfer pays or may be meant for. */
export type MatchingStore = Pick<
  TransferStore,
  "awaitsSettlement" | "isReserved" | "paymentsOfNonces" | "paymentOfNonce" | "matchesOf" | "likelyPayments"
>
