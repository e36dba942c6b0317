// What is wrong with the answer to a report, by what was stored and on the chain.
import type { Address } from "../../../src/domain/Chain.ts"
import { MismatchReason } from "../../../src/domain/VerdictReason.ts"
import type { Answer, Ask } from "../Door.ts"
import { clockToleranceMillis, type PaymentOf } from "./Look.ts"

export interface ReportAnswered {
  readonly ask: Extract<Ask, { readonly do: "report" }>
  readonly answer: Answer
  /** Whether who asks has sent what they tell. */
  readonly isHonest: boolean
  /** Where the payment is to be paid. */
  readonly receiver: Address | undefined
  /** The payment when it was asked, and as it stands now. */
  readonly before: PaymentOf | undefined
  readonly now: PaymentOf | undefined
  /** Whether every node had shown the transfer at its depth when it was asked, and nothing is in its way. */
  readonly mustSettle: boolean
}

/** Answers that say nothing of the evidence. */
const ofOthers = new Set([401, 404, 429, 500, 503])

const isSame = ({ ask, receiver }: ReportAnswered, payment: PaymentOf) => {
  const { evidence } = payment.reported ?? {}
  const [change] = ask.tokenChanges
  return (
    evidence !== undefined &&
    ask.transactionId === evidence.transactionId &&
    ask.buyerDidToken.includes(evidence.payer) &&
    ask.tokenChanges.length === 1 &&
    change?.amountAtomic === payment.amount.toString() &&
    change.receiver.toLowerCase() === receiver?.toLowerCase()
  )
}

const numberIn = (text: string | undefined) => Number(/^block (\d+)/.exec(text ?? "")?.[1])
const timeIn = (text: string | undefined) => Date.parse(text?.replace("a block at or after ", "") ?? "")

/** Whether a refusal of a transfer as too old tells two heights, or two times, of which the second is earlier. */
const isTooOld = ({ answer, now }: ReportAnswered) => {
  const [{ actual, expected } = {}] = answer.body.error?.details ?? []
  if (expected?.startsWith("block ")) return numberIn(actual) < numberIn(expected)
  const earliest = Math.floor((now?.createdAt.getTime() ?? 0) / 1_000) * 1_000 - clockToleranceMillis
  return timeIn(expected) === earliest && timeIn(actual) < earliest
}

const isReason = (reason: string | undefined) => MismatchReason.literals.some((one) => one === reason)

/** What is wrong; undefined where nothing is. */
export const wrongInReportAnswer = (answered: ReportAnswered): string | undefined => {
  const { answer, ask, before, mustSettle, now } = answered
  const { error, payment } = answer.body
  const told = `the report of ${ask.transactionId} for ${ask.paymentId} was answered ${answer.status} ${error?.code ?? payment?.status ?? ""} ${error?.reason ?? ""}`
  if (ofOthers.has(answer.status)) return undefined
  if (before?.status === "settled") {
    const wanted = isSame(answered, before) ? 200 : 409
    if (answer.status !== wanted)
      return `${told}, where it had settled with ${before.reported?.evidence.transactionId}`
  }
  if (answer.status === 200 && (now?.status !== "settled" || !isSame(answered, now)))
    return `${told}, and the payment is ${now?.status} with ${now?.reported?.evidence.transactionId}`
  if (error?.code === "TEST_SETTLEMENT_MISMATCH" && !isReason(error.reason)) return told
  if (answered.isHonest && error?.reason === "declared_changes") return told
  if (error?.reason === "too_old" && !isTooOld(answered)) return `${told} ${JSON.stringify(error.details)}`
  if (mustSettle && answer.status !== 200) return `${told}, where every node had shown it deep enough`
  return undefined
}
