// The supervised fiber that sends what is due. Polling alone keeps the promise;
// a wake-up only makes it prompt.
import { Clock, DateTime, Effect, Fiber, FiberSet, Layer, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Tenant } from "../payments/PaymentRepo.ts"
import { Attempts, leaseSeconds } from "./Attempts.ts"
import { DeliveryWake } from "./DeliveryWake.ts"
import { type ClaimedDelivery, WebhookRepo } from "./WebhookRepo.ts"

/** Attempts in flight, overall and to one endpoint: a dead receiver starves nobody. */
const maxInFlight = 512
const maxPerEndpoint = 8
const batchSize = 64

const tenantKey = (tenant: Tenant) => `${tenant.merchantId} ${tenant.env}`

const make = Effect.gen(function* () {
  const repo = yield* WebhookRepo
  const attempts = yield* Attempts
  const wake = yield* DeliveryWake
  const random = yield* SecureRandom.SecureRandom
  const running = new Map<string, ClaimedDelivery>()
  const perTenant = new Map<string, { readonly tenant: Tenant; count: number }>()

  const enter = (claimed: ClaimedDelivery) => {
    running.set(claimed.id, claimed)
    const entry = perTenant.get(tenantKey(claimed)) ?? { tenant: claimed, count: 0 }
    entry.count++
    perTenant.set(tenantKey(claimed), entry)
  }
  const leave = (claimed: ClaimedDelivery) => {
    running.delete(claimed.id)
    const entry = perTenant.get(tenantKey(claimed))
    if (entry !== undefined && --entry.count <= 0) perTenant.delete(tenantKey(claimed))
  }

  const fibers = yield* FiberSet.make<void>()
  const start = (claimed: ClaimedDelivery) =>
    Effect.suspend(() => {
      enter(claimed)
      return FiberSet.run(
        fibers,
        attempts.make(claimed).pipe(
          Effect.catchCause((cause) =>
            // The lease runs out and the attempt is made again under its number.
            Effect.logError("A webhook attempt broke off", cause)
          ),
          Effect.ensuring(Effect.sync(() => leave(claimed))),
          Effect.ensuring(wake.signal),
          Effect.asVoid
        )
      )
    })

  /** Claims and starts what is due; true when there may be more at once. */
  const claimSome = Effect.gen(function* () {
    const room = Math.min(batchSize, maxInFlight - running.size)
    if (room <= 0) return false
    const at = yield* DateTime.nowAsDate
    const busy = [...perTenant.values()].filter((one) => one.count >= maxPerEndpoint).map((one) => one.tenant)
    const claimed = yield* repo.claimDue({
      claimId: yield* random.uuidV4(),
      at,
      leaseUntil: new Date(at.getTime() + leaseSeconds * 1000),
      limit: room,
      perEndpoint: maxPerEndpoint,
      busy
    })
    yield* Effect.forEach(claimed, start, { discard: true })
    return claimed.length > 0
  })

  const work = Effect.gen(function* () {
    while (yield* claimSome) {}
    yield* Effect.race(wake.wait, Effect.sleep("1 second"))
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logError("The webhook worker stumbled and goes on", cause),
        Effect.sleep("1 second")
      )
    ),
    Effect.forever
  )

  const worker = yield* Effect.forkScoped(work)

  // Stop: claim no more, let what runs finish within 20 seconds, give back the rest.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* Fiber.interrupt(worker)
      const deadline = (yield* Clock.currentTimeMillis) + 20_000
      while (running.size > 0 && (yield* Clock.currentTimeMillis) < deadline) yield* Effect.sleep("20 millis")
      const left = [...running.values()]
      if (left.length > 0) yield* repo.release(left, yield* DateTime.nowAsDate)
    })
  )
})

/** Sends due deliveries until its scope closes. */
export const layer: Layer.Layer<
  never,
  never,
  WebhookRepo | Attempts | DeliveryWake | SecureRandom.SecureRandom
> = Layer.effectDiscard(make)

/** Deletes attempts older than `days` once an hour; their deliveries stay. */
export const layerPrune = (days: number): Layer.Layer<never, never, WebhookRepo> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      yield* DateTime.nowAsDate.pipe(
        Effect.flatMap((now) => repo.prune(new Date(now.getTime() - days * 86_400_000))),
        Effect.catchCause((cause) => Effect.logWarning("Old webhook attempts were not pruned", cause)),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
