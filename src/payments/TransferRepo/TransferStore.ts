// Incoming transfers at rest: every USDC transfer that reaches a receiver, how far the chain has
// been read, and what a person says of a transfer that no payment claims.

import type { Effect, Option } from "effect"
import type { Hex } from "viem"
import type { ChainTransfer } from "../../chain/Verification.ts"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { LikelyReason, TransferKind } from "../../domain/IncomingTransfer.ts"
import type { MerchantId, Tenant } from "../../domain/Merchant.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type { MatchAttempt } from "../AttemptRepo/AttemptStore.ts"

/** The delay before checking a transfer that reappears after it was given up as lost: lagging nodes still miss it. */
export const returnedMillis = 60_000

/** Up to which block a chain has been read. */
export interface ChainCursor {
  readonly blockNumber: bigint
  readonly blockHash: TransactionHash
  readonly blockTime: Date
}

/** The right to read a chain on, until it ends or is renewed. */
export interface CursorLease {
  readonly id: string
  readonly at: Date
  readonly until: Date
}

/** A lease that ends later than this was taken while the clock was ahead, and holds nobody off. */
export const furthestEnd = ({ at, until }: Pick<CursorLease, "at" | "until">): Date =>
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
  /** It has settled by a transfer that the chain no longer shows. */
  readonly dropped: boolean
}

/** A payment that a transfer may settle without anybody's word. */
export interface Match {
  readonly payment: Payment
  /** The report that names the transaction was made then; null for an announced attempt. */
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
  /** Sets the first cursor of a chain; the one that is there stays. */
  readonly startCursor: (env: Env, cursor: ChainCursor) => Effect.Effect<void>
  /** Takes or renews the lease of a chain's cursor; none while another holds it, until its end or `furthestEnd`. */
  readonly leaseCursor: (env: Env, lease: CursorLease) => Effect.Effect<Option.Option<ChainCursor>>
  /** Gives the lease back, so that another instance reads on at once. */
  readonly releaseCursor: (env: Env, leaseId: string) => Effect.Effect<void>
  /** Addresses that receive money, at most `limit`. */
  readonly receivers: (env: Env, limit: number) => Effect.Effect<ReadonlyArray<Address>>
  /** Which of these addresses receive money, whose they are, and since when. */
  readonly receiversAmong: (
    env: Env,
    addresses: ReadonlyArray<Address>
  ) => Effect.Effect<ReadonlyMap<Address, { readonly merchantId: MerchantId; readonly since: Date }>>
  /**
   * Stores what a range of blocks brought and moves the cursor, together. Transfers that were stored
   * for these blocks and are not among them count as dropped; what had been given up as lost and is among them is
   * watched again. False where the lease or the cursor has passed to somebody else.
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
   * Takes transfers that are still to be matched; each is out of other instances' sight until `leaseUntil`.
   * What a person took for a payment and has not settled while the lease of it ran is given back.
   */
  readonly takeUnmatched: (
    env: Env,
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<IncomingTransfer>>
  /**
   * True while an authorization of the payer with the same terms is being settled: until it ends, the transfer may be
   * its own.
   */
  readonly awaitsSettlement: (
    transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount">
  ) => Effect.Effect<boolean>
  /** True while any authorization is being settled for the payment: another transfer would pay it twice. */
  readonly isReserved: (paymentId: PaymentId) => Effect.Effect<boolean>
  /** Payments of the transfer's terms, settled ones as well, for which an authorization with one of these nonces was asked, reserved by its agent, or settled. */
  readonly askedBy: (
    transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount">,
    nonces: ReadonlyArray<Hex>
  ) => Effect.Effect<ReadonlyArray<Payment>>
  /** The payment that an authorization of the payer's was asked for, or by which it is being settled. */
  readonly signedFor: (env: Env, payer: Address, nonce: Hex) => Effect.Effect<Option.Option<PaymentId>>
  /** Payments that are not settled, of the exact amount, that the payer reported with this transaction or announced. */
  readonly matchesOf: (transfer: IncomingTransfer) => Effect.Effect<ReadonlyArray<Match>>
  /** Payments that the transfer may be meant for, the likeliest first, at most 10. */
  readonly likelyPayments: (transfer: IncomingTransfer) => Effect.Effect<ReadonlyArray<LikelyPayment>>
  /** Ends the matching with a kind, or matches again at `matchAt`. */
  readonly noteMatch: (
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
  /** Notes who explained an open transfer; false where it is not open. */
  readonly handleTransfer: (
    tenant: Tenant,
    id: string,
    by: { readonly person: string; readonly note: string | null; readonly at: Date }
  ) => Effect.Effect<boolean>
  /**
   * Leases an open transfer for a payment, in a member's name, for `attachLeaseMillis`; false where it is
   * not open (any more), or the payment is reserved. While it holds, no authorization is sent for the payment.
   */
  readonly takeForPayment: (
    tenant: Tenant,
    id: string,
    paymentId: PaymentId,
    by: { readonly person: string; readonly note: string | null; readonly at: Date }
  ) => Effect.Effect<boolean>
  /**
   * Gives back a transfer that did not settle the payment that it was taken for at `takenAt`. What somebody else has
   * taken since stays theirs.
   */
  readonly giveBack: (id: string, paymentId: PaymentId, takenAt: Date) => Effect.Effect<void>
  /** Merchants with open transfers that were stored before `storedBefore` and raised no alert yet. */
  readonly unalerted: (
    storedBefore: Date
  ) => Effect.Effect<ReadonlyArray<Tenant & { readonly count: number }>>
  readonly noteAlerted: (tenant: Tenant, storedBefore: Date, at: Date) => Effect.Effect<void>
}

/** The position up to which the chain is read, and the transfers read. */
export type ChainReadingStore = Pick<
  TransferStore,
  | "cursor"
  | "startCursor"
  | "leaseCursor"
  | "releaseCursor"
  | "receivers"
  | "receiversAmong"
  | "recordRange"
  | "rewindCursor"
>

/** Which payments a transfer pays or may be meant for. */
export type MatchingStore = Pick<
  TransferStore,
  "awaitsSettlement" | "isReserved" | "askedBy" | "signedFor" | "matchesOf" | "likelyPayments"
>
