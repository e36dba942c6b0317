// Decides whether the account has enough USDC and gas.
import type { Next } from "../Command.ts"
import { atomicAmount, type Model, maySend, type Notice, pays } from "../Model.ts"
import { tokenNotice } from "../refusalNotice.ts"
import { type Balance, concernsKey, type ServiceRefusal } from "../service.ts"
import { enter } from "./enter.ts"
import { keyChanged } from "./finalState.ts"
import { withWarning } from "./notices.ts"

/** An unknown balance is left to the wallet. */
export const judgeBalance = (model: Model, balance: Balance | undefined, notice?: Notice): Next => {
  const enough = balance === undefined || balance.usdcAtomic >= atomicAmount(model)
  const signs = pays(model) === "by signature"
  const changes = { balance, notice: notice ?? model.notice }
  // A contract wallet pays its fee in its own way.
  if (!enough || !(signs || model.byCalls || balance?.gasWei !== 0n))
    // Funds that have arrived and do not suffice are no success.
    return [enter(model, "needs-funds", { balance, notice: model.notice }), []]
  return [enter(model, signs || maySend(model) ? "review" : "wrong-network", changes), []]
}

export const fundingFailed = (model: Model, refusal: ServiceRefusal): Next => {
  const { code, retryAfter } = refusal
  if (code === "FAUCET_LIMIT_REACHED")
    return [
      withWarning(model, "noticeFaucetLimit", { minutes: String(Math.ceil((retryAfter ?? 60) / 60)) }),
      []
    ]
  if (concernsKey(refusal)) return [withWarning(model, keyChanged(model)), []]
  return [withWarning(model, code === "INVALID_BUYER_TOKEN" ? tokenNotice(refusal) : "noticeFaucetDown"), []]
}
