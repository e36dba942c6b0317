// Storage of claims. If the chain no longer shows the transfer of a settled payment, the claim moves to the transfer
// by which the same money arrived.
import type { Effect, Option } from "effect"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type { ClaimedTransfer } from "../PaymentRepo/PaymentStore.ts"
import type { TransferAlreadyUsed } from "../TransferAlreadyUsed.ts"
import type { IncomingTransfer } from "../TransferRepo/TransferStore.ts"

/** A settled payment whose claimed transfer the chain no longer shows, or may no longer show. */
export interface DroppedClaim {
  readonly payment: Payment
  readonly transactionId: TransactionHash
  /** False if the claim has not been checked since its wallet's nonce was used by another transaction. */
  readonly isRecorded: boolean
  /** The nonces that its payer announced. */
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
  /** The time since which the chain no longer shows it. */
  readonly droppedAt: Date | null
}

export interface ClaimStore {
  readonly claimOf: (paymentId: PaymentId) => Effect.Effect<Option.Option<PaymentClaim>>
  /**
   * Settled payments of the transfer's payer, receiver and amount whose own transfer the chain no longer shows. With a
   * nonce, or `any`, also payments that were recently announced with that nonce and settled by another transaction.
   */
  readonly droppedClaims: (
    transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount" | "transactionId">,
    nonce?: bigint | "any"
  ) => Effect.Effect<ReadonlyArray<DroppedClaim>>
  /**
   * Moves the claim of a settled payment from a transfer that the chain no longer shows to another of the same payer,
   * receiver and amount. The payment does not change, and nobody is notified. If the former transfer returns, it is
   * matched again. False if the former transfer is on the chain or was read again, or if the other is not free.
   */
  readonly replaceClaim: (replacement: ClaimReplacement) => Effect.Effect<boolean, TransferAlreadyUsed>
}
