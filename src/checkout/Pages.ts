// The component's script and the hosted pages, with a strict policy and not in frames.
import { Effect, type Layer, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { envs, networks } from "../domain/networks.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { browserBundle, bundleResponse } from "../platform/pages/BrowserBundle.ts"
import tokens from "../platform/pages/browser/tokens.css" with { type: "text" }
import { pageHeaders, policyOf } from "../platform/pages/pageHeaders.ts"
import { browserNode } from "./browserNode.ts"
import { notFoundDocument } from "./pages/notFoundDocument.ts"
import styles from "./pages/pages.css" with { type: "text" }
import { payDocument } from "./pages/payDocument.ts"
import { playgroundDocument } from "./pages/playgroundDocument.ts"
import { walletOrigins } from "./walletOrigins.ts"

export const pagePaths = [
  "/checkout.js",
  "/checkout.js.integrity",
  "/checkout-pages.css",
  "/pay",
  "/pay.js",
  "/playground",
  "/playground.js",
  "/walletconnect.js"
]

const originOf = (url: string): ReadonlyArray<string> => {
  const parsed = URL.parse(url)
  return parsed === null ? [] : [parsed.origin]
}

/** Allows only the service's scripts and styles, and requests to `connect`. */
const contentSecurityPolicy = (connect: ReadonlyArray<string>): string =>
  policyOf({
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": ["'self'", ...new Set(connect)].join(" "),
    "img-src": "data:"
  })

const page = (html: string, connect: ReadonlyArray<string>, status = 200) =>
  HttpServerResponse.text(html, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      ...pageHeaders(contentSecurityPolicy(connect)),
      "cross-origin-opener-policy": "same-origin-allow-popups"
    }
  })

/** For a browser at an address of the service at which there is nothing. */
export const notFoundPage = page(notFoundDocument, [], 404)

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const config = yield* AppConfig
    const { baseUrl } = config
    const constants = { QUITTANCE_BASE_URL: baseUrl }
    const walletConnect = browserBundle("checkout/walletconnect/main.ts")
    const local = config.testWallet
      ? envs.flatMap((env) => {
          const rpcUrl = browserNode(config, env)
          return rpcUrl === undefined ? [] : [`${networks[env].chainId} ${rpcUrl}`]
        })
      : []
    const checkoutWith = (integrity: string) =>
      browserBundle(
        "checkout/component/main.ts",
        { ...constants, QUITTANCE_WALLETCONNECT_INTEGRITY: integrity },
        ...(local.length === 0
          ? []
          : [{ entry: "checkout/testwallet/main.ts", constants: { QUITTANCE_TEST_CHAINS: local.join(",") } }])
      )
    // Pinning the component's script also pins the script that it loads.
    const checkout = Option.isNone(config.walletConnect)
      ? checkoutWith("")
      : yield* Effect.cached(Effect.flatMap(walletConnect, ({ integrity }) => checkoutWith(integrity)))
    const service = originOf(baseUrl)
    const connect = [...service, ...walletOrigins(config)]

    yield* router.add("GET", "/checkout.js", bundleResponse(checkout, { crossOrigin: true }))
    yield* router.add(
      "GET",
      "/checkout.js.integrity",
      Effect.map(Effect.orDie(checkout), ({ integrity }) => HttpServerResponse.text(`${integrity}\n`))
    )
    yield* router.add(
      "GET",
      "/checkout-pages.css",
      Effect.succeed(HttpServerResponse.text(tokens + styles, { contentType: "text/css; charset=utf-8" }))
    )
    yield* router.add("GET", "/pay", Effect.succeed(page(payDocument, connect)))
    yield* router.add("GET", "/playground", Effect.succeed(page(playgroundDocument, connect)))
    yield* router.add("GET", "/walletconnect.js", bundleResponse(walletConnect, { crossOrigin: true }))
    for (const name of ["pay", "playground"] as const) {
      const bundle = browserBundle(`checkout/pages/${name}.ts`, constants)
      yield* router.add("GET", `/${name}.js`, bundleResponse(bundle, { crossOrigin: false }))
    }
  })
)
