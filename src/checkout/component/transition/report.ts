// Transitions for the service's answers to a report.
import type { Attempt } from "../attempt.ts"
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import type { Model } from "../Model.ts"
import { isBecause, type ServiceRefusal } from "../service.ts"
import { enter, leave } from "./enter.ts"
import { nextPoll, unanswered } from "./polling.ts"
import { proceed } from "./proceed.ts"

export const stillPending = (model: Model, { payment, retryAfter }: MessageOf<"StillPending">): Next => {
  const { attempt } = model
  const replacedNotice = model.notice?.key === "noticeReplaced" ? model.notice : undefined
  return [
    enter(model, "confirming", { payment, notice: replacedNotice, polls: model.polls + 1 }),
    [...(attempt?.hash == null ? [] : [{ run: "follow", attempt } as const]), ...nextPoll(model, retryAfter)]
  ]
}

export const reportRefused = (model: Model, refusal: ServiceRefusal): Next => {
  const { attempt } = model
  switch (refusal.code) {
    case "INVALID_BUYER_TOKEN":
      return [leave(model, "awaiting-signature", { step: "prove", identified: false }), []]
    case "PAYMENT_REPORT_CONFLICT":
      // Settled by other evidence, which reading the payment shows.
      return [{ ...model, busy: "checking" }, [{ run: "load" }]]
    case "PAYMENT_FAILED":
      return [leave(model, "failed", { reason: "failedUnverified", code: refusal.code }), []]
    case "TEST_SETTLEMENT_MISMATCH":
    case "SETTLEMENT_MISMATCH":
      break
    default:
      // The transfer is recorded, and nothing here proves that it does not pay.
      if (!refusal.retryable)
        return [leave(model, "failed", { reason: "failedUnreported", code: refusal.code }), []]
      return unanswered(model, refusal)
  }
  if (isBecause(refusal, "reverted")) return [leave(model, "cancelled", { reason: "cancelledReverted" }), []]
  if (isBecause(refusal, "already_used") && attempt?.hash != null) {
    const without: Attempt = {
      ...attempt,
      hash: null,
      nonceSeen: false,
      refused: [...attempt.refused, attempt.hash]
    }
    // Looking for another transaction requires the buyer's wallet.
    const [next, commands] = proceed({ ...model, epoch: model.epoch + 1, attempt: without })
    return [next, [{ run: "save", attempt: without }, ...commands]]
  }
  if (isBecause(refusal, "payer") && refusal.actual !== undefined) {
    return [
      leave(model, "awaiting-signature", {
        step: "prove",
        identified: false,
        notice: { key: "noticeOtherPayer", tone: "warning", values: { account: refusal.actual } }
      }),
      []
    ]
  }
  return [leave(model, "failed", { reason: "failedMismatch", code: refusal.reason ?? refusal.code }), []]
}
