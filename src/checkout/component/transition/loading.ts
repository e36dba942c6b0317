// Leaves the loading state once the payment is read, or cannot be.
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import type { Model } from "../Model.ts"
import { concernsKey } from "../service.ts"
import { enter, leave } from "./enter.ts"
import { finalState, mayHaveSent } from "./finalState.ts"
import { after, pollDelay } from "./polling.ts"
import { proceed } from "./proceed.ts"
import { submitSignature } from "./signature.ts"

export const onLoaded = (model: Model, message: MessageOf<"Loaded">): Next => {
  const { context, payment, attempt } = message
  const addressShown = model.addressShown || message.addressShown === true
  const loadedModel = { ...model, context, payment, attempt, addressShown, loadAttempts: 0 }
  const ended = finalState(loadedModel, payment)
  if (ended !== undefined) return ended
  if (message.elsewhere && attempt?.hash == null) {
    return [enter(loadedModel, "awaiting-signature", { step: "elsewhere" }), [{ run: "awaitLock" }]]
  }
  const [next, commands] =
    message.signed !== undefined && attempt === undefined
      ? submitSignature(enter(loadedModel, "submitted", { signed: message.signed, polls: 0 }))
      : proceed(loadedModel)
  return [next, [...commands, { run: "restore" }]]
}

export const loadRefused = (model: Model, { onRecord, refusal }: MessageOf<"LoadFailed">): Next => {
  const mayBePaid = onRecord === true || mayHaveSent(model)
  // The text says that no money was sent.
  if (refusal.code === "LIVE_MODE_GATED" && !mayBePaid)
    return [leave(model, "failed", { reason: "gatedText", code: refusal.code }), []]
  if (refusal.code === "STORAGE_BLOCKED")
    return [leave(model, "failed", { reason: "failedStorage", code: refusal.code }), []]
  if (refusal.code === "INSECURE_CONTEXT")
    return [leave(model, "failed", { reason: "failedKey", code: refusal.code }), []]
  if (refusal.code === "INTENT_TOKEN_EXPIRED") return [leave(model, "expired", { code: refusal.code }), []]
  if (!refusal.retryable) {
    const reason = mayBePaid
      ? "failedUnreported"
      : concernsKey(refusal)
        ? // With a context, the service accepted this key earlier.
          model.context === undefined
          ? "failedKey"
          : "noticeKeyChanged"
        : "failedInvalid"
    return [leave(model, "failed", { reason, code: refusal.code }), []]
  }
  const loadAttempts = model.loadAttempts + 1
  return loadAttempts < 4
    ? [
        { ...model, loadAttempts, notice: { key: "noticeUnreachable", tone: "warning" } },
        [after(Math.max(pollDelay(loadAttempts), (refusal.retryAfter ?? 0) * 1_000), { run: "load" })]
      ]
    : [leave(model, "failed", { reason: "failedUnreachable", code: refusal.code, loadAttempts: 0 }), []]
}
