// A payment and the rules of its states: pending until the chain proves it, settled permanently, or failed
// (docs/contract.md 2.1 and 3).
import { Schema } from "effect"
import { Address, Env, TransactionHash } from "./Chain.ts"
import { MerchantId, Uuid } from "./Merchant.ts"
import { AtomicUsdc } from "./Money.ts"
import { isSameTokenChanges, TokenChange } from "./TokenChange.ts"

export const PaymentId = Uuid.pipe(Schema.brand("PaymentId"))
export type PaymentId = typeof PaymentId.Type

export const PaymentStatus = Schema.Literals(["pending", "settled", "failed"])
export type PaymentStatus = typeof PaymentStatus.Type

/** `expired`: never reported in time. `unverified`: reported, but the evidence never verified. */
export const FailureReason = Schema.Literals(["expired", "unverified"])
export type FailureReason = typeof FailureReason.Type

export const PayerType = Schema.Literals(["human", "agent"])
export type PayerType = typeof PayerType.Type

/** `transfer`: the wallet's own transaction. `authorization`: a relayed signature (EIP-3009). */
export const AttemptMethod = Schema.Literals(["transfer", "authorization"])
export type AttemptMethod = typeof AttemptMethod.Type

/** The evidence of a settlement. A new identity token of the same buyer is the same evidence. */
export const Evidence = Schema.Struct({
  transactionId: TransactionHash,
  payer: Address,
  tokenChanges: Schema.Array(TokenChange)
})
export type Evidence = typeof Evidence.Type

export const Payment = Schema.Struct({
  id: PaymentId,
  merchantId: MerchantId,
  env: Env,
  status: PaymentStatus,
  amount: AtomicUsdc,
  refCode: Schema.String,
  intentUrl: Schema.String,
  /** Frozen when the intent was created; a later change of the merchant's address does not move it. */
  receiver: Address,
  payerType: PayerType,
  createdAt: Schema.Date,
  /** The chain's height when the payment opened, if the process knew it. */
  openedBlock: Schema.NullOr(Schema.BigInt),
  /** The evidence that settled it. */
  reported: Schema.NullOr(Schema.Struct({ at: Schema.Date, evidence: Evidence })),
  settledAt: Schema.NullOr(Schema.Date),
  failureReason: Schema.NullOr(FailureReason)
})
export type Payment = typeof Payment.Type

/** The fields the API returns for a payment (docs/contract.md 2.1). */
export type PaymentSummary = Omit<Payment, "merchantId" | "receiver" | "reported" | "openedBlock"> & {
  readonly reported: { readonly at: Date; readonly evidence: Omit<Evidence, "tokenChanges"> } | null
}

export const isSameEvidence = (left: Evidence, right: Evidence): boolean =>
  left.transactionId === right.transactionId &&
  left.payer === right.payer &&
  isSameTokenChanges(left.tokenChanges, right.tokenChanges)

/** The meaning of a report for a payment, before the chain is queried. */
export type ReportCase = "verify" | "replay" | "record" | "conflict"

/**
 * docs/contract.md 3: a settled payment accepts identical evidence again and refuses any other. On an open or closing
 * network, reports are verified, even for failed payments, because a transfer that is proven late still pays. On a
 * closed network every report is recorded and the payment stays pending.
 */
export const judgeReport = (
  payment: Payment,
  evidence: Evidence,
  executes: (env: Env) => boolean
): ReportCase => {
  if (payment.status === "settled" && payment.reported !== null) {
    return isSameEvidence(payment.reported.evidence, evidence) ? "replay" : "conflict"
  }
  return executes(payment.env) ? "verify" : "record"
}
