// The rules of delivery: the bytes sent, the outcomes, and the effects of a crash, a change of the endpoint or a stop.
import { describe, expect } from "bun:test"
import { DateTime, Deferred, Effect, Exit, Layer, Logger, Metric, Option, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { verifyWebhook } from "../../src/packages/client/verifyWebhook.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { afterDelays } from "../../src/platform/workers/RetrySchedule.ts"
import { Attempts } from "../../src/webhooks/DeliveryWorker/Attempts.ts"
import { exhaustedCounter } from "../../src/webhooks/DeliveryWorker/DeliveryMetrics.ts"
import { maxWindow } from "../../src/webhooks/DeliveryWorker/EndpointPacing.ts"
import * as DeliveryWorker from "../../src/webhooks/DeliveryWorker.ts"
import { WebhookEndpoints } from "../../src/webhooks/WebhookEndpoints.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { answered } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { testEffect } from "../support/run.ts"
import { hookUrl, leaseDue, newShop, settle } from "./deliveries.ts"
import { idle, sentTo, settleDown, working, workingBy } from "./deliverySide.ts"

const now = DateTime.nowAsDate
const ok = answered(200)
const refusal = answered(500)

const deliveryOf = Effect.fnUntraced(function* (tenant: Parameters<typeof settle>[0], id: string) {
  const repo = yield* WebhookRepo
  return Option.getOrThrow(yield* repo.findDelivery(tenant, id))
})

/** A webhook server that answers once it is released. */
const holding = Effect.fnUntraced(function* (url = hookUrl, before: ReadonlyArray<typeof ok> = []) {
  const sender = yield* WebhookSenderMemory
  const go = yield* Deferred.make<void>()
  const asked = yield* Deferred.make<void>()
  const held = Effect.andThen(Deferred.succeed(asked, undefined), Effect.as(Deferred.await(go), refusal))
  const [first = held, ...others] = [...before, held, ok]
  yield* sender.script(url, [first, ...others])
  return { asked: Deferred.await(asked), letGo: Deferred.succeed(go, undefined) }
})

describe("another retry policy", () => {
  testEffect("can be swapped in as one layer: here a refused delivery fails at once", () =>
    Effect.gen(function* () {
      const sender = yield* WebhookSenderMemory
      yield* sender.script(hookUrl, [refusal])
      const { tenant } = yield* newShop(yield* now)
      const { id } = yield* settle(tenant, yield* now)
      yield* settleDown
      yield* TestClock.adjust("1 hour")
      expect((yield* deliveryOf(tenant, id)).status).toBe("failed")
      expect(yield* sender.sent).toHaveLength(1)
    }).pipe(Effect.provide(workingBy(afterDelays())))
  )
})

describe("the request of a delivery", () => {
  testEffect("has the same id and bytes in every attempt, and a new signature by the present secret", () =>
    Effect.gen(function* () {
      const sender = yield* WebhookSenderMemory
      const endpoints = yield* WebhookEndpoints
      yield* sender.script(hookUrl, [refusal])
      yield* sender.script("https://new.example.com/", [refusal])
      const { tenant, secret } = yield* newShop(yield* now)
      const { id, body } = yield* settle(tenant, yield* now)
      yield* settleDown
      const fresh = yield* endpoints.regenerateSecret(tenant)
      yield* TestClock.adjust("62 seconds")
      yield* endpoints.changeUrl(tenant, "https://new.example.com/")
      yield* TestClock.adjust("10 minutes")
      const sent = yield* sender.sent
      expect(sent.map((one) => [one.url, one.id, Buffer.from(one.body).toString()])).toEqual([
        [hookUrl, id, Buffer.from(body).toString()],
        [hookUrl, id, Buffer.from(body).toString()],
        ["https://new.example.com/", id, Buffer.from(body).toString()]
      ])
      const verifies = (index: number, by: typeof secret) =>
        Effect.promise(async () => {
          const one = sent[index]
          if (one === undefined) throw new Error("not sent")
          const at = Number(/t=(\d+)/.exec(one.headers["x-service-signature"])?.[1])
          return verifyWebhook(one.body, { ...one.headers }, Redacted.value(by), { now: at }).then(
            () => at,
            () => undefined
          )
        })
      expect(yield* verifies(0, secret)).toBe(0)
      expect(yield* verifies(0, fresh.secret)).toBeUndefined()
      expect(yield* verifies(1, secret)).toBeUndefined()
      expect(yield* verifies(1, fresh.secret)).toBeWithin(60, 63)
      expect(yield* verifies(2, fresh.secret)).toBeWithin(300, 304)
    }).pipe(Effect.provide(working))
  )
})

describe("a delivery that is leased ahead", () => {
  /**
   * Deliveries of a fast endpoint, a window of them leased ahead. `answer` releases the ones in flight; later ones
   * wait for `accept`. With `promptly`, the first and those after the window are answered by it.
   */
  const ahead = Effect.fnUntraced(function* (outcome: typeof ok, promptly?: Effect.Effect<typeof ok>) {
    const sender = yield* WebhookSenderMemory
    const { tenant } = yield* newShop(yield* now)
    // Enough for the endpoint to count as fast.
    for (let sent = 0; sent < 2 * maxWindow; sent++) yield* settle(tenant, yield* now)
    yield* settleDown
    yield* TestClock.adjust("2 seconds")
    expect(yield* sentTo(hookUrl)).toHaveLength(2 * maxWindow)
    const [answer, accept] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const held = Effect.as(Deferred.await(answer), outcome)
    const others = Array.from({ length: maxWindow - 1 }, () => held)
    const last = promptly ?? Effect.as(Deferred.await(accept), ok)
    yield* sender.script(hookUrl, [promptly ?? held, ...others, last])
    const ids: Array<string> = []
    for (let due = 0; due < 2 * maxWindow; due++) ids.push((yield* settle(tenant, yield* now)).id)
    yield* settleDown
    expect(yield* sentTo(hookUrl)).toHaveLength(3 * maxWindow)
    return {
      answer: Deferred.succeed(answer, undefined),
      accept: Deferred.succeed(accept, undefined),
      /** The number sent since it became fast. */
      sent: Effect.map(sentTo(hookUrl), (all) => all.length - 2 * maxWindow),
      deliveries: Effect.suspend(() => Effect.forEach(ids, (id) => deliveryOf(tenant, id)))
    }
  })

  testEffect("is sent when its turn comes", () =>
    Effect.gen(function* () {
      const { accept, answer, deliveries, sent } = yield* ahead(ok)
      yield* answer
      yield* TestClock.adjust(0)
      expect(yield* sent).toBe(2 * maxWindow)
      yield* accept
      yield* TestClock.adjust("1 second")
      for (const { attempts, status } of yield* deliveries)
        expect([status, attempts.length]).toEqual(["delivered", 1])
    }).pipe(Effect.provide(working))
  )

  testEffect("is released without counting an attempt if its endpoint fails in the meantime", () =>
    Effect.gen(function* () {
      const { accept, answer, deliveries, sent } = yield* ahead(refusal)
      yield* answer
      yield* TestClock.adjust("2 seconds")
      expect(yield* sent).toBe(maxWindow + 1)
      yield* accept
      yield* TestClock.adjust("20 seconds")
      const all = yield* deliveries
      expect(all.filter(({ status }) => status === "pending")).toHaveLength(maxWindow)
      for (const { attempts, status } of all)
        expect(attempts.map(({ failure }) => failure)).toEqual([status === "pending" ? "status" : null])
    }).pipe(Effect.provide(working))
  )

  testEffect("is released if it has waited longer than two seconds", () =>
    Effect.gen(function* () {
      const real = yield* WebhookRepo
      let released = 0
      const counting = WebhookRepo.of({
        ...real,
        release: (held, at) =>
          Effect.andThen(
            Effect.sync(() => (released += held.length)),
            real.release(held, at)
          )
      })
      yield* Effect.gen(function* () {
        const sender = yield* WebhookSenderMemory
        const { answer } = yield* ahead(ok, Effect.as(Effect.sleep("450 millis"), ok))
        // One slot stays prompt: the first four get it in time.
        yield* TestClock.adjust("1850 millis")
        expect([released, (yield* sender.sent).length]).toEqual([0, 3 * maxWindow + 4])
        yield* TestClock.adjust("900 millis")
        expect(released).toBe(maxWindow - 4)
        yield* answer
        yield* TestClock.adjust("1 minute")
      }).pipe(Effect.provide(DeliveryWorker.layer.pipe(Layer.provide(Layer.succeed(WebhookRepo, counting)))))
    }).pipe(Effect.provide(idle))
  )

  testEffect("is released unsent when the process stops: due at once, without an interruption", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.provide(Layer.build(DeliveryWorker.layer), scope)
      const { answer, sent } = yield* ahead(ok)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      yield* answer
      yield* TestClock.adjust("1 second")
      expect(closing.pollUnsafe()).toBeDefined()
      expect(yield* sent).toBe(maxWindow)
      const left = yield* leaseDue(yield* now, { limit: 2 * maxWindow, perEndpoint: 2 * maxWindow })
      expect(left).toHaveLength(maxWindow)
      for (const { attempt, interruptions } of left) expect([attempt, interruptions]).toEqual([1, 0])
    }).pipe(Effect.provide(idle))
  )
})

