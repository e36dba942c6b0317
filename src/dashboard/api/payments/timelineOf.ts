// A payment's history for people: opened, reported, verified, settled and delivered, oldest first. Pure.
import { parseAddress } from "../../../chain/Address.ts"
import { formatUsd } from "../../../domain/Money.ts"
import { networks } from "../../../domain/networks.ts"
import type { PayerType } from "../../../domain/Payment.ts"
import type { Refund } from "../../../payments/refunds/RefundRepo/RefundStore.ts"
import type { TimelineEvent } from "./Api.ts"
import type { PaymentHistory } from "./PaymentPagesRepo.ts"

interface Report {
  readonly at: Date
  readonly transactionId: string
  readonly payer: string
  readonly payerType: PayerType
}

/** Each evidence once, at its first known report. */
const reportsOf = ({ payment, reports, verdicts }: PaymentHistory): ReadonlyArray<Report> => {
  const frozen = payment.reported
  const all: ReadonlyArray<Report> = [
    ...verdicts.map(({ reportedAt, transactionId, payer }) => ({
      at: reportedAt,
      transactionId,
      payer,
      // Verdicts do not contain it; the judged report does, if it still exists.
      payerType: "human" as const
    })),
    ...reports,
    ...(frozen === null
      ? []
      : [
          {
            at: frozen.at,
            transactionId: frozen.evidence.transactionId,
            payer: frozen.evidence.payer,
            payerType: payment.payerType
          }
        ])
  ]
  const first = new Map<string, Report>()
  for (const report of all) {
    const key = `${report.transactionId} ${report.payer.toLowerCase()}`
    const earliest = first.get(key)
    const payerType = earliest?.payerType === "agent" ? "agent" : report.payerType
    first.set(key, { ...(earliest === undefined || report.at < earliest.at ? report : earliest), payerType })
  }
  return [...first.values()]
}

/** The values that settlement required, next to those on the chain. */
const checksOf = ({ payment }: PaymentHistory) => {
  const [moved] = payment.reported?.evidence.tokenChanges ?? []
  if (moved === undefined || payment.reported === null) return []
  const { usdc, chainId } = networks[payment.env]
  return [
    { field: "amount", expected: formatUsd(payment.amount), actual: formatUsd(BigInt(moved.amountAtomic)) },
    { field: "receiver", expected: payment.receiver, actual: moved.receiver },
    { field: "token", expected: usdc.address, actual: moved.tokenAddress },
    { field: "chain", expected: String(chainId), actual: String(moved.chainId) }
  ]
}

/** Amounts are stored in atomic units; people read USD. */
const readable = (verdict: string, value: string | null) =>
  verdict === "amount" && value !== null && /^\d+$/.test(value) ? formatUsd(BigInt(value)) : value

const refundEvents = (refund: Refund): ReadonlyArray<TimelineEvent> => {
  const steps = [
    ["created", refund.createdAt],
    ["proven", refund.provenAt],
    ["dropped", refund.droppedAt],
    [refund.status === "failed" ? "failed" : "cancelled", refund.endedAt]
  ] as const
  return steps.flatMap(([step, at]) =>
    at === null
      ? []
      : [
          {
            kind: "refund",
            at: at.toISOString(),
            refundId: refund.id,
            step,
            amount: formatUsd(refund.amount),
            recipient: refund.recipient,
            by: refund.createdBy,
            note: refund.reason,
            transactionId: refund.transactionId
          }
        ]
  )
}

export const timelineOf = (
  history: PaymentHistory,
  refunds: ReadonlyArray<Refund> = []
): ReadonlyArray<TimelineEvent> => {
  const { payment } = history
  const at = (date: Date) => ({ at: date.toISOString() })
  const events: ReadonlyArray<TimelineEvent> = [
    { kind: "opened", ...at(payment.createdAt) },
    ...history.attempts.map(
      ({ at: announced, method, payer }): TimelineEvent => ({
        kind: "announced",
        ...at(announced),
        payer: parseAddress(payer) ?? payer,
        method
      })
    ),
    ...reportsOf(history).map(
      (report): TimelineEvent => ({
        kind: "reported",
        ...at(report.at),
        transactionId: report.transactionId,
        payer: parseAddress(report.payer) ?? report.payer,
        payerType: report.payerType
      })
    ),
    ...history.verdicts.map(
      ({ transactionId, verdict, expected, actual, at: judgedAt }): TimelineEvent => ({
        kind: "verdict",
        ...at(judgedAt),
        transactionId,
        verdict,
        expected: readable(verdict, expected),
        actual: readable(verdict, actual)
      })
    ),
    ...(payment.settledAt === null || payment.reported === null
      ? []
      : [
          {
            kind: "settled",
            ...at(payment.settledAt),
            transactionId: payment.reported.evidence.transactionId,
            blockNumber: history.block_number,
            logPosition: history.log_position,
            failedAt: history.failed_earlier_at?.toISOString() ?? null,
            checks: checksOf(history)
          } as const
        ]),
    ...(history.failed_at === null
      ? []
      : [{ kind: "failed", ...at(history.failed_at), reason: payment.failureReason ?? "expired" } as const]),
    ...history.deliveries.flatMap(({ id, type, attempts }) =>
      attempts.map(
        ({ startedAt, ...attempt }): TimelineEvent => ({
          kind: "attempt",
          ...at(startedAt),
          deliveryId: id,
          type,
          ...attempt
        })
      )
    ),
    ...(history.dropped_at === null ? [] : [{ kind: "dropped", ...at(history.dropped_at) } as const]),
    ...refunds.flatMap(refundEvents)
  ]
  // Stable: events of the same millisecond stay in the order above.
  return events.toSorted((left, right) => left.at.localeCompare(right.at))
}
