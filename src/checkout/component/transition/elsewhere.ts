// The buyer pays elsewhere: in another tab, another browser, on a phone or from an exchange.
import type { Next } from "../Command.ts"
import type { MessageOf } from "../Message.ts"
import { beforePayment, finals, type Model } from "../Model.ts"
import type { KnownAttempt } from "../service.ts"
import { isOnPage } from "../wallets.ts"
import { decided } from "./decided.ts"
import { leave } from "./enter.ts"
import { after, pollDelay } from "./polling.ts"
import { proceed } from "./proceed.ts"

const longestWatch = 3_000

/** While the buyer pays elsewhere, by a phone or from an exchange, the page follows the payment. */
export const watching = (model: Model): Next =>
  model.state === "connect" && (model.panel !== undefined || !model.wallets.some(isOnPage))
    ? [
        { ...model, polls: model.polls + 1 },
        [after(Math.min(pollDelay(model.polls), longestWatch), { run: "readAttempts" })]
      ]
    : [model, []]

/** Looks at a payment that the service calls open although no attempt is listed: for a quarter of a minute. */
const unlistedPolls = 6

/** Waits for what the account's other browser does; whose account has gone chooses one. */
export const announced = (model: Model, known: KnownAttempt | undefined): Next => {
  if (model.account === undefined) return proceed({ ...model, epoch: model.epoch + 1 })
  if (model.step !== "announced") {
    return [
      leave(model, "confirming", { step: "announced", known, polls: 0 }),
      [after(pollDelay(0), { run: "readAttempts" })]
    ]
  }
  const polls = model.polls + 1
  return [
    { ...model, known: known ?? model.known, polls },
    [after(pollDelay(polls), { run: "readAttempts" })]
  ]
}

/** Another tab has asked its wallet, or has sent. */
export const attemptSeen = (model: Model, { attempt }: MessageOf<"AttemptSeen">): Next => {
  if (finals.has(model.state) || model.payment === undefined) return [model, []]
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
  { account, own, others, ownIsLost = false, payment }: MessageOf<"AttemptsRead">
): Next => {
  if (finals.has(model.state) || model.attempt !== undefined || model.signed !== undefined) return [model, []]
  const done = decided(model, payment)
  if (done !== undefined) return done
  const read = { ...model, payment, others, knownIsLost: ownIsLost }
  if (account !== model.account) return [read, []]
  if (account === undefined) return watching(read)
  const waits = model.step === "announced"
  if (own !== undefined) {
    return waits || beforePayment.has(model.state) ? announced(read, own) : [read, []]
  }
  if (!waits) return [read, []]
  // A signature on its way is in no list: the payment itself says when it is over.
  if (model.known === undefined && model.polls < unlistedPolls) return announced(read, undefined)
  return proceed({ ...read, state: "review", epoch: model.epoch + 1 })
}

export const attemptsUnread = (model: Model): Next =>
  model.step === "announced"
    ? announced({ ...model, notice: { key: "noticeUnreachable", tone: "warning" } }, undefined)
    : watching(model)
