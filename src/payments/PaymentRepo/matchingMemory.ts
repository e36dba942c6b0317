// Which payments a transfer pays or may be meant for, in this process: the same rules as on Postgres.
import { Effect, Option } from "effect"
import type { ChainTransfer } from "../../chain/Verification.ts"
import type { Address } from "../../domain/Chain.ts"
import { LikelyReason } from "../../domain/IncomingTransfer.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type { LikelyPayment, Match, MatchingStore } from "../TransferStore.ts"
import type { MemoryAttempts } from "./attemptsMemory.ts"

/** By the likeliest of its reasons. */
const weightOf = ({ reasons }: LikelyPayment) =>
  LikelyReason.literals.findIndex((reason) => reasons.includes(reason))

export const makeMatchingMemory = (known: {
  readonly payments: () => Iterable<Payment>
  readonly payment: (id: PaymentId) => Payment | undefined
  readonly reportsOf: (
    transfer: ChainTransfer
  ) => ReadonlyArray<{ readonly paymentId: PaymentId; readonly payer: Address; readonly at: Date }>
  readonly announcedBy: MemoryAttempts["announcedBy"]
  readonly addressShown: MemoryAttempts["addressShown"]
  /** Whether the chain no longer shows the transfer that has settled the payment. */
  readonly isDropped: (id: PaymentId) => boolean
}): MatchingStore => ({
  // No authorizations are settled on memory.
  awaitsSettlement: () => Effect.succeed(false),
  isReserved: () => Effect.succeed(false),
  askedBy: () => Effect.succeed([]),
  signedFor: () => Effect.succeed(Option.none()),
  matchesOf: (transfer) =>
    Effect.sync(() => {
      const reports = known.reportsOf(transfer).filter(({ payer }) => payer === transfer.payer)
      const announced = known.announcedBy(transfer.payer)
      const ids = new Set([...reports, ...announced].map(({ paymentId }) => paymentId))
      return [...ids].flatMap((id): ReadonlyArray<Match> => {
        const payment = known.payment(id)
        const meant =
          payment !== undefined &&
          payment.env === transfer.env &&
          payment.status !== "settled" &&
          payment.receiver === transfer.receiver &&
          payment.amount === transfer.amount
        return meant
          ? [
              {
                payment,
                reportedAt: reports.find(({ paymentId }) => paymentId === id)?.at ?? null,
                attempts: announced.filter(({ paymentId }) => paymentId === id)
              }
            ]
          : []
      })
    }),
  likelyPayments: (transfer) =>
    Effect.sync(() => {
      const announced = new Set(known.announcedBy(transfer.payer).map(({ paymentId }) => paymentId))
      const reported = new Set(known.reportsOf(transfer).map(({ paymentId }) => paymentId))
      const likely = [...known.payments()].flatMap((payment): ReadonlyArray<LikelyPayment> => {
        if (payment.merchantId !== transfer.merchantId || payment.env !== transfer.env) return []
        const reasons: ReadonlyArray<LikelyReason> = [
          ...(announced.has(payment.id) ? (["announced"] as const) : []),
          ...(reported.has(payment.id) ? (["reported"] as const) : []),
          ...(payment.status !== "settled" &&
          payment.amount === transfer.amount &&
          payment.receiver === transfer.receiver &&
          known.addressShown(payment.id) !== undefined
            ? (["address"] as const)
            : []),
          ...(payment.reported?.evidence.payer === transfer.payer && payment.receiver === transfer.receiver
            ? (["paid_before"] as const)
            : []),
          ...(payment.status !== "settled" && payment.amount === transfer.amount ? (["amount"] as const) : [])
        ]
        return reasons.length === 0 ? [] : [{ payment, reasons, dropped: known.isDropped(payment.id) }]
      })
      return likely
        .toSorted(
          (left, right) =>
            Number(right.payment.amount === transfer.amount) -
              Number(left.payment.amount === transfer.amount) ||
            weightOf(left) - weightOf(right) ||
            right.payment.createdAt.getTime() - left.payment.createdAt.getTime() ||
            (left.payment.id < right.payment.id ? -1 : 1)
        )
        .slice(0, 10)
    })
})
