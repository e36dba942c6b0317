// PaymentRepo in this process: the same rules over maps, for tests and trials.

import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { ChainTransfer } from "../../chain/Verification.ts"
import type { Env } from "../../domain/Chain.ts"
import { IntentTokenExpired } from "../../domain/Errors.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { AtomicUsdc } from "../../domain/Money.ts"
import { envs, networks, walletNetwork } from "../../domain/networks.ts"
import type { Evidence, Payment, PaymentId } from "../../domain/Payment.ts"
import { Networks } from "../../platform/Networks.ts"
import { WebhookRepo } from "../../webhooks/WebhookRepo.ts"
import type { PaymentRepo, TakenTransfer } from "../PaymentRepo.ts"
import { makeAttemptsMemory } from "./attemptsMemory.ts"
import { makeClaimsMemory } from "./claimsMemory.ts"
import { evidenceKey, keptReports } from "./evidenceKey.ts"
import { generateRefCode } from "./generateRefCode.ts"
import { type Claimed, type KeptReport, makeReconcilerMemory } from "./reconcilerMemory.ts"
import { makeRefundsMemory } from "./refundsMemory.ts"
import { TransferAlreadyUsed } from "./TransferAlreadyUsed.ts"
import { type MemoryTransfers, makeTransfersMemory } from "./transfersMemory.ts"

const newestFirst = (left: Payment, right: Payment) =>
  right.createdAt.getTime() - left.createdAt.getTime() || (left.id < right.id ? 1 : -1)

export const makePaymentRepoMemory: Effect.Effect<
  PaymentRepo["Service"],
  never,
  WebhookRepo | SecureRandom.SecureRandom
