// Ends the checkout of a payment that has settled or failed, and forgets what the browser stored for it.
import type { Command, Next } from "../Command.ts"
import type { Model } from "../Model.ts"
import type { CheckoutPayment } from "../service.ts"
import type { MessageKey } from "../translate.ts"
import { leave } from "./enter.ts"

export const forgetCommands = (
  { attempt, signed }: Model,
  run: "forget" | "giveUp" = "forget"
): ReadonlyArray<Command> => [
  ...(attempt === undefined ? [] : [{ run, attempt } as const]),
  ...(signed === undefined ? [] : [{ run: "forgetSigned" } as const])
]

/** True if money may have been sent for it, by this browser or from elsewhere. */
export const mayHaveSent = ({ addressShown, attempt, received, signed }: Model): boolean =>
  attempt !== undefined || signed !== undefined || received !== undefined || addressShown

/** The notice if the service accepted the shop's key when the page was opened, and refuses it now. */
export const keyChanged = (model: Model): MessageKey =>
  mayHaveSent(model) ? "failedUnreported" : "noticeKeyChanged"

/** The state of a payment that is no longer pending; undefined if it is pending. */
export const finalState = (model: Model, payment: CheckoutPayment): Next | undefined => {
  if (payment.status === "settled")
    return [
      leave(model, "settled", { payment, attempt: undefined, signed: undefined }),
      forgetCommands(model)
    ]
  if (payment.status === "failed") {
    // If money may have been sent anyway, the text says whom to contact.
    return payment.failureReason === "expired" && !mayHaveSent(model)
      ? [leave(model, "expired", { payment }), []]
      : [leave(model, "failed", { payment, reason: "failedUnverified", code: "PAYMENT_FAILED" }), []]
  }
  return undefined
}
