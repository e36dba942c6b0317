// Attempts at rest: a wallet announces that it is about to pay. One open attempt of a wallet for
// a payment, guarded by a unique index, so that two devices cannot both be told to go on.

import type { Effect, Option } from "effect"
import type { Address, TransactionHash } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import type { AttemptMethod, Payment, PaymentId } from "../../domain/Payment.ts"

/** After so long without a transaction an attempt keeps its wallet from nothing. */
export const attemptLifeMillis = 30 * 60_000

/**
 * For so long after it an attempt says what a transfer is for, however it has ended: a wallet may send what
 * it has declined, and a transfer may be mined long after it was sent. By the chain's time, whenever it is read.
 */
export const attemptCountsMillis = 24 * 3_600_000

/** Blocks by which a reorganisation may put a transfer below the height at which it was announced. */
export const blockTolerance = 30

/** The reason why an attempt no longer blocks another attempt of its wallet. */
export type AttemptEnd = "declined" | "nonce_used" | "expired"

export interface PaymentAttempt {
  readonly id: string
  readonly payer: Address
  readonly method: AttemptMethod
  /** Height of the chain when it was announced. */
  readonly blockNumber: bigint
  /** The account nonce that its transaction takes, where it is known. */
  readonly nonce: bigint | null
  readonly announcedAt: Date
}

/** The parts of an attempt that help to match a transfer of its wallet. */
export interface MatchAttempt extends Pick<PaymentAttempt, "blockNumber" | "nonce" | "announcedAt"> {
  /** Null while it is open. */
  readonly ended: AttemptEnd | null
}

/** The parts of an open attempt that other buyers see. */
export interface OpenAttempt {
  readonly payer: Address
  readonly method: AttemptMethod
  readonly since: Date
  /** A transaction that the payer has reported, or that a node has taken for it. */
  readonly transactionId: TransactionHash | null
}

export interface NewPaymentAttempt extends Tenant {
  readonly paymentId: PaymentId
  readonly attempt: PaymentAttempt
  /** The wallet's next nonce by mined transactions, where it is known. */
  readonly minedNonce: bigint | null
}

export interface KnownAttempts {
  readonly payment: Payment
  /** The payer's own first, then the newest. */
  readonly attempts: ReadonlyArray<OpenAttempt>
}

export interface AttemptStore {
  /**
   * Announces an attempt on a pending payment. The answered attempt is the announced one, with the
   * nonce of an earlier one of the same wallet that may still be sent, and never one that is mined
   * already; none where the payment is not pending, another attempt of the wallet is open, or money of
   * the wallet that would pay it is still to be matched. The same id again answers the same attempt.
   */
  readonly announce: (announcement: NewPaymentAttempt) => Effect.Effect<Option.Option<PaymentAttempt>>
  /** The payment with its open attempts; with `only`, those of `payer` alone. At most 20. */
  readonly attempts: (
    tenant: Tenant,
    paymentId: PaymentId,
    by?: { readonly payer: Address; readonly only: boolean }
  ) => Effect.Effect<Option.Option<KnownAttempts>>
  /** The open attempt of a wallet. */
  readonly openAttempt: (paymentId: PaymentId, payer: Address) => Effect.Effect<Option.Option<PaymentAttempt>>
  /**
   * A transfer of the payer's that would pay the payment and that no payment claims: since it opened, by the
   * chain's height or our clock, or above the block of the payer's open attempt.
   */
  readonly unclaimedTransfer: (
    payment: Payment,
    payer: Address
  ) => Effect.Effect<Option.Option<TransactionHash>>
  /**
   * True if the payer's transfer may belong to another payment of the same amount and receiver: a pending payment
   * with an open attempt, or with an undecided report of this transaction or from the last half hour.
   */
  readonly paysAnEqual: (
    payment: Payment,
    payer: Address,
    sent: TransactionHash,
    at: Date
  ) => Effect.Effect<boolean>
  /**
   * True if the wallet reported a transaction for the payment within the last half hour and the chain has not
   * decided.
   */
  readonly awaitsReported: (paymentId: PaymentId, payer: Address, at: Date) => Effect.Effect<boolean>
  /** The buyer has the address and may send from anywhere. False, and nothing is noted, where the payment has ended. */
  readonly noteAddressShown: (paymentId: PaymentId, at: Date) => Effect.Effect<boolean>
  /** Closes an open attempt. */
  readonly closeAttempt: (
    paymentId: PaymentId,
    attemptId: string,
    reason: AttemptEnd,
    at: Date
  ) => Effect.Effect<void>
}
