// Payment links in the dashboard, over HTTP.
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Links } from "../../../payments/links/Links.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { DashboardApi } from "../Api.ts"
import { CurrentMember } from "../Session.ts"
import type { LinksPage } from "./Api.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "linkPages",
  Effect.fnUntraced(function* (handlers) {
    const links = yield* Links
    const { baseUrl } = yield* AppConfig
    const owner = Effect.map(CurrentMember, ({ merchant, tenant }) => ({ merchant, env: tenant.env }))

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const all = yield* links.list(yield* owner, query)
        const page: LinksPage = {
          hasMore: all.hasMore,
          links: all.links.map((link) => ({ ...link, counterUrl: `${baseUrl}/counter#link=${link.id}` }))
        }
        return page
      }),
      create: Effect.fnUntraced(function* ({ payload: { restFor, restOf, ...asked } }) {
        const { amount = null, url } =
          restOf === undefined
            ? yield* links.create(yield* owner, asked)
            : yield* links.createRest(yield* owner, asked, { incomingTransferId: restOf, paymentId: restFor })
        return { url, amount }
      }),
      close: Effect.fnUntraced(function* ({ params }) {
        yield* links.close(yield* owner, params.linkId)
      })
    })
  })
)
