// Payment links over HTTP.

import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { RateLimited } from "../../domain/Errors.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { type Caller, type KeyParams, keyCaller, type RequestOf } from "../../platform/http/Mount.ts"
import { makeAddressLimit } from "../../platform/http/makeAddressLimit.ts"
import { clientAddressOf } from "../../platform/http/RequestContext.ts"
import { RateLimiter } from "../../platform/limits/RateLimiter.ts"
import type { Limit } from "../../platform/limits/RequestLimits.ts"
import type { linkEndpoints } from "./Api.ts"
import { Links } from "./Links.ts"

type Endpoints = ReturnType<typeof linkEndpoints<KeyParams>>

export const linkHandlers = Effect.fnUntraced(function* <R>(caller: Effect.Effect<Caller, never, R>) {
  const links = yield* Links
  return {
    create: Effect.fnUntraced(function* ({ payload }: RequestOf<Endpoints["create"]>) {
      return jsonResponse({ link: yield* links.create(yield* caller, payload) }, 201)
    }),
    list: Effect.fnUntraced(function* ({ query }: RequestOf<Endpoints["list"]>) {
      return jsonResponse(yield* links.list(yield* caller, query))
    }),
    close: Effect.fnUntraced(function* ({ params }: RequestOf<Endpoints["close"]>) {
      yield* links.close(yield* caller, params.id)
    })
  }
})

const layerLinks = HttpApiBuilder.group(
  Api,
  "paymentLinks",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* linkHandlers(keyCaller))
  })
)

/** Openings per client address: 60 a minute. */
const openings: Limit = { rate: 60, perSeconds: 60, burst: 60 }

const layerPublicLinks = HttpApiBuilder.group(
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
        return jsonResponse({ link: yield* links.read(params.id) })
      }),
      open: Effect.fnUntraced(function* ({ params, payload }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const wait = yield* limiter.take(`links ${clientAddressOf(request, trustedProxyHops)}`, openings)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        return jsonResponse(yield* links.open(params.id, payload), 201)
      })
    })
  })
)

export const layer = Layer.merge(layerLinks, layerPublicLinks)
