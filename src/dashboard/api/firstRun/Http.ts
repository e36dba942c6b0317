// First steps over HTTP.
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { DashboardApi } from "../Api.ts"
import { CurrentMember } from "../Session.ts"
import type { FirstRunPage } from "./Api.ts"
import { FirstRunRepo } from "./FirstRunRepo.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "firstRunPages",
  Effect.fnUntraced(function* (handlers) {
    const repo = yield* FirstRunRepo
    const { baseUrl } = yield* AppConfig
    return handlers.handle(
      "retrieve",
      Effect.fnUntraced(function* () {
        const { merchant, tenant } = yield* CurrentMember
        const progress = yield* repo.find(tenant, `${baseUrl}/playground`)
        const page: FirstRunPage = {
          receiver: merchant.receivers[tenant.env],
          publishableKey: progress.publishable_key,
          usedKey: progress.used_key,
          hasEndpoint: progress.has_endpoint,
          triedPlayground: progress.tried_playground,
          paid: progress.paid
        }
        return page
      })
    )
  })
)
