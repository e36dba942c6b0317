// Chooses the next state of a pending payment. Most transitions end here.
import type { Attempt } from "../attempt.ts"
import type { Command, Next } from "../Command.ts"
import { beforePayment, type Model, type Notice } from "../Model.ts"
import { enter } from "./enter.ts"

export const startInquiry = (model: Model, attempt: Attempt, changes: Partial<Model> = {}): Next => [
  enter(model, "submitted", { busy: "checking", attempt, ...changes }),
  [{ run: "inquire", attempt }]
]

/** The state of a pending payment, from the known facts about wallet, chain and attempt. */
export const proceed = (model: Model, notice?: Notice): Next => {
  const { attempt, account, context } = model
  if (attempt !== undefined && attempt.hash !== null)
    return [enter(model, "submitted", { notice, polls: 0 }), [{ run: "poll" }]]
  const asks: ReadonlyArray<Command> = attempt === undefined ? [{ run: "readAttempts" }] : []
  if (account === undefined) {
    const reconnect: Notice = { key: "noticeReconnect", tone: "info" }
    return [
      enter(model, "connect", { notice: notice ?? (attempt === undefined ? undefined : reconnect) }),
      asks
    ]
  }
  // A signature may not need the wallet on the chain; this is known once the service has responded.
  const needsChain =
    attempt === undefined
      ? (model.byTransfer && !model.byCalls) || model.wantsChain
      : attempt.calls === undefined
  if (needsChain && model.chainId !== context?.chain.id)
    return [enter(model, "wrong-network", { notice }), asks]
  if (attempt !== undefined) return startInquiry(model, attempt, { missed: 0 })
  const state = model.state === "loading" ? "connect" : model.state
  return [
    enter(model, beforePayment.has(state) ? state : "review", {
      notice,
      busy: "balance",
      balance: undefined
    }),
    [{ run: "readBalance" }, ...asks]
  ]
}
