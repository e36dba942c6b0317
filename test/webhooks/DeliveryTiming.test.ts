// The times of attempts, to the millisecond: exactly three, at once, a minute after the first ended and four minutes
// after the second ended.
import { describe, expect } from "bun:test"
import { Clock, DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { answered, failed, type SendOutcome } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { testEffect } from "../support/run.ts"
import { hookUrl, newShop, settle } from "./deliveries.ts"
import { settleDown, working } from "./deliverySide.ts"

const now = DateTime.nowAsDate

/** Returns the given outcomes, each after its duration, and records when each request arrived. */
const receiver = (outcomes: ReadonlyArray<{ readonly after: number; readonly outcome: SendOutcome }>) =>
  Effect.gen(function* () {
    const sender = yield* WebhookSenderMemory
    const requests: Array<number> = []
    const [first, ...others] = outcomes.map(({ after, outcome }) =>
      Effect.gen(function* () {
        requests.push(yield* Clock.currentTimeMillis)
        yield* Effect.sleep(after)
        return { ...outcome, durationMs: after }
      })
    )
    if (first === undefined) throw new Error("no outcome")
    yield* sender.script(hookUrl, [first, ...others])
    return requests
  })

/** Moves the clock to `at`, and lets a poll, at most a second away, happen there. */
const until = (at: number) =>
  Effect.flatMap(Clock.currentTimeMillis, (time) => Effect.andThen(TestClock.adjust(at - time), settleDown))

const refusals: ReadonlyArray<SendOutcome> = [
  ...[100, 199, 300, 301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 503].map((status) => answered(status)),
  ...(["dns", "blocked", "connect", "tls", "timeout", "response"] as const).map((failure) => failed(failure))
]

describe("attempts", () => {
  for (const [index, outcome] of refusals.entries()) {
    const name = outcome._tag === "Answered" ? `answered ${outcome.status}` : outcome.failure
    testEffect(`exactly three, none early, after ${name}`, () =>
      Effect.gen(function* () {
        const durations: readonly [number, number, number] = [(index * 711) % 15_000, 15_000, 3]
        const requests = yield* receiver(durations.map((after) => ({ after, outcome })))
        const { tenant } = yield* newShop(yield* now)
        const { id } = yield* settle(tenant, yield* now)
        const first = yield* Clock.currentTimeMillis
        yield* settleDown
        expect(requests).toEqual([first])
        const second = first + durations[0] + 60_000
        yield* until(first + durations[0])
        yield* until(second - 1)
        expect(requests).toHaveLength(1)
        yield* until(second)
        expect(requests).toEqual([first, second])
        const third = second + durations[1] + 240_000
        yield* until(second + durations[1])
        yield* until(third - 1)
        expect(requests).toHaveLength(2)
        yield* until(third)
        expect(requests).toEqual([first, second, third])
        yield* TestClock.adjust("20 minutes")
        expect(requests).toHaveLength(3)
        const repo = yield* WebhookRepo
        const delivery = Option.getOrThrow(yield* repo.findDelivery(tenant, id))
        expect(delivery.status).toBe("failed")
        expect(delivery.attempts.map((one) => one.startedAt.getTime())).toEqual([first, second, third])
        expect(delivery.attempts.map((one) => one.durationMs)).toEqual([...durations])
      }).pipe(Effect.provide(working))
    )
  }

  for (const accepts of [1, 2, 3]) {
    for (const status of [200, 201, 204, 299]) {
      testEffect(`none after attempt ${accepts} was answered ${status}`, () =>
        Effect.gen(function* () {
          const refusing = Array.from({ length: accepts - 1 }, () => ({ after: 5, outcome: answered(500) }))
          const requests = yield* receiver([...refusing, { after: 5, outcome: answered(status) }])
          const { tenant } = yield* newShop(yield* now)
          const { id } = yield* settle(tenant, yield* now)
          yield* TestClock.adjust("20 minutes")
          expect(requests).toHaveLength(accepts)
          const repo = yield* WebhookRepo
          expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id)).status).toBe("delivered")
        }).pipe(Effect.provide(working))
      )
    }
  }

  testEffect("polling alone is late by at most a second", () =>
    Effect.gen(function* () {
      const requests = yield* receiver([{ after: 0, outcome: answered(500) }])
      const { tenant } = yield* newShop(yield* now)
      yield* TestClock.adjust(333)
      yield* settle(tenant, yield* now)
      yield* TestClock.adjust("10 minutes")
      const [first = 0, second = 0, third = 0] = requests
      expect(first - 333).toBeLessThanOrEqual(1_000)
      expect(second - first - 60_000).toBeGreaterThanOrEqual(0)
      expect(second - first - 60_000).toBeLessThanOrEqual(1_000)
      expect(third - second - 240_000).toBeGreaterThanOrEqual(0)
      expect(third - second - 240_000).toBeLessThanOrEqual(1_000)
      expect(requests).toHaveLength(3)
    }).pipe(Effect.provide(working))
  )
})
