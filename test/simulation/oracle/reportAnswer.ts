// A violation in the answer to a report, compared with the stored payment.
import type { Answer, Ask } from "../Door.ts"
import type { PaymentOf } from "./Look.ts"

export interface ReportAnswered {
  readonly ask: Extract<Ask, { readonly do: "report" }>
  readonly answer: Answer
  /** The payment when the report was sent, and its present state. */
  readonly before: PaymentOf | undefined
  readonly now: PaymentOf | undefined
}

/** Statuses that do not depend on the evidence. */
const ofOthers = new Set([401, 404, 429, 500, 503])

const isSame = ({ ask }: ReportAnswered, { amount, reported }: PaymentOf) =>
  reported !== null &&
  ask.transactionId === reported.evidence.transactionId &&
  ask.buyerDidToken.includes(reported.evidence.payer) &&
  ask.tokenChanges.every(({ amountAtomic }) => amountAtomic === amount.toString())

/** Undefined if there is no violation. */
export const wrongInReportAnswer = (answered: ReportAnswered): string | undefined => {
  const { answer, ask, before, now } = answered
  const { error, payment, status } = answer
  const told = `the report of ${ask.transactionId} for ${ask.paymentId} was answered ${status} ${error?.code ?? payment?.status ?? ""} ${error?.reason ?? ""}`
  if (ofOthers.has(status)) return undefined
  const evidence = (one: PaymentOf | undefined) =>
    `${one?.status} with ${one?.reported?.evidence.transactionId}`
  if (before?.status === "settled" && status !== (isSame(answered, before) ? 200 : 409))
    return `${told}, although it was ${evidence(before)}`
  if (status === 200 && (now?.status !== "settled" || !isSame(answered, now)))
    return `${told}, and the payment is ${evidence(now)}`
  return undefined
}