> = Effect.gen(function* () {
  const { executes } = yield* Networks
  const random = yield* SecureRandom.SecureRandom
  const webhooks = yield* WebhookRepo
  const payments = new Map<PaymentId, Payment>()
  const reports = new Map<string, KeptReport>()
  const claims = new Map<string, Claimed>()
  /** Ids of deliveries. */
  const told = new Set<string>()

  const of = (tenant: Tenant, id: PaymentId) => {
    const payment = payments.get(id)
    return payment?.merchantId === tenant.merchantId && payment.env === tenant.env ? payment : undefined
  }
  const reportKey = (id: PaymentId, evidence: Evidence) =>
    `${id} ${Buffer.from(evidenceKey(evidence)).toString("hex")}`

  /** Of one payer's reports the settled ones go first, then the oldest. */
  const evictSurplus = (id: PaymentId, payer: string, newest: string) => {
    const others = reportsOf(id)
      .filter(([key, one]) => key !== newest && one.evidence.payer === payer)
      .sort(
        ([, left], [, right]) =>
          Number(right.nextCheckAt !== null) - Number(left.nextCheckAt !== null) ||
          right.reportedAt.getTime() - left.reportedAt.getTime()
      )
    for (const [key] of others.slice(keptReports - 1)) reports.delete(key)
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
  const asClaim = (env: Env, one: ChainTransfer): Claimed["transfer"] => ({
    ...one,
    chainId: networks[env].chainId,
    logPosition: 0,
    amount: AtomicUsdc.make(one.amount, { disableChecks: true })
  })
  const reportsOf = (id: PaymentId) => [...reports].filter(([, kept]) => kept.paymentId === id)

  const attempts = makeAttemptsMemory({
    payment: of,
    paymentOf: (id) => payments.get(id),
    reported: (id, payer) =>
      reportsOf(id).findLast(([, one]) => one.evidence.payer === payer)?.[1].evidence.transactionId,
    undecided: () =>
      [...reports.values()]
        .filter(({ nextCheckAt }) => nextCheckAt !== null)
        .map(({ evidence: { payer, transactionId }, paymentId, payerType, reportedAt }) => ({
          ...{ paymentId, payer, payerType, transactionId, reportedAt }
        })),
    unclaimed: (...of) => transfers.unclaimed(...of)
  })
  const transfers: MemoryTransfers = makeTransfersMemory({
    payments: () => payments.values(),
    payment: (id) => payments.get(id),
    claimOf: (env, one) => claims.get(claimKey(asClaim(env, one)))?.paymentId ?? undefined,
    reportsOf: ({ transactionId }) =>
      [...reports.values()]
        .filter(({ evidence }) => evidence.transactionId === transactionId)
        .map(({ paymentId, evidence, reportedAt }) => ({
          paymentId,
          payer: evidence.payer,
          at: reportedAt
        })),
    announcedBy: attempts.announcedBy,
    addressShown: attempts.addressShown,
    isDropped: (id) => [...claims.values()].some((one) => one.paymentId === id && one.droppedAt !== null),
    watchAgain: (env, one, at) => {
      const key = claimKey(asClaim(env, one))
      const claim = claims.get(key)
      if (claim === undefined) return
      if (claim.refundId !== null) refunds.watchAgain(claim.refundId, at)
      else if (claim.droppedAt !== null && claim.watchAt === null) claims.set(key, { ...claim, watchAt: at })
    }
  })

  const refundClaim = (refundId: string) => [...claims].find(([, one]) => one.refundId === refundId)
  const refunds = makeRefundsMemory({
    payment: of,
    payments: () => payments.values(),
    settledBy: (id) => {
      const claim = [...claims.values()].find((one) => one.paymentId === id)
      return claim && { block: claim.transfer.blockNumber, dropped: claim.droppedAt !== null }
    },
    transfers: {
      ...transfers,
      // What proves a refund has left its merchant, whoever has the address by now.
      outgoing: () =>
        transfers.outgoing().map((one) => {
          const refundId = claims.get(claimKey(asClaim(one.env, one)))?.refundId ?? null
          const owner = refundId === null ? undefined : refunds.merchantOf(refundId)
          return { ...one, merchantId: owner ?? one.merchantId }
        })
    },
    isClaimed: (env, one) => claims.has(claimKey(asClaim(env, one))),
    claim: ({ recipient, refundId, sender, ...log }) => {
      const transfer = { ...log, payer: sender, receiver: recipient }
      const moved = [...claims.values()].some(
        (one) =>
          one.transfer.chainId === transfer.chainId &&
          one.transfer.transactionId === transfer.transactionId &&
          one.transfer.blockHash !== transfer.blockHash
      )
      if (moved) return "moved"
      const key = claimKey(transfer)
      if (claims.has(key)) return "taken"
      claims.set(key, { transfer, paymentId: null, refundId, watchAt: null, droppedAt: null })
      return "claimed"
    },
    release: (refundId) => {
      const found = refundClaim(refundId)
      if (found !== undefined) claims.delete(found[0])
    },
    move: (refundId, to) => {
      const found = refundClaim(refundId)
      if (found === undefined) return
      const [key, one] = found
      claims.set(key, { ...one, transfer: { ...one.transfer, ...to } })
    }
  })

  return {
    open: Effect.fnUntraced(function* (input) {
      const refCode = yield* generateRefCode.pipe(Effect.provideService(SecureRandom.SecureRandom, random))
      const existing = payments.get(input.id)
      if (existing !== undefined) return { payment: existing, created: false }
      const payment: Payment = {
        id: input.id,
        merchantId: input.merchantId,
        env: input.env,
        status: "pending",
        amount: input.amount,
        refCode,
        intentUrl: input.intentUrl,
        receiver: input.receiver,
        payerType: input.payerType,
        createdAt: input.at,
        openedBlock: input.openedBlock ?? null,
        reported: null,
        settledAt: null,
        failureReason: null
      }
      payments.set(payment.id, payment)
      return { payment, created: true }
    }),
    openExpired: Effect.fnUntraced(function* (tenant, id) {
      return of(tenant, id) ?? (yield* new IntentTokenExpired())
    }),
    find: (tenant, id) => Effect.sync(() => Option.fromNullishOr(of(tenant, id))),
    findMany: (tenant, ids) => Effect.sync(() => ids.flatMap((id) => of(tenant, id) ?? [])),
    exists: (id) => Effect.sync(() => payments.has(id)),
    list: (tenant, { limit, startingAfter, transactionId, intentUrl }) =>
      Effect.sync(() => {
        const all = [...payments.values()]
          .filter((one) => one.merchantId === tenant.merchantId && one.env === tenant.env)
          .sort(newestFirst)
        const last = startingAfter === undefined ? -1 : all.findIndex((one) => one.id === startingAfter)
        if (startingAfter !== undefined && last === -1) return Option.none()
        const rest = all
          .slice(last + 1)
          .filter((one) => intentUrl === undefined || one.intentUrl === intentUrl)
          .filter(
            (one) => transactionId === undefined || one.reported?.evidence.transactionId === transactionId
          )
        return Option.some({ payments: rest.slice(0, limit), hasMore: rest.length > limit })
      }),
    report: (report) =>
      Effect.sync(() => {
        const payment = of(report, report.paymentId)
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
        return Option.some({
          payment,
          attemptBlock: attempts.firstBlock(payment.id, report.evidence.payer)
        })
      }),
    takenTransfers: ({ amount, chainId, evidence, receiver }) =>
      Effect.sync(() =>
        [...claims.values()]
          .flatMap(
            ({ transfer }): ReadonlyArray<TakenTransfer> =>
              transfer.chainId === chainId &&
              transfer.transactionId === evidence.transactionId &&
              transfer.payer === evidence.payer &&
              transfer.receiver === receiver &&
              transfer.amount === amount
                ? [{ ordinal: transfer.ordinal, blockHash: transfer.blockHash }]
                : []
          )
          .concat(
            transfers
              .handled({
                env: envs.find((env) => networks[env].chainId === chainId) ?? walletNetwork.env,
                ...{ receiver, amount },
                ...{ transactionId: evidence.transactionId, payer: evidence.payer }
              })
              .map((ordinal) => ({ ordinal, blockHash: null }))
          )
      ),
    settle: Effect.fnUntraced(function* (settlement) {
      const payment = payments.get(settlement.paymentId)
      if (payment === undefined || payment.status === "settled") return Option.none()
      const { amount, receiver } = payment
      const transfer = { ...settlement.transfer, payer: settlement.evidence.payer, receiver, amount }
      const moved = [...claims.values()].some(
        (one) =>
          one.transfer.chainId === transfer.chainId &&
          one.transfer.transactionId === transfer.transactionId &&
          one.transfer.blockHash !== transfer.blockHash
      )
      if (moved || transfers.isHandled(payment.env, transfer, payment.id, settlement.at)) return Option.none()
      const key = claimKey(transfer)
      if (claims.has(key)) return yield* new TransferAlreadyUsed()
      const agentReported = reportsOf(payment.id).some(
        ([, one]) =>
          one.payerType === "agent" &&
          one.evidence.payer === settlement.evidence.payer &&
          one.evidence.transactionId === settlement.evidence.transactionId
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
      transfers.explain(payment.env, transfer, payment.id)
      claims.set(key, {
        transfer,
        paymentId: payment.id,
        refundId: null,
        watchAt: settlement.watchAt,
        droppedAt: null
      })
      for (const [kept] of reportsOf(payment.id)) reports.delete(kept)
      const { delivery, laterDelivery = delivery } = settlement
      const telling = told.has(delivery.id) ? laterDelivery : delivery
      told.add(telling.id)
      yield* webhooks.enqueueSettled(payment, payment.id, telling, settlement.at)
      return Option.some(settled)
    }),
    ...makeReconcilerMemory({
      executes,
      ...{ payments, reports, claims, reportKey, reportsOf },
      firstBlock: attempts.firstBlock,
      isUndecided: transfers.isUndecided,
      matchAgain: transfers.matchAgain
    }),
    ...makeClaimsMemory({
      ...{ payments, claims, claimKey, transfers },
      announcedBy: attempts.announcedBy
    }),
    ...attempts.store,
    ...transfers.store,
    ...refunds.store
  }
})