describe("crash rules", () => {
  testEffect("an interrupted attempt is sent again with the same number, and uses up none of the three", () =>
    Effect.gen(function* () {
      const sender = yield* WebhookSenderMemory
      yield* sender.script(hookUrl, [refusal])
      const { tenant } = yield* newShop(yield* now)
      const { id } = yield* settle(tenant, yield* now)
      // Three processes that die before they record anything.
      for (let crash = 0; crash < 3; crash++) {
        expect(yield* leaseDue(yield* now)).toHaveLength(1)
        yield* TestClock.adjust("30 seconds")
      }
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        expect(yield* sentTo(hookUrl)).toHaveLength(3)
        const delivery = yield* deliveryOf(tenant, id)
        expect(delivery.status).toBe("failed")
        expect(delivery.attempts.map((one) => one.number)).toEqual([1, 2, 3])
      }).pipe(Effect.provide(DeliveryWorker.layer))
    }).pipe(Effect.provide(idle))
  )

  testEffect("after five interruptions a delivery fails, unsent, with an alert in log and metric", () =>
    Effect.gen(function* () {
      const before = (yield* Metric.value(exhaustedCounter)).count
      const { tenant } = yield* newShop(yield* now)
      const { id } = yield* settle(tenant, yield* now)
      for (let crash = 0; crash < 5; crash++) {
        yield* leaseDue(yield* now)
        yield* TestClock.adjust("30 seconds")
      }
      yield* Effect.provide(settleDown, DeliveryWorker.layer)
      expect(yield* sentTo(hookUrl)).toHaveLength(0)
      expect(yield* deliveryOf(tenant, id)).toMatchObject({
        status: "failed",
        attempts: [{ number: 1, failure: "interrupted", durationMs: null }]
      })
      expect((yield* Metric.value(exhaustedCounter)).count).toBe(before + 1)
    }).pipe(Effect.provide(idle))
  )

  testEffect(
    "a delivery waits, unsent and not failed, while ENCRYPTION_KEYS lacks the key of its secret",
    () =>
      Effect.gen(function* () {
        const sender = yield* WebhookSenderMemory
        const { tenant } = yield* newShop(yield* now)
        const { id } = yield* settle(tenant, yield* now)
        const box = yield* SecretBox
        let isLacking = true
        const lacking = SecretBox.of({
          ...box,
          open: (sealed, context) =>
            isLacking
              ? Effect.die(new Error("ENCRYPTION_KEYS lacks the key `old`"))
              : box.open(sealed, context)
        })
        const worker = DeliveryWorker.layer.pipe(
          Layer.provide(Layer.fresh(Attempts.layer)),
          Layer.provide(Layer.succeed(SecretBox, lacking))
        )
        // Another delivery to the same endpoint.
        yield* settle(tenant, yield* now)
        const said: Array<unknown> = []
        const logged = Logger.layer([Logger.make(({ message }) => void said.push(message))])
        yield* Effect.gen(function* () {
          yield* TestClock.adjust("119 minutes")
          expect(yield* deliveryOf(tenant, id)).toMatchObject({
            status: "pending",
            attempts: [{ number: 1 }]
          })
          // Logged once an hour, however many deliveries there are.
          expect(JSON.stringify(said).match(/signing secret/g)).toHaveLength(2)
          isLacking = false
          yield* TestClock.adjust("1 minute")
          expect(yield* sender.sent).toHaveLength(2)
          expect(yield* deliveryOf(tenant, id)).toMatchObject({
            status: "delivered",
            attempts: [{ number: 1 }]
          })
        }).pipe(Effect.provide(Layer.provide(worker, logged)))
      }).pipe(Effect.provide(idle))
  )

  testEffect(
    "a process that froze after its lease sends nothing once its lease is too short for an attempt",
    () =>
      Effect.gen(function* () {
        const attempts = yield* Attempts
        const { tenant } = yield* newShop(yield* now)
        yield* settle(tenant, yield* now)
        const [leased] = yield* leaseDue(yield* now)
        if (leased === undefined) throw new Error("nothing was due")
        yield* TestClock.adjust("15001 millis")
        expect(yield* attempts.run(leased)).toBe(false)
        expect(yield* sentTo(hookUrl)).toHaveLength(0)
      }).pipe(Effect.provide(idle))
  )

  testEffect("an outcome survives a database outage: the webhook server gets one request", () =>
    Effect.gen(function* () {
      const real = yield* WebhookRepo
      let failures = 0
      const faulty = Layer.succeed(
        WebhookRepo,
        WebhookRepo.of({
          ...real,
          finish: (results) =>
            Effect.suspend(() =>
              failures++ < 8 ? Effect.die(new Error("the database is away")) : real.finish(results)
            )
        })
      )
      const { tenant } = yield* newShop(yield* now)
      const { id } = yield* settle(tenant, yield* now)
      const worker = DeliveryWorker.layer.pipe(
        Layer.provide(Layer.fresh(Attempts.layer)),
        Layer.provide(faulty)
      )
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        expect(failures).toBeGreaterThan(8)
        expect(yield* sentTo(hookUrl)).toHaveLength(1)
        expect((yield* deliveryOf(tenant, id)).status).toBe("delivered")
      }).pipe(Effect.provide(worker))
    }).pipe(Effect.provide(idle))
  )
})

