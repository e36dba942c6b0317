// Attempts in this process: the same rules as on Postgres.

import { DateTime, Effect, Option } from "effect"
import type { Address, TransactionHash } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import type { PayerType, Payment, PaymentId } from "../../domain/Payment.ts"
import {
  type AttemptEnd,
  type AttemptStore,
  attemptLifeMillis,
  type MatchAttempt,
  type OpenAttempt,
  type PaymentAttempt
} from "./AttemptStore.ts"
import type { MemoryTransfers } from "./transfersMemory.ts"

interface KeptAttempt extends PaymentAttempt {
  readonly paymentId: PaymentId
  readonly closed: AttemptEnd | null
}

/** A report that the chain has not decided. */
export interface UndecidedReport {
  readonly paymentId: PaymentId
  readonly payer: Address
  readonly payerType: PayerType
  readonly transactionId: TransactionHash
  readonly reportedAt: Date
}

export interface MemoryAttempts {
  readonly store: AttemptStore
  /** The height at which the payer first announced to pay the payment. */
  readonly firstBlock: (paymentId: PaymentId, payer: Address) => bigint | null
  /** When the buyer was last shown the address. */
  readonly addressShown: (paymentId: PaymentId) => Date | undefined
  /** Announcements of the payer, the newest first. */
  readonly announcedBy: (payer: Address) => ReadonlyArray<MatchAttempt & { readonly paymentId: PaymentId }>
}

const lowest = (all: ReadonlyArray<bigint>): bigint | null =>
  all.reduce<bigint | null>((least, one) => (least === null || one < least ? one : least), null)

