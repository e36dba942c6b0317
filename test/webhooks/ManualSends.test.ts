// Test sends and resends: sent like every delivery, before the answer, ten a minute.
import { describe, expect } from "bun:test"
import { DateTime, Deferred, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { WebhookEndpoints } from "../../src/webhooks/WebhookEndpoints.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { answered, failed } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { testEffect } from "../support/run.ts"
import { hookUrl, newShop, newTenant, settle } from "./deliveries.ts"
import { sentTo, settleDown, working } from "./deliverySide.ts"

const now = DateTime.nowAsDate

describe("test send", () => {
  testEffect("answers after the first attempt; the other attempts follow the schedule", () =>
    Effect.gen(function* () {
      const endpoints = yield* WebhookEndpoints
      const sender = yield* WebhookSenderMemory
      yield* sender.script(hookUrl, [failed("timeout", 7), answered(200)])
      const { tenant } = yield* newShop(yield* now)
      const { delivery, endpoint } = yield* endpoints.sendTest(tenant)
      expect(delivery).toMatchObject({
        type: "test",
        status: "pending",
        attempts: [{ number: 1, manual: true, durationMs: 7, responseStatus: null, failure: "timeout" }]
      })
      expect(endpoint).toMatchObject({ health: "failing", listening: false })
      const [sent] = yield* sentTo(hookUrl)
      const payload: unknown = JSON.parse(new TextDecoder().decode(sent?.body))
      expect(payload).toEqual({ id: delivery.id, type: "test", livemode: false })
      yield* TestClock.adjust("59 seconds")
      expect(yield* sentTo(hookUrl)).toHaveLength(1)
      yield* TestClock.adjust("2 seconds")
      expect(yield* sentTo(hookUrl)).toHaveLength(2)
      const repo = yield* WebhookRepo
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, delivery.id)).status).toBe("delivered")
    }).pipe(Effect.provide(working))
  )

  testEffect("verifies the endpoint when it accepts, and needs an endpoint", () =>
    Effect.gen(function* () {
      const endpoints = yield* WebhookEndpoints
      const { tenant } = yield* newShop(yield* now)
      const { endpoint } = yield* endpoints.sendTest(tenant)
      expect(endpoint).toMatchObject({ health: "healthy", listening: true, verifiedAt: yield* now })
      const refusal = yield* Effect.flip(endpoints.sendTest(yield* newTenant))
      expect(refusal.code).toBe("WEBHOOK_ENDPOINT_NOT_FOUND")
    }).pipe(Effect.provide(working))
  )

  testEffect("completes even if the caller hangs up", () =>
    Effect.gen(function* () {
      const endpoints = yield* WebhookEndpoints
      const sender = yield* WebhookSenderMemory
      const go = yield* Deferred.make<void>()
      yield* sender.script(hookUrl, [Effect.as(Deferred.await(go), answered(200))])
      const { tenant } = yield* newShop(yield* now)
      const caller = yield* Effect.forkChild(endpoints.sendTest(tenant))
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(caller)
      yield* Deferred.succeed(go, undefined)
      yield* TestClock.adjust("1 hour")
      expect(yield* sentTo(hookUrl)).toHaveLength(1)
      const repo = yield* WebhookRepo
      expect(yield* repo.listDeliveries(tenant, 10)).toMatchObject([{ status: "delivered" }])
    }).pipe(Effect.provide(working))
  )
})

describe("resend", () => {
  testEffect("sends the same id and bytes once more, without retries", () =>
    Effect.gen(function* () {
      const endpoints = yield* WebhookEndpoints
      const sender = yield* WebhookSenderMemory
      yield* sender.script(hookUrl, [answered(500)])
      const { tenant } = yield* newShop(yield* now)
      const { id, body } = yield* settle(tenant, yield* now)
      expect(yield* endpoints.resend(tenant, id)).toEqual(Option.none())
      yield* TestClock.adjust("10 minutes")
      expect(yield* sentTo(hookUrl)).toHaveLength(3)
      const failedAgain = Option.getOrThrow(yield* endpoints.resend(tenant, id))
      expect(failedAgain).toMatchObject({ status: "failed" })
      expect(failedAgain.attempts.map((one) => [one.number, one.manual])).toEqual([
        [1, false],
        [2, false],
        [3, false],
        [4, true]
      ])
      yield* TestClock.adjust("1 hour")
      expect(yield* sentTo(hookUrl)).toHaveLength(4)
      yield* sender.script(hookUrl, [answered(200), answered(500)])
      expect(Option.getOrThrow(yield* endpoints.resend(tenant, id)).status).toBe("delivered")
      // A delivered event stays delivered.
      expect(Option.getOrThrow(yield* endpoints.resend(tenant, id)).status).toBe("delivered")
      const sent = yield* sentTo(hookUrl)
      expect(sent).toHaveLength(6)
      expect(new Set(sent.map((one) => `${one.id} ${Buffer.from(one.body).toString("hex")}`))).toEqual(
        new Set([`${id} ${Buffer.from(body).toString("hex")}`])
      )
    }).pipe(Effect.provide(working))
  )
})

testEffect("a failed resend is not retried, however few attempts came before", () =>
  Effect.gen(function* () {
    const endpoints = yield* WebhookEndpoints
    const sender = yield* WebhookSenderMemory
    yield* sender.script(hookUrl, [answered(200), answered(500)])
    const { tenant } = yield* newShop(yield* now)
    const { id } = yield* settle(tenant, yield* now)
    yield* settleDown
    const resent = Option.getOrThrow(yield* endpoints.resend(tenant, id))
    expect(resent.attempts).toMatchObject([{ responseStatus: 200 }, { responseStatus: 500, manual: true }])
    yield* TestClock.adjust("1 hour")
    expect(yield* sentTo(hookUrl)).toHaveLength(2)
  }).pipe(Effect.provide(working))
)

testEffect("ten manual sends at once, then one every six seconds, for each merchant and environment", () =>
  Effect.gen(function* () {
    const endpoints = yield* WebhookEndpoints
    const { tenant } = yield* newShop(yield* now)
    const { id } = yield* settle(tenant, yield* now)
    yield* settleDown
    for (let sends = 0; sends < 5; sends++) {
      yield* endpoints.sendTest(tenant)
      yield* endpoints.resend(tenant, id)
    }
    const refused = yield* Effect.flip(endpoints.sendTest(tenant))
    if (refused.code !== "RATE_LIMITED") throw new Error("not limited")
    expect((yield* Effect.flip(endpoints.resend(tenant, id))).code).toBe("RATE_LIMITED")
    const other = yield* newShop(yield* now)
    yield* endpoints.sendTest(other.tenant)
    // The announced wait is exact.
    yield* TestClock.adjust((refused.retryAfter ?? 0) * 1000)
    yield* endpoints.sendTest(tenant)
    expect((yield* Effect.flip(endpoints.sendTest(tenant))).code).toBe("RATE_LIMITED")
  }).pipe(Effect.provide(working))
)