describe("capacity", () => {
  testEffect(
    "an endpoint has capacity again once it has answered, even if its outcomes are not recorded yet",
    () =>
      Effect.gen(function* () {
        const real = yield* WebhookRepo
        const recording = yield* Deferred.make<void>()
        const slow = Layer.succeed(
          WebhookRepo,
          WebhookRepo.of({
            ...real,
            finish: (results) => Effect.andThen(Deferred.await(recording), real.finish(results))
          })
        )
        const { tenant } = yield* newShop(yield* now)
        const ids = yield* Effect.forEach(Array.from({ length: 10 }), () =>
          Effect.flatMap(now, (at) => Effect.map(settle(tenant, at), ({ id }) => id))
        )
        const worker = DeliveryWorker.layer.pipe(
          Layer.provide(Layer.fresh(Attempts.layer)),
          Layer.provide(slow)
        )
        yield* Effect.gen(function* () {
          // Each answer widens the window.
          for (let round = 0; round < 10; round++) yield* settleDown
          expect(yield* sentTo(hookUrl)).toHaveLength(10)
          expect((yield* deliveryOf(tenant, ids[0] ?? "")).status).toBe("pending")
          yield* Deferred.succeed(recording, undefined)
          yield* TestClock.adjust("1 second")
          for (const id of ids) expect((yield* deliveryOf(tenant, id)).status).toBe("delivered")
        }).pipe(Effect.provide(worker))
      }).pipe(Effect.provide(idle))
  )
})

