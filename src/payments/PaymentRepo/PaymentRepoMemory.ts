// PaymentRepo in this process, for tests and trials: payments, their reports and settlements, in maps. It knows no
// attempts, transfers, refunds, links, agents or x402 settlements, so it has none of the rules about them.

import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Address, Env } from "../../domain/Chain.ts"
import { IntentTokenExpired } from "../../domain/Errors.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import type { AtomicUsdc } from "../../domain/Money.ts"
import type { Evidence, FailureReason, PayerType, Payment, PaymentId } from "../../domain/Payment.ts"
import { Networks } from "../../platform/Networks.ts"
import { WebhookRepo } from "../../webhooks/WebhookRepo.ts"
import { TransferAlreadyUsed } from "../TransferAlreadyUsed.ts"
import { evidenceKey, maxReports } from "./evidenceKey.ts"
import { generateRefCode } from "./generateRefCode.ts"
import type {
  ClaimedTransfer,
  DueReport,
  PaymentStore,
  UnavailableTransfer,
  WatchedTransfer
} from "./PaymentStore.ts"

interface StoredReport {
  readonly paymentId: PaymentId
  readonly evidence: Evidence
  readonly payerType: PayerType
  readonly reportedAt: Date
  readonly checks: number
  readonly nextCheckAt: Date | null
}

interface Claimed {
  readonly transfer: ClaimedTransfer & {
    readonly payer: Address
    readonly receiver: Address
    readonly amount: AtomicUsdc
  }
  readonly paymentId: PaymentId
  readonly watchAt: Date | null
  readonly droppedAt: Date | null
}

const isDue = (at: Date | null, now: Date) => at !== null && at <= now

const newestFirst = (left: Payment, right: Payment) =>
  right.createdAt.getTime() - left.createdAt.getTime() || (left.id < right.id ? 1 : -1)

export const makePaymentRepoMemory: Effect.Effect<
  PaymentStore,
  never,
  WebhookRepo | SecureRandom.SecureRandom
