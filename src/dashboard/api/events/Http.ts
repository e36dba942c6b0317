// The events that pages follow, over HTTP.
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { DashboardApi } from "../Api.ts"
import { CurrentMember, CurrentSession } from "../Session.ts"
import { PageEvents } from "./PageEvents.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "pageEvents",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* PageEvents
    return handlers.handle(
      "watch",
      Effect.fnUntraced(function* () {
        const { tenant } = yield* CurrentMember
        const session = Buffer.from((yield* CurrentSession).hash).toString("hex")
        return HttpServerResponse.stream(Stream.encodeText(events.watch({ session, tenant })), {
          contentType: "text/event-stream",
          headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
        })
      })
    )
  })
)
