// Transitions for the chain's answers about an attempt.
import type { Attempt } from "../attempt.ts"
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import type { Model, Notice } from "../Model.ts"
import type { Hex } from "../wallets.ts"
import { enter, leave } from "./enter.ts"
import { after } from "./polling.ts"
import { proceed } from "./proceed.ts"

const inquiryMillis = 3_000

export const transferFound = (model: Model, hash: Hex): Next => {
  const { attempt } = model
  if (attempt === undefined || attempt.hash === hash) return [model, []]
  const named: Attempt = { ...attempt, hash, nonceSeen: false }
  const replaced: Notice | undefined =
    attempt.hash === null ? undefined : { key: "noticeReplaced", tone: "info" }
  const [next, commands] = proceed({ ...model, epoch: model.epoch + 1, attempt: named, missed: 0 }, replaced)
  return [next, [{ run: "save", attempt: named }, ...commands]]
}

export const noTransfer = (model: Model, message: MessageOf<"NoTransfer">): Next => {
  const { attempt } = model
  if (attempt === undefined) return [model, []]
  const again = after(inquiryMillis, { run: "inquire", attempt })
  if (message.mined) {
    const missed = model.missed + 1
    return missed < 2
      ? [{ ...model, missed }, [again]]
      : [leave(model, "cancelled", { reason: "cancelledNotSent", missed: 0 }), []]
  }
  if (message.pending) {
    const next = model.state === "submitted" && model.busy === "checking" ? model : undefined
    return [next ?? enter(model, "submitted", { busy: "checking" }), [again]]
  }
  return model.step === "unsure" && model.notice === undefined
    ? [model, [again]]
    : [enter(model, "awaiting-signature", { step: "unsure" }), [again]]
}

export const chainSilent = (model: Model): Next => {
  const { attempt } = model
  if (attempt === undefined) return [model, []]
  const silent: Notice = { key: "noticeChainDown", tone: "warning" }
  return [{ ...model, notice: silent }, [after(inquiryMillis, { run: "inquire", attempt })]]
}

/** Another transaction replaced the one that was sent. */
export const onLost = (model: Model): Next => {
  const missed = model.missed + 1
  return missed < 2
    ? [{ ...model, missed }, []]
    : [leave(model, "cancelled", { reason: "cancelledReplaced", missed: 0 }), []]
}
