import { atomicAmount } from "../Model.ts"
import type { Pieces } from "./pieces.ts"

/** Longer than a buyer waits before a page without wondering. */
const longSeconds = 60
/** Later than this, or twice what the amount takes, something else holds the payment up. */
const lateSeconds = 180

/** For so long at least the page has asked: `pollDelay` grows to ten seconds within the first eight polls. */
const secondsAsked = (polls: number) => Math.max(0, polls - 7) * 10

/** Says how long it takes where that is longer than a few seconds, and what to do where it takes longer still. */
export const confirmingText = ({ model, t }: Pick<Pieces, "model" | "t">): string => {
  const { chain, settlement = [] } = model.context ?? {}
  if (chain?.haltedSince !== undefined) return t("haltedText", { network: chain.name })
  const level = settlement.find(({ upTo }) => upTo === undefined || atomicAmount(model) <= BigInt(upTo))
  if (secondsAsked(model.polls) > Math.max(lateSeconds, 2 * (level?.seconds ?? 0)))
    return t("confirmingLateText")
  return chain === undefined || level === undefined || level.seconds < longSeconds
    ? t("confirmingText")
    : t("confirmingLongText", { network: chain.name, minutes: String(Math.round(level.seconds / 60)) })
}
