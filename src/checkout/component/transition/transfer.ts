// Transitions after the wallet was prompted for the transfer.
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import { finalStates, type Model, maySend, type Notice } from "../Model.ts"
import { leave } from "./enter.ts"
import { keyChanged } from "./finalState.ts"
import { proceed } from "./proceed.ts"

export const askForTransfer = (model: Model): Model =>
  leave(model, "awaiting-signature", { step: model.identified ? "transfer" : "identity" })

export const notSent = (model: Model, message: MessageOf<"NotSent">): Next => {
  // An older request's refusal does not undo what a newer one sent.
  if (finalStates.has(model.state) || model.attempt?.hash != null) return [model, []]
  const next = {
    ...model,
    attempt: undefined,
    chainId: message.chainId ?? model.chainId,
    // If a wallet refuses calls, a transaction is requested from it.
    byCalls: model.byCalls && message.notice !== "noticeUnauthorized"
  }
  const key = message.notice === "noticeKeyChanged" ? keyChanged(model) : message.notice
  const notice: Notice = { key, tone: "warning" }
  // The account may be new, or its balance may have changed since.
  const isKnown = next.balance !== undefined && message.notice !== "fundsTitle"
  if (isKnown && maySend(next)) return [leave(next, "review", { notice }), []]
  return proceed({ ...next, state: "review", epoch: model.epoch + 1 }, notice)
}
