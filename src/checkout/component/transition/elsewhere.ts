// The buyer pays elsewhere: in another tab, another browser, on a phone or from an exchange.
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import { beforePayment, finalStates, type Model, type Notice } from "../Model.ts"
import type { OtherAttempt } from "../service.ts"
import { isOnPage } from "../wallets.ts"
import { leave } from "./enter.ts"
import { finalState } from "./finalState.ts"
import { after, pollDelay } from "./polling.ts"
import { proceed } from "./proceed.ts"

const maxWatchDelay = 3_000

/** Follows the payment while the buyer pays elsewhere, by phone or from an exchange. */
export const keepWatching = (model: Model): Next =>
  model.state === "connect" && (model.panel !== undefined || !model.wallets.some(isOnPage))
    ? [
        { ...model, polls: model.polls + 1 },
        [after(Math.min(pollDelay(model.polls), maxWatchDelay), { run: "readAttempts" })]
      ]
    : [model, []]

/** The number of polls for a payment that the service reports as open without an attempt: a quarter of a minute. */
const unlistedPolls = 6

/** Waits for the account's other browser. Without an account, the buyer chooses one. */
export const showOtherAttempt = (model: Model, attempt: OtherAttempt | undefined): Next => {
  if (model.account === undefined) return proceed({ ...model, epoch: model.epoch + 1 })
  if (model.step !== "announced") {
    return [
      leave(model, "confirming", { step: "announced", otherAttempt: attempt, polls: 0 }),
      [after(pollDelay(0), { run: "readAttempts" })]
    ]
  }
  const polls = model.polls + 1
  return [
    { ...model, otherAttempt: attempt ?? model.otherAttempt, polls },
    [after(pollDelay(polls), { run: "readAttempts" })]
  ]
}

/** The money is on the chain, wherever it was sent from: nothing is offered until it is confirmed or refused. */
const showReceived = (model: Model, transaction: string): Next => {
  const isNew = model.step !== "received"
  const polls = isNew ? 0 : model.polls + 1
  const changes = { received: transaction, notice: undefined, polls }
  return [
    isNew ? leave(model, "confirming", { step: "received", ...changes }) : { ...model, ...changes },
    [after(pollDelay(polls), { run: "readAttempts" })]
  ]
}

/** Another tab has prompted its wallet, or has sent. */
export const attemptSeen = (model: Model, { attempt }: MessageOf<"AttemptSeen">): Next => {
  if (finalStates.has(model.state) || model.payment === undefined) return [model, []]
  if (attempt.hash !== null) {
    return attempt.hash === model.attempt?.hash
      ? [model, []]
      : proceed({ ...model, attempt, epoch: model.epoch + 1 })
  }
  return model.state === "submitted" || model.state === "confirming"
    ? [model, []]
    : [
        leave(model, "awaiting-signature", { step: "elsewhere", attempt }),
        [{ run: "release" }, { run: "awaitLock" }]
      ]
}

export const attemptsRead = (
  model: Model,
  { account, confirming, own, others, ownIsLost = false, payment }: MessageOf<"AttemptsRead">
): Next => {
  if (finalStates.has(model.state) || model.attempt !== undefined || model.signed !== undefined)
    return [model, []]
  const ended = finalState(model, payment)
  if (ended !== undefined) return ended
  const nextModel = { ...model, payment, others, isOtherAttemptLost: ownIsLost }
  if (confirming !== undefined && (model.state === "confirming" || beforePayment.has(model.state)))
    return showReceived(nextModel, confirming)
  if (model.step === "received")
    return proceed({ ...nextModel, received: undefined, state: "review", epoch: model.epoch + 1 })
  if (account !== model.account) return [nextModel, []]
  if (account === undefined) return keepWatching(nextModel)
  const waits = model.step === "announced"
  if (own !== undefined) {
    return waits || beforePayment.has(model.state) ? showOtherAttempt(nextModel, own) : [nextModel, []]
  }
  if (!waits) return [nextModel, []]
  // A submitted signature is not listed as an attempt; only the payment shows its end.
  if (model.otherAttempt === undefined && model.polls < unlistedPolls)
    return showOtherAttempt(nextModel, undefined)
  return proceed({ ...nextModel, state: "review", epoch: model.epoch + 1 })
}

const unreachable: Notice = { key: "noticeUnreachable", tone: "warning" }

export const attemptsUnread = (model: Model): Next => {
  if (model.step === "announced") return showOtherAttempt({ ...model, notice: unreachable }, undefined)
  if (model.step !== "received") return keepWatching(model)
  const polls = model.polls + 1
  return [{ ...model, notice: unreachable, polls }, [after(pollDelay(polls), { run: "readAttempts" })]]
}
