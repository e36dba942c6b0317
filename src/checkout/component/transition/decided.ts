import type { Command, Next } from "../Command.ts"
import type { Model } from "../Model.ts"
import type { CheckoutPayment } from "../service.ts"
import { leave } from "./enter.ts"

export const forgetting = (
  { attempt, signed }: Model,
  run: "forget" | "giveUp" = "forget"
): ReadonlyArray<Command> => [
  ...(attempt === undefined ? [] : [{ run, attempt } as const]),
  ...(signed === undefined ? [] : [{ run: "forgetSigned" } as const])
]

/** The state of a payment that is not pending any more; undefined where it is. */
export const decided = (model: Model, payment: CheckoutPayment): Next | undefined => {
  if (payment.status === "settled")
    return [leave(model, "settled", { payment, attempt: undefined, signed: undefined }), forgetting(model)]
  if (payment.status === "failed") {
    // Money may have been sent for it all the same: the buyer is told whom to ask.
    const mayHaveSent = model.attempt !== undefined || model.signed !== undefined || model.addressShown
    return payment.failureReason === "expired" && !mayHaveSent
      ? [leave(model, "expired", { payment }), []]
      : [leave(model, "failed", { payment, reason: "failedUnverified", code: "PAYMENT_FAILED" }), []]
  }
  return undefined
}
