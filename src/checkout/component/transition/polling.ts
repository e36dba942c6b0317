// When the checkout asks again.
import type { Command } from "../Command.ts"
import type { Model } from "../Model.ts"

/** Milliseconds until the n-th poll: from one second to ten. */
export const pollDelay = (polls: number): number => Math.min(1_000 * 1.4 ** polls, 10_000)

const longestDelay = 60_000

export const after = (millis: number, next: Command): Command => ({ run: "wait", millis, next })

export const nextPoll = (model: Model, retryAfter: number | undefined): ReadonlyArray<Command> => [
  after(
    Math.min(Math.max(pollDelay(model.polls), (retryAfter ?? 0) * 1_000), longestDelay),
    model.signed === undefined ? { run: "poll" } : { run: "relay", signed: model.signed }
  )
]