export const makeAttemptsMemory = (known: {
  readonly payment: (tenant: Tenant, id: PaymentId) => Payment | undefined
  readonly paymentOf: (id: PaymentId) => Payment | undefined
  readonly reported: (id: PaymentId, payer: Address) => TransactionHash | undefined
  readonly undecided: () => ReadonlyArray<UndecidedReport>
  readonly unclaimed: MemoryTransfers["unclaimed"]
}): MemoryAttempts => {
  let all: ReadonlyArray<KeptAttempt> = []
  const shown = new Map<PaymentId, Date>()
  const of = (paymentId: PaymentId, payer?: Address) =>
    all.filter((one) => one.paymentId === paymentId && (payer === undefined || one.payer === payer))
  const isOpen = ({ closed }: KeptAttempt) => closed === null
  /** Reports of wallets that have announced nothing, the newest of each. */
  const unannounced = (paymentId: PaymentId, at: Date) => {
    const reported = known
      .undecided()
      .filter(
        (one) =>
          one.paymentId === paymentId &&
          one.payerType === "human" &&
          one.reportedAt.getTime() > at.getTime() - attemptLifeMillis &&
          of(paymentId, one.payer).length === 0
      )
      .toSorted((left, right) => left.reportedAt.getTime() - right.reportedAt.getTime())
    return [...new Map(reported.map((one) => [one.payer, one])).values()]
  }
  const isEqual = (payment: Payment, id: PaymentId, statuses: ReadonlyArray<Payment["status"]>) => {
    const other = known.paymentOf(id)
    return (
      other !== undefined &&
      other.id !== payment.id &&
      statuses.includes(other.status) &&
      other.env === payment.env &&
      other.receiver === payment.receiver &&
      other.amount === payment.amount
    )
  }

  return {
    firstBlock: (paymentId, payer) => lowest(of(paymentId, payer).map(({ blockNumber }) => blockNumber)),
    addressShown: (paymentId) => shown.get(paymentId),
    announcedBy: (payer) =>
      all
        .filter((one) => one.payer === payer)
        .toReversed()
        .map(({ announcedAt, blockNumber, closed, nonce, paymentId }) => ({
          paymentId,
          blockNumber,
          nonce,
          announcedAt,
          ended: closed
        })),
    store: {
      announce: ({ attempt, minedNonce, ...tenant }) =>
        Effect.sync(() => {
          const earlier = of(tenant.paymentId, attempt.payer)
          const open = earlier.find(isOpen)
          if (open !== undefined) return open.id === attempt.id ? Option.some(open) : Option.none()
          const payment = known.payment(tenant, tenant.paymentId)
          if (payment?.status !== "pending") return Option.none()
          if (known.unclaimed(payment, attempt.payer).some(({ isUndecided }) => isUndecided))
            return Option.none()
          const reports = unannounced(tenant.paymentId, attempt.announcedAt)
          if (reports.some(({ payer }) => payer === attempt.payer)) return Option.none()
          if (all.some(({ id }) => id === attempt.id)) return Option.none()
          const unsent = earlier.flatMap(({ closed, nonce }) =>
            closed === "expired" && nonce !== null && nonce >= (minedNonce ?? 0n) ? [nonce] : []
          )
          const named = lowest(unsent) ?? attempt.nonce
          const nonce = named === null || (minedNonce !== null && named < minedNonce) ? minedNonce : named
          const announced = { ...attempt, nonce: attempt.method === "transfer" ? nonce : null }
          all = [...all, { ...announced, paymentId: tenant.paymentId, closed: null }]
          return Option.some(announced)
        }),
      attempts: (tenant, paymentId, by) =>
        Effect.map(DateTime.nowAsDate, (now) => {
          const payment = known.payment(tenant, paymentId)
          if (payment === undefined) return Option.none()
          const open = of(paymentId, by?.only === true ? by.payer : undefined).filter(isOpen)
          const announced = open.toReversed().map(
            ({ announcedAt, method, payer }): OpenAttempt => ({
              payer,
              method,
              since: announcedAt,
              transactionId:
                known.unclaimed(payment, payer)[0]?.transactionId ?? known.reported(paymentId, payer) ?? null
            })
          )
          const reported = unannounced(paymentId, now)
            .filter(({ payer }) => by?.only !== true || payer === by.payer)
            .map(
              ({ payer, reportedAt, transactionId }): OpenAttempt => ({
                payer,
                method: "transfer",
                since: reportedAt,
                transactionId
              })
            )
          const isSent = by !== undefined && !open.some(({ payer }) => payer === by.payer)
          // What the wallet has sent since the payment opened, announced or not.
          const sent = (isSent ? known.unclaimed(payment, by.payer) : []).map(
            ({ blockTime, payer, transactionId }): OpenAttempt => ({
              payer,
              method: "transfer",
              since: blockTime,
              transactionId
            })
          )
          return Option.some({
            payment,
            attempts: [...sent, ...reported, ...announced]
              .toSorted(
                (left, right) =>
                  Number(right.payer === by?.payer) - Number(left.payer === by?.payer) ||
                  right.since.getTime() - left.since.getTime()
              )
              .slice(0, 20)
          })
        }),
      openAttempt: (paymentId, payer) =>
        Effect.sync(() => Option.fromUndefinedOr(of(paymentId, payer).find(isOpen))),
      unclaimedTransfer: (payment, payer) =>
        Effect.sync(() => {
          const announcedIn = of(payment.id, payer).find(isOpen)?.blockNumber
          return Option.fromUndefinedOr(known.unclaimed(payment, payer, announcedIn)[0]?.transactionId)
        }),
      paysAnEqual: (payment, payer, sent, at) =>
        Effect.sync(
          () =>
            all.some(
              (one) => one.payer === payer && isOpen(one) && isEqual(payment, one.paymentId, ["pending"])
            ) ||
            known
              .undecided()
              .some(
                (one) =>
                  one.payer === payer &&
                  (one.transactionId === sent ||
                    one.reportedAt.getTime() > at.getTime() - attemptLifeMillis) &&
                  isEqual(payment, one.paymentId, ["pending", "failed"])
              )
        ),
      awaitsReported: (paymentId, payer, at) =>
        Effect.sync(() =>
          known
            .undecided()
            .some(
              (one) =>
                one.paymentId === paymentId &&
                one.payer === payer &&
                one.payerType === "human" &&
                one.reportedAt.getTime() > at.getTime() - attemptLifeMillis
            )
        ),
      noteAddressShown: (paymentId, at) =>
        Effect.sync(() => {
          const isOpen = known.paymentOf(paymentId)?.status === "pending"
          if (isOpen) shown.set(paymentId, at)
          return isOpen
        }),
      closeAttempt: (paymentId, attemptId, reason) =>
        Effect.sync(() => {
          all = all.map((one) =>
            one.id === attemptId && one.paymentId === paymentId && isOpen(one)
              ? { ...one, closed: reason }
              : one
          )
        })
    }
  }
}
