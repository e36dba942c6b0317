import { atomicAmount } from "../Model.ts"
import type { Pieces } from "./pieces.ts"

/** Longer than a buyer waits before a page without wondering. */
const longSeconds = 60

/** Says how long it takes where that is longer than a few seconds: it depends on network and amount. */
export const confirmingText = ({ model, t }: Pick<Pieces, "model" | "t">): string => {
  const { chain, settlement = [] } = model.context ?? {}
  const level = settlement.find(({ upTo }) => upTo === undefined || atomicAmount(model) <= BigInt(upTo))
  return chain === undefined || level === undefined || level.seconds < longSeconds
    ? t("confirmingText")
    : t("confirmingLongText", { network: chain.name, minutes: String(Math.round(level.seconds / 60)) })
}
