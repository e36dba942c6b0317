// Settlement levels in the dashboard, over HTTP.
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { settlementLevelHandlers } from "../../../merchants/settlementLevels/Http.ts"
import { DashboardApi } from "../Api.ts"
import { memberCaller } from "../memberGroup.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "settlementLevelPages",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* settlementLevelHandlers(memberCaller))
  })
)
