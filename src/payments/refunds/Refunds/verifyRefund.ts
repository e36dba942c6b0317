// Verifies a refund on the chain like a payment, with the merchant's address as the payer.
import { Effect } from "effect"
import type { ChainVerifier } from "../../../chain/ChainVerifier.ts"
import { Verification } from "../../../chain/Verification.ts"
import type { Address, TransactionHash } from "../../../domain/Chain.ts"
import { networks } from "../../../domain/networks.ts"
import type { MismatchReason } from "../../../domain/VerdictReason.ts"
import type { PaymentRepo } from "../../PaymentRepo.ts"
import type { Refund } from "../RefundRepo/RefundStore.ts"
import type { RefundRepo } from "../RefundRepo.ts"

export type ClaimedRefund = Pick<
  Refund,
  "merchantId" | "env" | "recipient" | "amount" | "sinceBlock" | "createdAt"
>

/** A reorganisation may move the refunded transfer by this many blocks. */
const movedBlocks = 30n
/** The number of addresses checked. A merchant has few; older ones are skipped. */
const checkedSenders = 10
/** Ranks mismatches: the closest to the intended transfer comes first. */
const weight = (reason: MismatchReason) =>
  ["already_used", "too_old", "amount", "payer", "receiver"].indexOf(reason) + 1 || 9

export const makeVerifyRefund = (
  chain: ChainVerifier["Service"],
  repo: PaymentRepo["Service"],
  refundRepo: RefundRepo["Service"]
) => {
  const from = Effect.fnUntraced(function* (
    refund: ClaimedRefund,
    transactionId: TransactionHash,
    sender: Address
  ) {
    const { chainId, usdc } = networks[refund.env]
    const { amount, env, recipient } = refund
    const tokenChanges = [
      { amountAtomic: amount.toString(), chainId, receiver: recipient, tokenAddress: usdc.address }
    ]
    const unavailableTransfers = yield* repo.unavailableTransfers({
      chainId,
      evidence: { transactionId, payer: sender, tokenChanges },
      receiver: recipient,
      amount
    })
    return yield* chain.verify({
      env,
      transactionId,
      payer: sender,
      receiver: recipient,
      amount,
      notBefore: refund.createdAt,
      sinceBlock: refund.sinceBlock - movedBlocks,
      tokenChanges,
      // A transfer that its recipient has handled may still prove a refund; a claimed one proves nothing else.
      excludeOrdinals: unavailableTransfers.flatMap(({ blockHash, ordinal }) =>
        blockHash === null ? [] : [ordinal]
      )
    })
  })

  /** Tries the merchant's addresses as senders until one matches; otherwise returns the closest mismatch. */
  return Effect.fn("Refunds.verify")(function* (refund: ClaimedRefund, transactionId: TransactionHash) {
    const own = [...(yield* refundRepo.sendersOf(refund, transactionId))].slice(0, checkedSenders)
    let nearest: Extract<Verification, { _tag: "Mismatch" }> | undefined
    for (const sender of own) {
      const verification = yield* from(refund, transactionId, sender)
      if (verification._tag !== "Mismatch") return verification
      if (nearest === undefined || weight(verification.reason) < weight(nearest.reason))
        nearest = verification
    }
    return nearest ?? Verification.Mismatch({ reason: "payer", confirmed: true })
  })
}
