// Claims of settled payments whose transfer the chain no longer shows: they follow to the transfer by which the same
// money has arrived.
import type { Effect, Option } from "effect"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type { ClaimedTransfer } from "../PaymentRepo/PaymentStore.ts"
import type { TransferAlreadyUsed } from "../TransferAlreadyUsed.ts"
import type { IncomingTransfer } from "../TransferRepo/TransferStore.ts"

/** A settled payment whose claim names a transfer that the chain no longer shows, or may not. */
export interface DroppedClaim {
  readonly payment: Payment
  readonly transactionId: TransactionHash
  /** False where nobody has looked since its wallet's nonce came in another transaction. */
  readonly isNoted: boolean
  /** With which its payer announced to pay. */
  readonly nonces: ReadonlyArray<bigint>
}

export interface ClaimReplacement {
  readonly paymentId: PaymentId
  readonly env: Env
  readonly payer: Address
  readonly at: Date
  readonly transfer: ClaimedTransfer
}

/** The transfer that pays a settled payment. */
export interface PaymentClaim {
  readonly transactionId: TransactionHash
  /** Since when the chain no longer shows it. */
  readonly droppedAt: Date | null
}

export interface ClaimStore {
  readonly claimOf: (paymentId: PaymentId) => Effect.Effect<Option.Option<PaymentClaim>>
  /**
   * Payments of the transfer's payer, receiver and amount whose own transfer the chain no longer shows; with a nonce,
   * or any, also those that were announced with it lately, and have settled by another transaction.
   */
  readonly droppedClaims: (
    transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount" | "transactionId">,
    nonce?: bigint | "any"
  ) => Effect.Effect<ReadonlyArray<DroppedClaim>>
  /**
   * Moves the claim of a settled payment from the transfer that the chain no longer shows to another of its payer,
   * receiver and amount. The payment stays as it is, and nobody is told. The former transfer is nobody's: where it
   * returns it is matched anew. False where the claim's transfer stands or has been read again, or the other is not free.
   */
  readonly replaceClaim: (replacement: ClaimReplacement) => Effect.Effect<boolean, TransferAlreadyUsed>
}
