// What people open of a receipt: its page, the page that verifies one without a network, and the public keys.
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { browserBundle, bundleAnswer } from "../pages/BrowserBundle.ts"
import { pageHeaders, policyOf } from "../pages/pageHeaders.ts"
import shared from "../pages/pages.css" with { type: "text" }
import { receiptDocument, verifyDocument } from "./pages/documents.ts"
import own from "./pages/receipt.css" with { type: "text" }
import { ReceiptMails } from "./ReceiptMails.ts"
import { Receipts } from "./Receipts.ts"

export const receiptPaths = [
  "/receipt/:id",
  "/receipt.css",
  "/receipt.js",
  "/verify-receipt",
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

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | Receipts | ReceiptMails> =
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const receipts = yield* Receipts
      const { isOn } = yield* ReceiptMails
      yield* router.add("GET", "/receipt/:id", Effect.succeed(page(receiptDocument(isOn))))
      yield* router.add(
        "GET",
        "/receipt.css",
        Effect.succeed(
          HttpServerResponse.text(`${shared}\n${own}`, { contentType: "text/css; charset=utf-8" })
        )
      )
      // The page contains the keys, so that a saved copy verifies without the service.
      yield* router.add(
        "GET",
        "/verify-receipt",
        Effect.map(receipts.jwks, (keys) => page(verifyDocument(keys)))
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
      for (const [path, entry] of [
        ["/receipt.js", "receipts/pages/receipt.ts"],
        ["/verify-receipt.js", "receipts/pages/verify.ts"]
      ] as const)
        yield* router.add("GET", path, bundleAnswer(browserBundle(entry), { crossOrigin: false }))
    })
  )
