// Payment links over HTTP.

import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { RateLimited } from "../../domain/Errors.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { CurrentPrincipal } from "../../platform/http/ApiKeyAuth.ts"
import { jsonAnswer } from "../../platform/http/jsonAnswer.ts"
import { makeAddressLimit } from "../../platform/http/makeAddressLimit.ts"
import { clientAddressOf } from "../../platform/http/RequestContext.ts"
import { RateLimiter } from "../../platform/limits/RateLimiter.ts"
import type { Limit } from "../../platform/limits/RequestLimits.ts"
import { Links } from "./Links.ts"

const made = HttpApiBuilder.group(
  Api,
  "paymentLinks",
  Effect.fnUntraced(function* (handlers) {
    const links = yield* Links
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const link = yield* links.create(yield* CurrentPrincipal, payload)
        return jsonAnswer({ link }, 201)
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        return jsonAnswer(yield* links.list(yield* CurrentPrincipal, query))
      }),
      close: Effect.fnUntraced(function* ({ params }) {
        yield* links.close(yield* CurrentPrincipal, params.id)
      })
    })
  })
)

/** Openings by a client address: 60 a minute. */
const openings: Limit = { rate: 60, perSeconds: 60, burst: 60 }

const opened = HttpApiBuilder.group(
  Api,
  "publicLinks",
  Effect.fnUntraced(function* (handlers) {
    const links = yield* Links
    const limiter = yield* RateLimiter
    const readingWaitOf = yield* makeAddressLimit
    const { trustedProxyHops } = yield* AppConfig
    return handlers.handleAll({
      read: Effect.fnUntraced(function* ({ params }) {
        const wait = yield* readingWaitOf("read links")
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        return jsonAnswer({ link: yield* links.read(params.id) })
      }),
      open: Effect.fnUntraced(function* ({ params, payload }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const wait = yield* limiter.take(`links ${clientAddressOf(request, trustedProxyHops)}`, openings)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        return jsonAnswer(yield* links.open(params.id, payload), 201)
      })
    })
  })
)

export const layer = Layer.merge(made, opened)
