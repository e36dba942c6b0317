// The delivery side in memory, from settlement to a scripted webhook server, for tests under TestClock.
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { EgressPolicy } from "../../src/platform/egress/EgressPolicy.ts"
import { RateLimiter } from "../../src/platform/limits/RateLimiter.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { afterDelays, type RetrySchedule } from "../../src/platform/workers/RetrySchedule.ts"
import { DeliveryWake } from "../../src/webhooks/DeliveryWake.ts"
import { Attempts } from "../../src/webhooks/DeliveryWorker/Attempts.ts"
import * as DeliveryWorker from "../../src/webhooks/DeliveryWorker.ts"
import { RetryPolicy } from "../../src/webhooks/RetryPolicy.ts"
import { WebhookEndpoints } from "../../src/webhooks/WebhookEndpoints.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { WebhookSender, WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { testConfig } from "../support/memory.ts"

const policy = EgressPolicy.layerOf({ ownHosts: ["localhost"], allowedHosts: [] })

/** The layers besides the repositories; the same in memory and on a database. */
export const besideRepos = Layer.mergeAll(
  WebhookSender.layerMemory,
  DeliveryWake.layerLocal,
  RateLimiter.layerMemory,
  policy,
  SecretBox.layer.pipe(Layer.provide(testConfig()))
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))

const idleBy = (schedule: RetrySchedule) =>
  Layer.merge(Attempts.layer, WebhookEndpoints.layer.pipe(Layer.provide(Attempts.layer))).pipe(
    Layer.provideMerge(Layer.succeed(RetryPolicy, schedule)),
    Layer.provideMerge(Layer.mergeAll(PaymentRepo.layerMemory, KeyAuth.layerMemory)),
    Layer.provideMerge(WebhookRepo.layerMemory),
    Layer.provideMerge(besideRepos)
  )

/** Everything, with the worker running. */
export const workingBy = (schedule: RetrySchedule) =>
  DeliveryWorker.layer.pipe(Layer.provideMerge(idleBy(schedule)))

/** The schedule that these tests rely on, whatever the default is. */
const schedule = afterDelays("1 minute", "4 minutes")
/** Everything but the worker. */
export const idle = idleBy(schedule)
export const working = workingBy(schedule)

/** Lets the worker see new rows: one poll, without moving the clock past it. */
export const settleDown = Effect.gen(function* () {
  const wake = yield* DeliveryWake
  yield* wake.signal
  yield* TestClock.adjust(0)
})

export const sentTo = (url: string) =>
  Effect.flatMap(WebhookSenderMemory, (sender) =>
    Effect.map(sender.sent, (all) => all.filter((one) => one.url === url))
  )
