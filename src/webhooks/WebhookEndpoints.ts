// A merchant's actions on its webhook endpoint: register, change, delete, test, resend, regenerate the secret.

import { Context, DateTime, Effect, Fiber, Layer, Option, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type InvalidWebhookUrl,
  RateLimited,
  WebhookEndpointExists,
  WebhookEndpointNotFound
} from "../domain/Errors.ts"
import type { Tenant } from "../domain/Merchant.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import { type Delivery, type Endpoint, testEvent } from "../domain/Webhook.ts"
import { EgressPolicy } from "../platform/egress/EgressPolicy.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import type { SecretBox } from "../platform/SecretBox.ts"
import { checkWebhookUrl } from "./checkWebhookUrl.ts"
import { Attempts, leaseSeconds } from "./DeliveryWorker/Attempts.ts"
import { newEndpointSecret, regenerateSecret } from "./regenerateSecret.ts"
import type { LeasedDelivery } from "./WebhookRepo/WebhookStore.ts"
import { WebhookRepo } from "./WebhookRepo.ts"

export interface CreatedEndpoint {
  readonly endpoint: Endpoint
  /** The signing secret, shown only here. */
  readonly secret: Redacted.Redacted<string>
}

/** The limit of test sends and resends: 10 a minute per merchant and environment. */
const manualSends = { rate: 10, perSeconds: 60, burst: 10 }

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    readonly find: (tenant: Tenant) => Effect.Effect<Option.Option<Endpoint>>
    readonly create: (
      tenant: Tenant,
      url: string
    ) => Effect.Effect<CreatedEndpoint, InvalidWebhookUrl | WebhookEndpointExists>
    readonly changeUrl: (
      tenant: Tenant,
      url: string
    ) => Effect.Effect<Endpoint, InvalidWebhookUrl | WebhookEndpointNotFound>
    readonly remove: (tenant: Tenant) => Effect.Effect<void, WebhookEndpointNotFound>
    /** The old secret becomes invalid at once; pending deliveries are signed with the new one. */
    readonly regenerateSecret: (tenant: Tenant) => Effect.Effect<CreatedEndpoint, WebhookEndpointNotFound>
    /** Sends a signed `test` event and returns after its first attempt; the worker makes any others. */
    readonly sendTest: (
      tenant: Tenant
    ) => Effect.Effect<
      { readonly delivery: Delivery; readonly endpoint: Endpoint },
      WebhookEndpointNotFound | RateLimited
    >
    /**
     * Makes one more attempt of a finished delivery, with the same id and bytes, and returns after it. None
     * if there is nothing to resend, or no endpoint. Shares its limit with `sendTest`.
     */
    readonly resend: (
      tenant: Tenant,
      deliveryId: string
    ) => Effect.Effect<Option.Option<Delivery>, RateLimited>
  }
>()("quittance/webhooks/WebhookEndpoints") {
  static readonly layer: Layer.Layer<
    WebhookEndpoints,
    never,
    WebhookRepo | Attempts | EgressPolicy | RateLimiter | SecretBox | SecureRandom.SecureRandom
  > = Layer.effect(
    WebhookEndpoints,
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const attempts = yield* Attempts
      const policy = yield* EgressPolicy
      const limiter = yield* RateLimiter
      const random = yield* SecureRandom.SecureRandom
      const context = yield* Effect.context<WebhookRepo | SecretBox | SecureRandom.SecureRandom>()

      const checkUrl = (url: string) => Effect.map(checkWebhookUrl(url, policy), ({ url }) => url.href)

      const orNotFound = <A>(option: Option.Option<A>) =>
        Option.isSome(option) ? Effect.succeed(option.value) : Effect.fail(new WebhookEndpointNotFound())

      const newLease = Effect.gen(function* () {
        const at = yield* DateTime.nowAsDate
        return {
          leaseId: yield* random.uuidV4(),
          at,
          leaseUntil: plusMillis(at, leaseSeconds * 1000)
        }
      })

      const scope = yield* Effect.scope

      const enforceLimit = Effect.fnUntraced(function* (tenant: Tenant) {
        const wait = yield* limiter.take(`manual-send ${tenant.merchantId} ${tenant.env}`, manualSends)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
      })

      /** The delivery after the attempt, which completes even if the caller disconnects. */
      const makeAttempt = Effect.fnUntraced(function* (tenant: Tenant, leased: LeasedDelivery) {
        yield* Fiber.join(yield* Effect.forkIn(attempts.run(leased), scope))
        return yield* Effect.flatMap(repo.findDelivery(tenant, leased.id), (delivery) =>
          Option.isSome(delivery)
            ? Effect.succeed(delivery.value)
            : Effect.die(new Error(`Delivery ${leased.id} is gone`))
        )
      })

      return WebhookEndpoints.of({
        find: repo.findEndpoint,
        create: Effect.fn("WebhookEndpoints.create")(function* (tenant, url) {
          const href = yield* checkUrl(url)
          const id = yield* random.uuidV7()
          const { secret, stored } = yield* Effect.provideContext(newEndpointSecret(id), context)
          const created = yield* repo.createEndpoint(
            tenant,
            { id, url: href, ...stored },
            yield* DateTime.nowAsDate
          )
          if (Option.isNone(created)) return yield* new WebhookEndpointExists()
          return { endpoint: created.value, secret }
        }),
        changeUrl: Effect.fn("WebhookEndpoints.changeUrl")(function* (tenant, url) {
          const href = yield* checkUrl(url)
          return yield* orNotFound(yield* repo.changeUrl(tenant, href, yield* DateTime.nowAsDate))
        }),
        remove: Effect.fn("WebhookEndpoints.remove")(function* (tenant) {
          const deleted = yield* repo.deleteEndpoint(tenant, yield* DateTime.nowAsDate)
          if (!deleted) return yield* new WebhookEndpointNotFound()
        }),
        regenerateSecret: (tenant) => Effect.provideContext(regenerateSecret(tenant), context),
        sendTest: Effect.fn("WebhookEndpoints.sendTest")(function* (tenant) {
          yield* enforceLimit(tenant)
          const id = yield* random.uuidV7()
          const leased = yield* orNotFound(
            yield* repo.leaseTest(tenant, { id, body: testEvent(id) }, yield* newLease)
          )
          const delivery = yield* makeAttempt(tenant, leased)
          return { delivery, endpoint: yield* orNotFound(yield* repo.findEndpoint(tenant)) }
        }),
        resend: Effect.fn("WebhookEndpoints.resend")(function* (tenant, deliveryId) {
          yield* enforceLimit(tenant)
          const leased = yield* repo.leaseResend(tenant, deliveryId, yield* newLease)
          return Option.isNone(leased) ? Option.none() : Option.some(yield* makeAttempt(tenant, leased.value))
        })
      })
    })
  )
}
