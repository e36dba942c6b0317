// Claims that follow their money to another transfer, in this process: the same rules as on Postgres.
import { Effect, Option } from "effect"
import { networks } from "../../domain/networks.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type { MemoryAttempts } from "./attemptsMemory.ts"
import type { ClaimStore, DroppedClaim } from "./ClaimStore.ts"
import type { Claimed } from "./reconcilerMemory.ts"
import { TransferAlreadyUsed } from "./TransferAlreadyUsed.ts"
import type { MemoryTransfers } from "./transfersMemory.ts"

export const makeClaimsMemory = (known: {
  readonly payments: Map<PaymentId, Payment>
  readonly claims: Map<string, Claimed>
  readonly claimKey: (transfer: Claimed["transfer"]) => string
  readonly announcedBy: MemoryAttempts["announcedBy"]
  readonly transfers: MemoryTransfers
}): ClaimStore => {
  const { claimKey, claims, payments, transfers } = known
  return {
    claimOf: (paymentId) =>
      Effect.sync(() =>
        Option.map(
          Option.fromUndefinedOr([...claims.values()].find((one) => one.paymentId === paymentId)),
          ({ droppedAt, transfer: { transactionId } }) => ({ transactionId, droppedAt })
        )
      ),

    droppedClaims: ({ amount, env, payer, receiver, transactionId }, nonce) =>
      Effect.sync(() =>
        [...claims.values()].flatMap(({ droppedAt, paymentId, transfer }): ReadonlyArray<DroppedClaim> => {
          const payment = paymentId === null ? undefined : payments.get(paymentId)
          const isLike =
            transfer.chainId === networks[env].chainId &&
            transfer.payer === payer &&
            transfer.receiver === receiver &&
            transfer.amount === amount &&
            transfer.transactionId !== transactionId
          if (payment === undefined || !isLike || payment.reported?.evidence.payer !== payer) return []
          const nonces = known
            .announcedBy(payer)
            .flatMap((one) => (one.paymentId === payment.id && one.nonce !== null ? [one.nonce] : []))
          const isNoted = droppedAt !== null
          const isAnnounced =
            nonce === "any" ? nonces.length > 0 : nonce !== undefined && nonces.includes(nonce)
          if (!isNoted && !isAnnounced) return []
          return [{ payment, transactionId: transfer.transactionId, isNoted, nonces }]
        })
      ),

    replaceClaim: Effect.fnUntraced(function* ({ at, paymentId, payer, transfer: to }) {
      const payment = payments.get(paymentId)
      const [found] = [...claims].filter(([, one]) => one.paymentId === paymentId)
      if (payment === undefined || found === undefined) return false
      const [key, claim] = found
      if (
        claim.droppedAt === null ||
        claim.transfer.transactionId === to.transactionId ||
        transfers.isShown(payment.env, claim.transfer) ||
        payment.reported?.evidence.payer !== payer
      )
        return false
      const transfer = { ...to, payer, receiver: payment.receiver, amount: payment.amount }
      const others = [...claims.values()].filter(
        (one) =>
          one.transfer.chainId === to.chainId &&
          one.transfer.transactionId === to.transactionId &&
          one.transfer.blockHash !== to.blockHash
      )
      if (others.length > 0 || transfers.isHandled(payment.env, transfer, paymentId, at)) return false
      if (claims.has(claimKey(transfer))) return yield* new TransferAlreadyUsed()
      claims.delete(key)
      claims.set(claimKey(transfer), { ...claim, transfer, droppedAt: null, watchAt: at })
      transfers.unexplain(payment.env, claim.transfer)
      transfers.explain(payment.env, transfer, paymentId)
      return true
    })
  }
}