describe("a full process", () => {
  testEffect("leases again as soon as outcomes are recorded, not at the next poll", () =>
    Effect.gen(function* () {
      const real = yield* WebhookRepo
      const recording = yield* Deferred.make<void>()
      const slow = Layer.succeed(
        WebhookRepo,
        WebhookRepo.of({
          ...real,
          finish: (results) => Effect.andThen(Deferred.await(recording), real.finish(results))
        })
      )
      // 1,024 attempts may run at once; 260 endpoints with four deliveries are a few more.
      for (let shop = 0; shop < 260; shop++) {
        const { tenant } = yield* newShop(yield* now)
        for (let count = 0; count < 4; count++) yield* settle(tenant, yield* now)
      }
      const worker = DeliveryWorker.layer.pipe(
        Layer.provide(Layer.fresh(Attempts.layer)),
        Layer.provide(slow)
      )
      yield* Effect.gen(function* () {
        for (let round = 0; round < 20; round++) yield* settleDown
        expect(yield* sentTo(hookUrl)).toHaveLength(1024)
        yield* Deferred.succeed(recording, undefined)
        yield* TestClock.adjust("10 millis")
        const sentAtOnce = (yield* sentTo(hookUrl)).length
        // Running attempts are recorded, so that the worker's scope can close.
        yield* TestClock.adjust("2 seconds")
        expect(sentAtOnce).toBeGreaterThan(1024)
      }).pipe(Effect.provide(worker))
    }).pipe(Effect.provide(idle))
  )
})

