// A payment by signature: submitted, refused, or replaced by the buyer's own transfer.
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import { isOnChain, type Model, type Notice } from "../Model.ts"
import { concernsKey, isBecause, type ServiceRefusal } from "../service.ts"
import type { MessageKey } from "../translate.ts"
import { showOtherAttempt } from "./elsewhere.ts"
import { leave } from "./enter.ts"
import { forgetCommands } from "./finalState.ts"
import { walletNotice } from "./notices.ts"
import { unanswered } from "./polling.ts"
import { proceed } from "./proceed.ts"

export const submitSignature = (model: Model): Next => [
  model,
  model.signed === undefined ? [] : [{ run: "relay", signed: model.signed }]
]

/** The signature pays nothing, so the buyer's own transfer remains. */
export const byTransfer = (model: Model, key: MessageKey): Next => {
  const next = {
    ...model,
    byTransfer: true,
    signed: undefined,
    state: "review",
    epoch: model.epoch + 1
  } as const
  const [shown, commands] = proceed(next, { key, tone: "warning" })
  return [shown, [...forgetCommands({ ...model, attempt: undefined }), ...commands]]
}

export const signFailed = (
  model: Model,
  { chainId = model.chainId, failure }: MessageOf<"SignFailed">
): Next => {
  if (failure === "rejected" || failure === "busy" || failure === "unreachable") {
    const notice: Notice = { key: walletNotice[failure], tone: "warning" }
    // The account has changed since, and nothing is known about the new one.
    return model.terms === undefined
      ? proceed({ ...model, state: "review", epoch: model.epoch + 1 }, notice)
      : [leave(model, "review", { notice }), []]
  }
  const moved = { ...model, chainId }
  if (!isOnChain(moved)) return [leave(moved, "wrong-network", { wantsChain: true }), []]
  return byTransfer(moved, "noticeCannotSign")
}

export const relayRefused = (model: Model, refusal: ServiceRefusal): Next => {
  const again = (key: MessageKey): Next => {
    const next = { ...model, signed: undefined, state: "review", epoch: model.epoch + 1 } as const
    const [shown, commands] = proceed(next, { key, tone: "warning" })
    return [shown, [{ run: "forgetSigned" }, ...commands]]
  }
  /** The payment may be paid already; this browser's own transfer is followed. */
  const wait = (): Next => {
    const next = { ...model, signed: undefined }
    const [waiting, commands] =
      model.attempt === undefined
        ? showOtherAttempt(next, undefined)
        : proceed({ ...next, epoch: model.epoch + 1 })
    return [waiting, [{ run: "forgetSigned" }, ...commands]]
  }
  switch (refusal.code) {
    case "RELAY_UNAVAILABLE":
      return byTransfer(model, "noticeRelayDown")
    case "PAYMENT_ATTEMPT_OPEN":
      return wait()
    case "PAYMENT_FAILED":
      return [
        leave(model, "failed", { reason: "failedUnverified", code: refusal.code }),
        forgetCommands(model)
      ]
    case "AUTHORIZATION_REFUSED":
      if (isBecause(refusal, "already_used")) return wait()
      if (isBecause(refusal, "balance")) return again("fundsTitle")
      if (isBecause(refusal, "expired", "not_yet_valid")) return again("noticeSignAgain")
      return byTransfer(model, "noticeCannotSign")
    default:
      // The signature may be in progress, whatever the shop's key may do.
      if (concernsKey(refusal))
        return [leave(model, "failed", { reason: "failedUnreported", code: refusal.code }), []]
      if (!refusal.retryable) return byTransfer(model, "noticeCannotSign")
      return unanswered(model, refusal)
  }
}
