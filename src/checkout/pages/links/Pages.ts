// Pages of payment links: the link, its poster, and a shop's counter.
import { Cause, Effect, Exit, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Links } from "../../../payments/links/Links.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { makeAddressLimit } from "../../../platform/http/makeAddressLimit.ts"
import type { RateLimiter } from "../../../platform/limits/RateLimiter.ts"
import { browserBundle, bundleResponse } from "../../../platform/pages/BrowserBundle.ts"
import tokens from "../../../platform/pages/browser/tokens.css" with { type: "text" }
import { pageHeaders, policyOf } from "../../../platform/pages/pageHeaders.ts"
import shared from "../../../platform/pages/pages.css" with { type: "text" }
import { walletOrigins } from "../../walletOrigins.ts"
import { counterDocument, linkDocument, posterDocument } from "./documents.ts"
import own from "./links.css" with { type: "text" }

export const linkPaths = [
  "/link/:id",
  "/link/:id/poster",
  "/link.js",
  "/links.css",
  "/poster.js",
  "/counter",
  "/counter.js"
]

const answer = (html: string, connect: ReadonlyArray<string>, status = 200) =>
  HttpServerResponse.text(html, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      ...pageHeaders(
        policyOf({
          "script-src": "'self'",
          "style-src": "'self'",
          "connect-src": ["'self'", ...connect].join(" "),
          "img-src": "data:"
        })
      ),
      "cross-origin-opener-policy": "same-origin-allow-popups"
    }
  })

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig | Links | RateLimiter> =
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const config = yield* AppConfig
      const links = yield* Links
      const { baseUrl } = config
      const waitOf = yield* makeAddressLimit
      /** The page itself shows the link's state. An unknown link also gets status 404, within the limit. */
      const ofLink = (html: string, connect: ReadonlyArray<string> = []) =>
        Effect.gen(function* () {
          const { id = "" } = yield* HttpRouter.params
          if ((yield* waitOf("link pages")) > 0) return answer(html, connect, 200)
          const exit = yield* Effect.exit(links.read(id))
          const isUnknown = Exit.isFailure(exit) && Cause.hasFails(exit.cause)
          return answer(html, connect, isUnknown ? 404 : 200)
        })
      yield* router.add("GET", "/link/:id", ofLink(linkDocument, walletOrigins(config)))
      yield* router.add("GET", "/link/:id/poster", ofLink(posterDocument))
      yield* router.add("GET", "/counter", Effect.succeed(answer(counterDocument, [])))
      yield* router.add(
        "GET",
        "/links.css",
        Effect.succeed(
          HttpServerResponse.text(tokens + shared + own, { contentType: "text/css; charset=utf-8" })
        )
      )
      for (const [path, entry, constants] of [
        ["/link.js", "checkout/pages/links/link.ts", {}],
        ["/poster.js", "checkout/pages/links/poster.ts", {}],
        ["/counter.js", "checkout/pages/links/counter.ts", { QUITTANCE_BASE_URL: baseUrl }]
      ] as const)
        yield* router.add(
          "GET",
          path,
          bundleResponse(browserBundle(entry, constants), { crossOrigin: false })
        )
    })
  )
