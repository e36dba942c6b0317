import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import type { Model } from "../Model.ts"
import { isOfKey } from "../service.ts"
import { decided, mayHaveSent } from "./decided.ts"
import { enter, leave } from "./enter.ts"
import { after, pollDelay } from "./polling.ts"
import { proceed } from "./proceed.ts"
import { handedIn } from "./signature.ts"

export const loaded = (model: Model, message: MessageOf<"Loaded">): Next => {
  const { context, payment, attempt } = message
  const addressShown = model.addressShown || message.addressShown === true
  const read = { ...model, context, payment, attempt, addressShown, loads: 0 }
  const done = decided(read, payment)
  if (done !== undefined) return done
  if (message.elsewhere && attempt?.hash == null) {
    return [enter(read, "awaiting-signature", { step: "elsewhere" }), [{ run: "awaitLock" }]]
  }
  const [next, commands] =
    message.signed !== undefined && attempt === undefined
      ? handedIn(enter(read, "submitted", { signed: message.signed, polls: 0 }))
      : proceed(read)
  return [next, [...commands, { run: "restore" }]]
}

export const loadRefused = (model: Model, { onRecord, refusal }: MessageOf<"LoadFailed">): Next => {
  if (refusal.code === "LIVE_MODE_GATED") {
    return [leave(model, "failed", { reason: "gatedText", code: refusal.code }), []]
  }
  if (refusal.code === "STORAGE_BLOCKED")
    return [leave(model, "failed", { reason: "failedStorage", code: refusal.code }), []]
  if (refusal.code === "INSECURE_CONTEXT")
    return [leave(model, "failed", { reason: "failedKey", code: refusal.code }), []]
  if (refusal.code === "INTENT_TOKEN_EXPIRED") return [leave(model, "expired", { code: refusal.code }), []]
  if (!refusal.retryable) {
    const reason =
      onRecord === true || mayHaveSent(model)
        ? "failedUnreported"
        : isOfKey(refusal)
          ? // A key that was taken before.
            model.context === undefined
            ? "failedKey"
            : "noticeKeyChanged"
          : "failedInvalid"
    return [leave(model, "failed", { reason, code: refusal.code }), []]
  }
  const loads = model.loads + 1
  return loads < 4
    ? [
        { ...model, loads, notice: { key: "noticeUnreachable", tone: "warning" } },
        [after(Math.max(pollDelay(loads), (refusal.retryAfter ?? 0) * 1_000), { run: "load" })]
      ]
    : [leave(model, "failed", { reason: "failedUnreachable", code: refusal.code, loads: 0 }), []]
}
