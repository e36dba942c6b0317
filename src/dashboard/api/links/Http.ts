// Payment links in the dashboard, over HTTP.
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { linkHandlers } from "../../../payments/links/Http.ts"
import { Links } from "../../../payments/links/Links.ts"
import { DashboardApi } from "../Api.ts"
import { memberCaller } from "../memberGroup.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "linkPages",
  Effect.fnUntraced(function* (handlers) {
    const links = yield* Links
    return handlers.handleAll({
      ...(yield* linkHandlers(memberCaller)),
      createRemainderLink: Effect.fnUntraced(function* ({
        payload: { incomingTransferId, paymentId, ...terms }
      }) {
        const short = { incomingTransferId, paymentId }
        const { amount = null, url } = yield* links.createRemainderLink(yield* memberCaller, terms, short)
        return { url, amount }
      })
    })
  })
)
