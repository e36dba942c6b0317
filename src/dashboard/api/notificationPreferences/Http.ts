// Handlers of a member's notification settings.
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { NotFound } from "../../../domain/Errors.ts"
import { AlertHooks } from "../../../notifications/AlertHooks.ts"
import { NotificationRepo } from "../../../notifications/NotificationRepo.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { DashboardApi } from "../Api.ts"
import { makeRecording } from "../makeRecording.ts"
import { recentPassword } from "../recentPassword.ts"
import { CurrentMember } from "../Session.ts"
import { unknownObject } from "../unknownObject.ts"
import type { NotificationPreferences } from "./Api.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "notificationPreferences",
  Effect.fnUntraced(function* (handlers) {
    const repo = yield* NotificationRepo
    const hooks = yield* AlertHooks
    const recording = yield* makeRecording
    const { smtp } = yield* AppConfig

    return handlers.handleAll({
      retrieve: Effect.fnUntraced(function* () {
        const { merchant, tenant, user } = yield* CurrentMember
        const posted = yield* hooks.list(tenant)
        const preferences = yield* repo.preferences(merchant.id, user.id)
        const page: NotificationPreferences = {
          hasMail: Option.isSome(smtp),
          choice: Option.getOrElse(preferences, () => ({ alerts: "none" as const, weekly: false })),
          hooks: posted.map((hook) => ({
            id: hook.id,
            shape: hook.shape,
            host: hook.host,
            createdAt: hook.created_at.toISOString(),
            lastSentAt: hook.last_sent_at?.toISOString() ?? null,
            error: hook.error
          }))
        }
        return page
      }),
      choose: Effect.fnUntraced(function* ({ payload }) {
        const { merchant, user } = yield* CurrentMember
        yield* repo.setPreferences(merchant.id, user.id, payload)
      }),
      addHook: Effect.fnUntraced(function* ({ payload: { shape, url } }) {
        const { tenant } = yield* CurrentMember
        yield* recentPassword
        const { id, secret } = yield* recording(hooks.add(tenant, shape, url), ({ host }) =>
          Option.some({
            action: "alert_hook.added",
            env: tenant.env,
            summary: `added an alert webhook to ${host}`
          })
        )
        return { id, secret: shape === "plain" ? secret : null }
      }),
      removeHook: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        const removed = yield* recording(hooks.remove(tenant, params.hookId), (wasThere) =>
          wasThere
            ? Option.some({
                action: "alert_hook.removed",
                env: tenant.env,
                summary: "removed an alert webhook",
                quiet: true
              })
            : Option.none()
        )
        if (!removed) return yield* new NotFound({ message: unknownObject })
      })
    })
  })
)
