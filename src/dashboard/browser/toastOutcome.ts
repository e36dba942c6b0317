// The toast after an attempt that a person requested.
import type { DeliveryView } from "../../webhooks/Api.ts"
import { toast } from "./toasts.ts"
import { outcomeWords } from "./words.ts"

export interface AttemptedDelivery {
  readonly delivery: typeof DeliveryView.Encoded
}

export const toastOutcome = (what: string, { attempts }: AttemptedDelivery["delivery"]): void => {
  const last = attempts.at(-1)
  if (last === undefined) return
  // Not the delivery's status: a resend that fails does not undo an earlier delivery.
  if (last.failure === undefined) toast(`${what} delivered (${outcomeWords(last)})`)
  else toast(`${what} failed: ${outcomeWords(last)}`, "bad")
}
