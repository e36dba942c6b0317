// The dashboard's files: one HTML shell for every page, its script and its styles. They are public and the same for
// everyone; the pages' content comes from the API.

import { Effect, type Layer, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { NotFound } from "../../domain/Errors.ts"
import { envs } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { RequestId } from "../../platform/http/RequestContext.ts"
import { envelopeResponse } from "../../platform/http/ResponseEnvelope.ts"
import { browserBundle, bundleResponse } from "../../platform/pages/BrowserBundle.ts"
import { icon } from "../../platform/pages/icon.ts"
import { pageHeaders, policyOf } from "../../platform/pages/pageHeaders.ts"

/** Paths that return the shell; the browser's router distinguishes them. */
const shellPaths = [
  "/dashboard",
  "/dashboard/sign-in",
  "/dashboard/sign-up",
  "/dashboard/welcome",
  ...envs.flatMap((env) =>
    ["", "/:page", "/:page/:id"].map((rest) => `/dashboard/:merchantId/${env}${rest}` as const)
  )
] as const

/** Other paths below /dashboard, for which the shell shows "Page not found". */
const unknownPaths = [
  "/dashboard/:one",
  "/dashboard/:one/:two",
  "/dashboard/:one/:two/:three/:four/:five"
] as const

/** Every GET path here, for the responses to other methods. */
export const dashboardPaths: ReadonlyArray<string> = [
  ...shellPaths,
  ...unknownPaths,
  "/dashboard/app.js",
  "/dashboard/app.css",
  "/dashboard/icon.svg"
]

/** Nothing inline, nothing from other origins except merchants' logos, and no framing. */
const securityHeaders = {
  ...pageHeaders(
    policyOf({
      "script-src": "'self'",
      "style-src": "'self'",
      "img-src": "'self' https: data:",
      "connect-src": "'self'"
    })
  ),
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()"
}

const shell = (signUp: "open" | "closed", hasMail: boolean) => `<!doctype html>
<html lang="en" data-sign-up="${signUp}" data-mail="${hasMail ? "on" : "off"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Quittance</title>
<link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/dashboard/app.css">
<script src="/dashboard/app.js" defer></script>
</head>
<body>
<div id="app"><noscript>The dashboard needs JavaScript.</noscript></div>
</body>
</html>
`

const script = browserBundle("dashboard/browser/main.tsx")
const styles = browserBundle("dashboard/browser/dashboard.css")

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { baseUrl, signUp, smtp } = yield* AppConfig
    const page = HttpServerResponse.setHeaders(
      HttpServerResponse.html(shell(signUp, Option.isSome(smtp))),
      securityHeaders
    )

    for (const path of shellPaths) yield* router.add("GET", path, Effect.succeed(page))
    const unknown = HttpServerResponse.setStatus(page, 404)
    for (const path of unknownPaths)
      yield* router.add("GET", path, (request) =>
        request.url.startsWith("/dashboard/api/")
          ? Effect.map(RequestId, (id) => envelopeResponse(new NotFound(), id, baseUrl))
          : Effect.succeed(unknown)
      )
    for (const [path, bundle, contentType] of [
      ["/dashboard/app.js", script, "text/javascript"],
      ["/dashboard/app.css", styles, "text/css"]
    ] as const)
      yield* router.add(
        "GET",
        path,
        Effect.map(
          bundleResponse(bundle, { contentType, crossOrigin: false }),
          HttpServerResponse.setHeaders(securityHeaders)
        )
      )
    yield* router.add(
      "GET",
      "/dashboard/icon.svg",
      Effect.succeed(
        HttpServerResponse.text(icon, { contentType: "image/svg+xml", headers: securityHeaders })
      )
    )
  })
)