describe("stop", () => {
  testEffect("stops leasing, lets running attempts finish, and records them", () =>
    Effect.gen(function* () {
      const { asked, letGo } = yield* holding()
      const scope = yield* Scope.make()
      yield* Scope.provide(Layer.build(DeliveryWorker.layer), scope)
      const { tenant } = yield* newShop(yield* now)
      const running = yield* settle(tenant, yield* now)
      yield* settleDown
      yield* asked
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      const waiting = yield* settle(tenant, yield* now)
      yield* TestClock.adjust("2 seconds")
      expect(closing.pollUnsafe()).toBeUndefined()
      yield* letGo
      yield* TestClock.adjust("1 second")
      expect(closing.pollUnsafe()).toBeDefined()
      expect((yield* deliveryOf(tenant, running.id)).attempts).toMatchObject([{ responseStatus: 500 }])
      expect((yield* deliveryOf(tenant, waiting.id)).attempts).toEqual([])
      expect(yield* sentTo(hookUrl)).toHaveLength(1)
    }).pipe(Effect.provide(idle))
  )

  testEffect("releases attempts that do not finish in 20 seconds: due at once, without an interruption", () =>
    Effect.gen(function* () {
      const { asked } = yield* holding()
      const scope = yield* Scope.make()
      yield* Scope.provide(Layer.build(DeliveryWorker.layer), scope)
      const { tenant } = yield* newShop(yield* now)
      yield* settle(tenant, yield* now)
      yield* settleDown
      yield* asked
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("19900 millis")
      expect(closing.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("200 millis")
      expect(closing.pollUnsafe()).toBeDefined()
      const [leased] = yield* leaseDue(yield* now, { limit: 1 })
      expect(leased).toMatchObject({ attempt: 1, interruptions: 0 })
    }).pipe(Effect.provide(idle))
  )
})
