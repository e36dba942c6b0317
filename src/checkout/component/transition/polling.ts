// The times at which the checkout polls again.
import type { Command, Next } from "../Command.ts"
import type { Model } from "../Model.ts"
import type { ServiceRefusal } from "../service.ts"
import type { MessageKey } from "../translate.ts"

/** Milliseconds until the n-th poll: from one second to ten. */
export const pollDelay = (polls: number): number => Math.min(1_000 * 1.4 ** polls, 10_000)

const maxDelay = 60_000

export const after = (millis: number, next: Command): Command => ({ run: "wait", millis, next })

export const nextPoll = (model: Model, retryAfter: number | undefined): ReadonlyArray<Command> => [
  after(
    Math.min(Math.max(pollDelay(model.polls), (retryAfter ?? 0) * 1_000), maxDelay),
    model.signed === undefined ? { run: "poll" } : { run: "relay", signed: model.signed }
  )
]

const silence: Readonly<Record<string, MessageKey>> = {
  NETWORK: "noticeOffline",
  CHAIN_UNAVAILABLE: "noticeChainDown"
}

/** There is no verdict yet: shows the reason, and polls again. */
export const unanswered = (model: Model, { code, retryAfter }: ServiceRefusal): Next => [
  {
    ...model,
    polls: model.polls + 1,
    notice: { key: silence[code] ?? "noticeUnreachable", tone: "warning" }
  },
  nextPoll(model, retryAfter)
]
