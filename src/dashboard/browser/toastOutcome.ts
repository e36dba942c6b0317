// The toast after an attempt that a person requested.
import type { DeliveryView } from "../../webhooks/Api.ts"
import { toast } from "./toasts.ts"
import { outcomeWords } from "./words.ts"

export interface AttemptedDelivery {
  readonly delivery: typeof DeliveryView.Encoded
}

export const toastOutcome = (what: string, { attempts, status }: AttemptedDelivery["delivery"]): void => {
  const last = attempts.at(-1)
  const outcome = last === undefined ? "nothing was sent" : outcomeWords(last)
  if (status === "delivered") toast(`${what} delivered (${outcome})`)
  else toast(`${what} failed: ${outcome}`, "bad")
}
