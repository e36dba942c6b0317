// Pages of receipts: the receipt, the offline verifier and the public keys.
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ReceiptMails } from "../../../payments/receipts/ReceiptMails.ts"
import { Receipts } from "../../../payments/receipts/Receipts.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { browserBundle, bundleResponse } from "../../../platform/pages/BrowserBundle.ts"
import tokens from "../../../platform/pages/browser/tokens.css" with { type: "text" }
import { pageHeaders, policyOf } from "../../../platform/pages/pageHeaders.ts"
import shared from "../../../platform/pages/pages.css" with { type: "text" }
import { receiptDocument, savedVerifyDocument, verifyDocument } from "./documents.ts"
import own from "./receipt.css" with { type: "text" }

export const receiptPaths = [
  "/receipt/:id",
  "/receipt.css",
  "/receipt.js",
  "/verify-receipt",
  "/verify-receipt.html",
  "/verify-receipt.js",
  "/.well-known/jwks.json",
  "/.well-known/did.json"
]

const headers = pageHeaders(
  policyOf({
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:"
  })
)

const page = (html: string) =>
  HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers })

const css = tokens + shared + own
const verifier = browserBundle("checkout/pages/receipts/verify.ts")

const hashOf = (text: string) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`

/** The verifier as one file; `keys` is a JWK set as JSON. */
const savedVerifier = Effect.fnUntraced(function* (keys: string, baseUrl: string) {
  const { bytes } = yield* Effect.orDie(verifier)
  const script = new TextDecoder().decode(bytes).replaceAll("</script", "<\\/script")
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(css)}`,
    `connect-src ${baseUrl}`,
    "img-src data:"
  ].join("; ")
  const keysUrl = `${baseUrl}/.well-known/jwks.json`
  return HttpServerResponse.text(savedVerifyDocument({ keys, keysUrl, policy, script, styles: css }), {
    contentType: "text/html; charset=utf-8",
    headers: {
      ...pageHeaders(policyOf({})),
      "content-disposition": 'attachment; filename="verify-receipt.html"'
    }
  })
})

export const layer: Layer.Layer<never, never, AppConfig | HttpRouter.HttpRouter | Receipts | ReceiptMails> =
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const receipts = yield* Receipts
      const { isOn } = yield* ReceiptMails
      const { baseUrl } = yield* AppConfig
      yield* router.add("GET", "/receipt/:id", Effect.succeed(page(receiptDocument(isOn))))
      yield* router.add(
        "GET",
        "/receipt.css",
        Effect.succeed(HttpServerResponse.text(css, { contentType: "text/css; charset=utf-8" }))
      )
      // The page contains the keys, so that it verifies without a network, and its copy without the service.
      yield* router.add(
        "GET",
        "/verify-receipt",
        Effect.map(receipts.jwks, (keys) => page(verifyDocument(keys)))
      )
      yield* router.add(
        "GET",
        "/verify-receipt.html",
        Effect.flatMap(receipts.jwks, (keys) => savedVerifier(keys, baseUrl))
      )
      yield* router.add(
        "GET",
        "/.well-known/jwks.json",
        Effect.map(receipts.jwks, (keys) =>
          HttpServerResponse.text(keys, {
            contentType: "application/jwk-set+json",
            headers: { "access-control-allow-origin": "*" }
          })
        )
      )
      yield* router.add(
        "GET",
        "/.well-known/did.json",
        Effect.map(receipts.didDocument, (document) =>
          HttpServerResponse.text(JSON.stringify(document), {
            contentType: "application/did+json",
            headers: { "access-control-allow-origin": "*" }
          })
        )
      )
      for (const [path, bundle] of [
        ["/receipt.js", browserBundle("checkout/pages/receipts/receipt.ts")],
        ["/verify-receipt.js", verifier]
      ] as const)
        yield* router.add("GET", path, bundleResponse(bundle, { crossOrigin: false }))
    })
  )
