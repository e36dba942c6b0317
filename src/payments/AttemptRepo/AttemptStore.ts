// Storage of payment attempts: a wallet announces that it is about to pay. A unique index allows one open attempt per
// wallet and payment, so two devices never both prompt their wallets.

import type { Effect, Option } from "effect"
import type { Address, TransactionHash } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import type { AttemptMethod, Payment, PaymentId } from "../../domain/Payment.ts"

/** An attempt without a transaction stops blocking its wallet after this time. */
export const attemptBlockingMillis = 30 * 60_000

/**
 * For this long after its announcement, an attempt helps to match transfers, however it ended: a wallet may send what
 * it declined before, and a transfer may be mined long after it was sent. Measured in the chain's time, whenever the
 * transfer is read.
 */
export const attemptMatchingMillis = 24 * 3_600_000

/** A reorganisation may put a transfer this many blocks below the height at which it was announced. */
export const blockTolerance = 30

/** The reason why an attempt no longer blocks another attempt of its wallet. */
export type AttemptEnd = "declined" | "nonce_used" | "expired"

export interface PaymentAttempt {
  readonly id: string
  readonly payer: Address
  readonly method: AttemptMethod
  /** Height of the chain at the announcement. */
  readonly blockNumber: bigint
  /** The account nonce of its transaction, if known. */
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
  /** The attempt's transaction: read from the chain, reported by the payer, or submitted for an authorization. */
  readonly transactionId: TransactionHash | null
}

export interface NewPaymentAttempt extends Tenant {
  readonly paymentId: PaymentId
  readonly attempt: PaymentAttempt
  /** The wallet's next nonce by mined transactions, if known. */
  readonly minedNonce: bigint | null
}

export interface KnownAttempts {
  readonly payment: Payment
  /** The payer's own attempts first, then the newest. */
  readonly attempts: ReadonlyArray<OpenAttempt>
  /**
   * The transaction that pays a pending payment according to the chain, while its block is not certain enough to
   * settle. An unproven report never counts.
   */
  readonly confirming: TransactionHash | null
}

export interface AttemptStore {
  /**
   * Announces an attempt on a pending payment and returns it. Its nonce is that of an earlier attempt of the wallet
   * that may still be sent, and never a mined one. The same id returns the same attempt. None if:
   * - the payment is not pending;
   * - another attempt, authorization or unannounced report of the wallet is open;
   * - a transfer of the wallet that could pay the payment is still to be matched.
   */
  readonly announce: (announcement: NewPaymentAttempt) => Effect.Effect<Option.Option<PaymentAttempt>>
  /** The payment with its open attempts, at most 20. With `only`, only the attempts of `payer`. */
  readonly attempts: (
    tenant: Tenant,
    paymentId: PaymentId,
    by?: { readonly payer: Address; readonly only: boolean }
  ) => Effect.Effect<Option.Option<KnownAttempts>>
  /** The open attempt of a wallet. */
  readonly openAttempt: (paymentId: PaymentId, payer: Address) => Effect.Effect<Option.Option<PaymentAttempt>>
  /**
   * A transfer of the payer that could pay the payment and that no payment claims. It arrived after the payment opened
   * (by the chain's height or our clock), or above the block of the payer's open attempt.
   */
  readonly unclaimedTransfer: (
    payment: Payment,
    payer: Address
  ) => Effect.Effect<Option.Option<TransactionHash>>
  /**
   * True if the payer's transfer may belong to another payment of the same amount and receiver: a pending payment
   * with an open attempt, or with an undecided report of this transaction or from the last half hour.
   */
  readonly mayPayAnotherPayment: (
    payment: Payment,
    payer: Address,
    transactionId: TransactionHash,
    at: Date
  ) => Effect.Effect<boolean>
  /**
   * True if the wallet reported a transaction for the payment within the last half hour and the chain has not
   * decided.
   */
  readonly hasUndecidedReport: (paymentId: PaymentId, payer: Address, at: Date) => Effect.Effect<boolean>
  /** Notes that the buyer has seen the address and may send from anywhere. False if the payment has ended. */
  readonly recordAddressShown: (paymentId: PaymentId, at: Date) => Effect.Effect<boolean>
  /** Closes an open attempt. */
  readonly closeAttempt: (
    paymentId: PaymentId,
    attemptId: string,
    reason: AttemptEnd,
    at: Date
  ) => Effect.Effect<void>
}
