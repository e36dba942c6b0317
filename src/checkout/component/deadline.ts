// The time until which a payment waits for its money, by the service's clock, whatever the buyer's clock shows.
import { beforePayment, type Model } from "./Model.ts"
import { millisOf } from "./millisOf.ts"
import type { Translation } from "./translate.ts"

/** Below this, the seconds are counted down. */
const countdownMillis = 3_600_000

/** Milliseconds left; undefined if there is no deadline: the payment is not open, or is in progress. */
export const millisLeft = (model: Model, now: number): number | undefined => {
  const { attempt, context, payment, signed, state } = model
  if (context === undefined || payment === undefined || !beforePayment.has(state)) return undefined
  if (attempt !== undefined || signed !== undefined) return undefined
  return millisOf(payment.createdAt) + context.paymentExpirySeconds * 1_000 - (now + context.skew)
}

const two = (value: number) => String(value).padStart(2, "0")

/** `now` by the buyer's clock, which the shown time of day uses. */
export const deadlineText = ({ text, time }: Translation, left: number, now: number): string => {
  if (left > countdownMillis) return text("openUntil", { time: time(new Date(now + left).toISOString()) })
  const seconds = Math.max(0, Math.ceil(left / 1_000))
  return text("timeLeft", { time: `${Math.floor(seconds / 60)}:${two(seconds % 60)}` })
}
