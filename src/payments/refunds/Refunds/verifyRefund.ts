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

/** By so many blocks a reorganisation may move what is refunded. */
const movedBlocks = 30n
/** A merchant has few addresses; older ones are not asked about. */
const askedSenders = 10
/** The less that a difference says of the transfer that was meant, the later. */
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
    const taken = yield* repo.takenTransfers({
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
      // What its recipient has handled is the recipient's matter; what is claimed proves nothing more.
      excludeOrdinals: taken.flatMap(({ blockHash, ordinal }) => (blockHash === null ? [] : [ordinal]))
    })
  })

  /** By the first of the merchant's addresses that has sent it; otherwise what comes nearest. */
  return Effect.fn("Refunds.verify")(function* (refund: ClaimedRefund, transactionId: TransactionHash) {
    const own = [...(yield* refundRepo.sendersOf(refund, transactionId))].slice(0, askedSenders)
    let nearest: Extract<Verification, { _tag: "Mismatch" }> | undefined
    for (const sender of own) {
      const found = yield* from(refund, transactionId, sender)
      if (found._tag !== "Mismatch") return found
      if (nearest === undefined || weight(found.reason) < weight(nearest.reason)) nearest = found
    }
    return nearest ?? Verification.Mismatch({ reason: "payer", confirmed: true })
  })
}
