// The account that pays, and its wallet's chain.
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import { beforePayment, type Model } from "../Model.ts"
import { proceed } from "./proceed.ts"

/** Another account may pay in another way. */
export const initialWay = { terms: undefined, byTransfer: false, byCalls: false, wantsChain: false } as const

/** The attempt is looked up on the chain, which requires the buyer's wallet. */
const isLookingUp = ({ attempt, busy, step }: Model): boolean =>
  attempt?.hash === null && (busy === "checking" || step === "unsure")

export const onConnected = (
  model: Model,
  { account, chainId, walletId, identified }: MessageOf<"Connected">
): Next => {
  const next = { ...model, account, chainId, walletId, identified, panel: undefined, pairingUri: undefined }
  if (beforePayment.has(model.state)) return proceed(next)
  // A payment in progress does not wait for its wallet, unless the wallet is needed to look for its transfer.
  return isLookingUp(model) ? proceed({ ...next, epoch: model.epoch + 1 }) : [next, []]
}

export const accountsChanged = (
  model: Model,
  { account, identified }: MessageOf<"AccountsChanged">
): Next => {
  if (account === model.account) return [model, []]
  const changed = { ...model, account, identified, balance: undefined, ...initialWay }
  if (model.step === "announced") {
    return proceed({ ...changed, state: "review", epoch: model.epoch + 1 })
  }
  const interrupted = model.state === "awaiting-signature" && model.step === "identity"
  if (isLookingUp(model)) return proceed({ ...changed, epoch: model.epoch + 1 })
  if (!interrupted && !beforePayment.has(model.state)) return [changed, []]
  const key = account === undefined ? "noticeDisconnected" : "noticeAccountChanged"
  const [next, commands] = proceed(
    { ...changed, epoch: model.epoch + 1, state: interrupted ? "review" : model.state },
    { key, tone: "warning" }
  )
  return [next, [{ run: "release" }, ...commands]]
}

export const chainChanged = (model: Model, { chainId }: MessageOf<"ChainChanged">): Next => {
  if (chainId === model.chainId) return [model, []]
  if (isLookingUp(model)) return proceed({ ...model, chainId, epoch: model.epoch + 1 })
  if (!beforePayment.has(model.state) || model.account === undefined) return [{ ...model, chainId }, []]
  return proceed({ ...model, chainId, epoch: model.epoch + 1 })
}
