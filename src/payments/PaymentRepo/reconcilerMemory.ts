// What the reconciler and the watch of settled transfers take and note, in this process: the same rules as on Postgres.

import { Effect } from "effect"
import type { Address } from "../../domain/Chain.ts"
import type { AtomicUsdc } from "../../domain/Money.ts"
import type { Evidence, FailureReason, PayerType, Payment, PaymentId } from "../../domain/Payment.ts"
import type { Networks } from "../../platform/Networks.ts"
import type { DueReport, PaymentSettlement, ReconcilerStore, WatchedTransfer } from "../PaymentRepo.ts"
import type { MemoryAttempts } from "./attemptsMemory.ts"
import type { MemoryTransfers } from "./transfersMemory.ts"

export interface KeptReport {
  readonly paymentId: PaymentId
  readonly evidence: Evidence
  readonly payerType: PayerType
  readonly reportedAt: Date
  readonly checks: number
  readonly nextCheckAt: Date | null
}

export interface Claimed {
  readonly transfer: PaymentSettlement["transfer"] & {
    readonly payer: Address
    readonly receiver: Address
    readonly amount: AtomicUsdc
  }
  /** Null where it proves a refund. */
  readonly paymentId: PaymentId | null
  readonly refundId: string | null
  readonly watchAt: Date | null
  readonly droppedAt: Date | null
}

const isDue = (at: Date | null, now: Date) => at !== null && at <= now

export const makeReconcilerMemory = (known: {
  readonly payments: Map<PaymentId, Payment>
  /** By payment and evidence. */
  readonly reports: Map<string, KeptReport>
  readonly claims: Map<string, Claimed>
  readonly reportKey: (id: PaymentId, evidence: Evidence) => string
  readonly reportsOf: (id: PaymentId) => ReadonlyArray<readonly [string, KeptReport]>
  readonly firstBlock: MemoryAttempts["firstBlock"]
  readonly isUndecided: (payment: Payment) => boolean
  /** Open transfers like this one are matched again. */
  readonly matchAgain: MemoryTransfers["matchAgain"]
  readonly executes: Networks["executes"]
}): ReconcilerStore => {
  const { claims, payments, reportKey, reports, reportsOf } = known
  return {
    noteCheck: (paymentId, evidence, _verdict, { heldUntil, nextCheckAt }) =>
      Effect.sync(() => {
        const key = reportKey(paymentId, evidence)
        const kept = reports.get(key)
        if (
          kept?.evidence.transactionId === evidence.transactionId &&
          kept.nextCheckAt?.getTime() === heldUntil.getTime()
        ) {
          reports.set(key, { ...kept, checks: kept.checks + 1, nextCheckAt })
        }
      }),
    noteVerdict: () => Effect.void,
    takeDueReports: (at, leaseUntil, limit) =>
      Effect.sync(() => {
        const turns = new Map<string, number>()
        // Merchants take turns; of a merchant's, those come first that have been checked least.
        const due = [...reports]
          .filter(([, kept]) => isDue(kept.nextCheckAt, at))
          .toSorted(([, left], [, right]) => left.checks - right.checks)
          .map(([key, kept]) => {
            const merchant = payments.get(kept.paymentId)?.merchantId ?? ""
            const turn = turns.get(merchant) ?? 0
            turns.set(merchant, turn + 1)
            return { key, kept, turn }
          })
          .toSorted((left, right) => left.turn - right.turn)
          .slice(0, limit)
        return due.flatMap(({ key, kept }): ReadonlyArray<DueReport> => {
          reports.set(key, { ...kept, nextCheckAt: leaseUntil })
          const payment = payments.get(kept.paymentId)
          return payment === undefined || payment.status === "settled"
            ? []
            : [
                {
                  ...kept,
                  payment,
                  attemptBlock: known.firstBlock(payment.id, kept.evidence.payer),
                  heldUntil: leaseUntil
                }
              ]
        })
      }),
    expire: ({ openedBefore, reportedBefore, limit = 500 }) =>
      Effect.sync(() => {
        const failed: Array<{ id: PaymentId; reason: FailureReason }> = []
        for (const payment of payments.values()) {
          if (failed.length === limit) break
          if (payment.status !== "pending" || payment.createdAt >= openedBefore[payment.env]) continue
          const kept = reportsOf(payment.id).map(([, one]) => one)
          if (kept.length > 0 && !known.executes(payment.env)) continue
          if (known.isUndecided(payment)) continue
          if (kept.some((one) => one.reportedAt >= reportedBefore || one.nextCheckAt !== null)) continue
          const reason = kept.length === 0 ? "expired" : "unverified"
          payments.set(payment.id, { ...payment, status: "failed", failureReason: reason })
          failed.push({ id: payment.id, reason })
        }
        return failed
      }),
    pruneReports: (reportedBefore, limit) =>
      Effect.sync(() => {
        const ended = [...reports]
          .filter(([, one]) => one.nextCheckAt === null && one.reportedAt < reportedBefore)
          .filter(([, one]) => {
            const payment = payments.get(one.paymentId)
            return payment !== undefined && known.executes(payment.env) && payment.status !== "pending"
          })
          .slice(0, limit)
        for (const [key] of ended) reports.delete(key)
        return ended.length
      }),
    takeWatched: (at, leaseUntil, limit) =>
      Effect.sync(() => {
        const due = [...claims].filter(([, one]) => isDue(one.watchAt, at)).slice(0, limit)
        return due.flatMap(([key, one]): ReadonlyArray<WatchedTransfer> => {
          claims.set(key, { ...one, watchAt: leaseUntil })
          const payment = one.paymentId === null ? undefined : payments.get(one.paymentId)
          if (payment === undefined) return []
          const { merchantId, env, id } = payment
          return [
            {
              ...one.transfer,
              merchantId,
              env,
              paymentId: id,
              transfer: one.transfer,
              droppedAt: one.droppedAt,
              isReplacement: one.transfer.transactionId !== payment.reported?.evidence.transactionId,
              heldUntil: leaseUntil
            }
          ]
        })
      }),
    noteWatched: ({ heldUntil, paymentId }, { moved, droppedAt, watchAt }) =>
      Effect.sync(() => {
        const held = [...claims].filter(
          ([, one]) => one.paymentId === paymentId && one.watchAt?.getTime() === heldUntil.getTime()
        )
        for (const [key, one] of held) {
          claims.set(key, { ...one, transfer: { ...one.transfer, ...moved }, droppedAt, watchAt })
          const env = payments.get(paymentId)?.env
          if (droppedAt !== null && env !== undefined) known.matchAgain(env, one.transfer, droppedAt)
        }
        return held.length > 0
      })
  }
}
