// Explains how long a confirmation takes, and when it takes longer than usual.
import { atomicAmount } from "../Model.ts"
import type { Pieces } from "./pieces.ts"

/** After this time a buyer expects an explanation. */
const longSeconds = 60
/** After this time, or twice the amount's usual time, something else delays the payment. */
const lateSeconds = 180

/** The least time that the page has polled: `pollDelay` grows to ten seconds within the first eight polls. */
const secondsPolled = (polls: number) => Math.max(0, polls - 7) * 10

/** States the duration if it is a minute or more, and what to do if the confirmation takes even longer. */
export const confirmingText = ({ model, t }: Pick<Pieces, "model" | "t">): string => {
  const { chain, settlement = [] } = model.context ?? {}
  if (chain?.haltedSince !== undefined) return t("haltedText", { network: chain.name })
  const level = settlement.find(({ upTo }) => upTo === undefined || atomicAmount(model) <= BigInt(upTo))
  if (secondsPolled(model.polls) > Math.max(lateSeconds, 2 * (level?.seconds ?? 0)))
    return t("confirmingLateText")
  return chain === undefined || level === undefined || level.seconds < longSeconds
    ? t("confirmingText")
    : t("confirmingLongText", { network: chain.name, minutes: String(Math.round(level.seconds / 60)) })
}
