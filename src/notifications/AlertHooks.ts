// A merchant's alert webhooks: a chat's hook, or a URL that checks a signature.
import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { AlertHookLimit, type InvalidWebhookUrl } from "../domain/Errors.ts"
import type { Tenant } from "../domain/Merchant.ts"
import { EgressPolicy } from "../platform/egress/EgressPolicy.ts"
import { SecretBox } from "../platform/SecretBox.ts"
import { checkWebhookUrl } from "../webhooks/checkWebhookUrl.ts"
import { makeWebhookSecret } from "../webhooks/Signature.ts"
import { AlertHookRepo, type HookRow } from "./AlertHookRepo.ts"
import { hookContext } from "./HookTarget.ts"

/** The maximum number of hooks per merchant and environment. */
const maxHooks = 5

export class AlertHooks extends Context.Service<
  AlertHooks,
  {
    readonly list: (tenant: Tenant) => Effect.Effect<ReadonlyArray<HookRow>>
    /** Adds a hook. Returns the secret that signs its plain posts, shown only here. */
    readonly add: (
      tenant: Tenant,
      shape: "slack" | "plain",
      url: string
    ) => Effect.Effect<
      { readonly id: string; readonly host: string; readonly secret: string },
      InvalidWebhookUrl | AlertHookLimit
    >
    /** False if the merchant has no hook with that id. */
    readonly remove: (tenant: Tenant, id: string) => Effect.Effect<boolean>
  }
>()("quittance/notifications/AlertHooks") {
  static readonly layer: Layer.Layer<
    AlertHooks,
    never,
    SqlClient.SqlClient | SecretBox | EgressPolicy | SecureRandom.SecureRandom
  > = Layer.effect(
    AlertHooks,
    Effect.gen(function* () {
      const repo = yield* AlertHookRepo
      const box = yield* SecretBox
      const policy = yield* EgressPolicy
      const random = yield* SecureRandom.SecureRandom
      return AlertHooks.of({
        list: ({ env, merchantId }) => repo.hooks(merchantId, env),
        add: Effect.fn("AlertHooks.add")(function* (tenant, shape, address) {
          const { url } = yield* checkWebhookUrl(address, policy)
          const id = yield* random.uuidV7()
          const secret = Redacted.value(
            yield* Effect.provideService(makeWebhookSecret, SecureRandom.SecureRandom, random)
          )
          const target = Redacted.make(JSON.stringify({ url: url.href, secret }))
          const sealed = yield* box.seal(target, hookContext(id))
          const hook = { id, ...tenant, shape, host: url.host, sealed }
          if (!(yield* repo.addHook(hook, maxHooks, yield* DateTime.nowAsDate)))
            return yield* new AlertHookLimit()
          return { id, host: url.host, secret }
        }),
        remove: ({ env, merchantId }, id) => repo.removeHook(merchantId, env, id)
      })
    })
  ).pipe(Layer.provide(AlertHookRepo.layer))
}