> = Effect.gen(function* () {
  const { executes } = yield* Networks
  const random = yield* SecureRandom.SecureRandom
  const webhooks = yield* WebhookRepo
  const payments = new Map<PaymentId, Payment>()
  const reports = new Map<string, StoredReport>()
  const claims = new Map<string, Claimed>()
  /** Ids of queued deliveries. */
  const enqueued = new Set<string>()

  const paymentOf = (tenant: Tenant, id: PaymentId) => {
    const payment = payments.get(id)
    return payment?.merchantId === tenant.merchantId && payment.env === tenant.env ? payment : undefined
  }
  const reportKey = (id: PaymentId, evidence: Evidence) =>
    `${id} ${Buffer.from(evidenceKey(evidence)).toString("hex")}`

  /** Evicts surplus reports of a payer: settled ones first, then the oldest. */
  const evictSurplus = (id: PaymentId, payer: string, newest: string) => {
    const others = reportsOf(id)
      .filter(([key, report]) => key !== newest && report.evidence.payer === payer)
      .sort(
        ([, left], [, right]) =>
          Number(right.nextCheckAt !== null) - Number(left.nextCheckAt !== null) ||
          right.reportedAt.getTime() - left.reportedAt.getTime()
      )
    for (const [key] of others.slice(maxReports - 1)) reports.delete(key)
  }
  const claimKey = (transfer: Claimed["transfer"]) =>
    [
      transfer.chainId,
      transfer.transactionId,
      transfer.payer,
      transfer.receiver,
      transfer.amount,
      transfer.ordinal
    ].join(" ")
  const reportsOf = (id: PaymentId) => [...reports].filter(([, stored]) => stored.paymentId === id)

  const isOn = (paymentId: PaymentId, env: Env) => payments.get(paymentId)?.env === env

  return {
    open: Effect.fnUntraced(function* ({ at, ...input }) {
      const refCode = yield* generateRefCode.pipe(Effect.provideService(SecureRandom.SecureRandom, random))
      const existing = payments.get(input.id)
      if (existing !== undefined) return { payment: existing, created: false }
      const payment: Payment = {
        ...input,
        status: "pending",
        refCode,
        createdAt: at,
        openedBlock: input.openedBlock ?? null,
        reported: null,
        settledAt: null,
        failureReason: null
      }
      payments.set(payment.id, payment)
      return { payment, created: true }
    }),
    openExpired: Effect.fnUntraced(function* (tenant, id) {
      return paymentOf(tenant, id) ?? (yield* new IntentTokenExpired())
    }),
    find: (tenant, id) => Effect.sync(() => Option.fromNullishOr(paymentOf(tenant, id))),
    findMany: (tenant, ids) => Effect.sync(() => ids.flatMap((id) => paymentOf(tenant, id) ?? [])),
    exists: (id) => Effect.sync(() => payments.has(id)),
    list: (tenant, { limit, startingAfter, transactionId, intentUrl }) =>
      Effect.sync(() => {
        const all = [...payments.values()]
          .filter((payment) => payment.merchantId === tenant.merchantId && payment.env === tenant.env)
          .sort(newestFirst)
        const last =
          startingAfter === undefined ? -1 : all.findIndex((payment) => payment.id === startingAfter)
        if (startingAfter !== undefined && last === -1) return Option.none()
        const rest = all
          .slice(last + 1)
          .filter((payment) => intentUrl === undefined || payment.intentUrl === intentUrl)
          .filter(
            (payment) =>
              transactionId === undefined || payment.reported?.evidence.transactionId === transactionId
          )
        return Option.some({ payments: rest.slice(0, limit), hasMore: rest.length > limit })
      }),
    report: (report) =>
      Effect.sync(() => {
        const payment = paymentOf(report, report.paymentId)
        if (payment === undefined) return Option.none()
        if (payment.status !== "settled") {
          const key = reportKey(payment.id, report.evidence)
          evictSurplus(payment.id, report.evidence.payer, key)
          reports.set(key, {
            paymentId: payment.id,
            evidence: report.evidence,
            payerType: report.payerType,
            reportedAt: report.at,
            checks: 0,
            nextCheckAt: executes(payment.env) ? report.nextCheckAt : null
          })
        }
        return Option.some({ payment, attemptBlock: null })
      }),
    unavailableTransfers: ({ amount, chainId, evidence, receiver }) =>
      Effect.sync(() =>
        [...claims.values()].flatMap(
          ({ transfer }): ReadonlyArray<UnavailableTransfer> =>
            transfer.chainId === chainId &&
            transfer.transactionId === evidence.transactionId &&
            transfer.payer === evidence.payer &&
            transfer.receiver === receiver &&
            transfer.amount === amount
              ? [{ ordinal: transfer.ordinal, blockHash: transfer.blockHash }]
              : []
        )
      ),
    settle: Effect.fnUntraced(function* (settlement) {
      const payment = payments.get(settlement.paymentId)
      if (payment === undefined || payment.status === "settled") return Option.none()
      const { amount, receiver } = payment
      const transfer = { ...settlement.transfer, payer: settlement.evidence.payer, receiver, amount }
      const moved = [...claims.values()].some(
        (claim) =>
          claim.transfer.chainId === transfer.chainId &&
          claim.transfer.transactionId === transfer.transactionId &&
          claim.transfer.blockHash !== transfer.blockHash
      )
      if (moved) return Option.none()
      const key = claimKey(transfer)
      if (claims.has(key)) return yield* new TransferAlreadyUsed()
      const agentReported = reportsOf(payment.id).some(
        ([, report]) =>
          report.payerType === "agent" &&
          report.evidence.payer === settlement.evidence.payer &&
          report.evidence.transactionId === settlement.evidence.transactionId
      )
      const settled: Payment = {
        ...payment,
        status: "settled",
        payerType: agentReported ? "agent" : payment.payerType,
        reported: { at: settlement.reportedAt, evidence: settlement.evidence },
        settledAt: settlement.at,
        failureReason: null
      }
      payments.set(payment.id, settled)
      claims.set(key, { transfer, paymentId: payment.id, watchAt: settlement.watchAt, droppedAt: null })
      for (const [id] of reportsOf(payment.id)) reports.delete(id)
      const { delivery, laterDelivery = delivery } = settlement
      const next = enqueued.has(delivery.id) ? laterDelivery : delivery
      enqueued.add(next.id)
      yield* webhooks.enqueueSettled(payment, payment.id, next, settlement.at)
      return Option.some(settled)
    }),
    recordCheck: (paymentId, evidence, _verdict, { leaseUntil, nextCheckAt }) =>
      Effect.sync(() => {
        const key = reportKey(paymentId, evidence)
        const stored = reports.get(key)
        if (
          stored?.evidence.transactionId === evidence.transactionId &&
          stored.nextCheckAt?.getTime() === leaseUntil.getTime()
        ) {
          reports.set(key, { ...stored, checks: stored.checks + 1, nextCheckAt })
        }
      }),
    recordVerdict: () => Effect.void,
    requeueRecordedReports: () => Effect.succeed(0),
    takeDueReports: (env, at, leaseUntil, limit) =>
      Effect.sync(() => {
        const turns = new Map<string, number>()
        // Merchants take turns. Within a merchant, the reports with the fewest checks come first.
        const due = [...reports]
          .filter(([, stored]) => isDue(stored.nextCheckAt, at) && isOn(stored.paymentId, env))
          .toSorted(([, left], [, right]) => left.checks - right.checks)
          .map(([key, stored]) => {
            const merchant = payments.get(stored.paymentId)?.merchantId ?? ""
            const turn = turns.get(merchant) ?? 0
            turns.set(merchant, turn + 1)
            return { key, stored, turn }
          })
          .toSorted((left, right) => left.turn - right.turn)
          .slice(0, limit)
        return due.flatMap(({ key, stored }): ReadonlyArray<DueReport> => {
          reports.set(key, { ...stored, nextCheckAt: leaseUntil })
          const payment = payments.get(stored.paymentId)
          return payment === undefined || payment.status === "settled"
            ? []
            : [{ ...stored, payment, attemptBlock: null, leaseUntil }]
        })
      }),
    expire: ({ openedBefore, reportedBefore, limit = 500 }) =>
      Effect.sync(() => {
        const failed: Array<{ id: PaymentId; reason: FailureReason }> = []
        for (const payment of payments.values()) {
          if (failed.length === limit) break
          if (payment.status !== "pending" || payment.createdAt >= openedBefore[payment.env]) continue
          const stored = reportsOf(payment.id).map(([, report]) => report)
          if (stored.length > 0 && !executes(payment.env)) continue
          if (stored.some((report) => report.reportedAt >= reportedBefore || report.nextCheckAt !== null))
            continue
          const reason = stored.length === 0 ? "expired" : "unverified"
          payments.set(payment.id, { ...payment, status: "failed", failureReason: reason })
          failed.push({ id: payment.id, reason })
        }
        return failed
      }),
    pruneReports: (reportedBefore, limit) =>
      Effect.sync(() => {
        const ended = [...reports]
          .filter(([, report]) => report.nextCheckAt === null && report.reportedAt < reportedBefore)
          .filter(([, report]) => {
            const payment = payments.get(report.paymentId)
            return payment !== undefined && executes(payment.env) && payment.status !== "pending"
          })
          .slice(0, limit)
        for (const [key] of ended) reports.delete(key)
        return ended.length
      }),
    takeWatched: (env, at, leaseUntil, limit) =>
      Effect.sync(() => {
        const due = [...claims]
          .filter(([, claim]) => isDue(claim.watchAt, at) && isOn(claim.paymentId, env))
          .slice(0, limit)
        return due.flatMap(([key, claim]): ReadonlyArray<WatchedTransfer> => {
          claims.set(key, { ...claim, watchAt: leaseUntil })
          const payment = payments.get(claim.paymentId)
          if (payment === undefined) return []
          const { merchantId, env, id } = payment
          return [
            {
              ...claim.transfer,
              merchantId,
              env,
              paymentId: id,
              transfer: claim.transfer,
              droppedAt: claim.droppedAt,
              isReplacement: false,
              leaseUntil
            }
          ]
        })
      }),
    recordWatched: ({ leaseUntil, paymentId }, { moved, droppedAt, watchAt }) =>
      Effect.sync(() => {
        const held = [...claims].filter(
          ([, claim]) => claim.paymentId === paymentId && claim.watchAt?.getTime() === leaseUntil.getTime()
        )
        for (const [key, claim] of held) {
          claims.set(key, { ...claim, transfer: { ...claim.transfer, ...moved }, droppedAt, watchAt })
        }
        return held.length > 0
      })
  }
})
