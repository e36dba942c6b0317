// What developers read of the running service: the OpenAPI document, the API
// reference, and a page that explains every error code.
import { createHash } from "node:crypto"
import { Effect, Layer, SchemaAST } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { Api } from "../Api.ts"
import { AppConfig } from "../AppConfig.ts"
import { errorCodes } from "../domain/ErrorCode.ts"
import { Envelope } from "../http/Envelope.ts"
import { pageHeaders, policyOf } from "../pages/pageHeaders.ts"

export const documentPaths = ["/openapi.json", "/docs", "/docs/errors"]

/** The OpenAPI 3.1 document; `baseUrl` is the deployment's origin. */
export const openApiDocument = (baseUrl: string): Readonly<Record<string, unknown>> => ({
  ...OpenApi.fromApi(Api),
  servers: [{ url: baseUrl }]
})

const escapeHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const codeText = (text: string) => escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>")

/** The envelope's shape in one line; optional fields end in a question mark. */
const shape = Object.entries(Envelope.fields.error.fields)
  .map(([name, { ast }]) => `"${name}"${SchemaAST.isOptional(ast) ? "?" : ""}`)
  .join(", ")

const errorsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quittance error codes</title>
<style>
:root { color-scheme: light dark; --line: light-dark(#ddd, #333); --soft: light-dark(#666, #aaa) }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 46rem; padding: 2rem 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1rem; font-family: ui-monospace, monospace; margin: 0; overflow-wrap: anywhere }
section { border-top: 1px solid var(--line); padding: 1rem 0 } section:target { outline: 2px solid; outline-offset: 4px }
p { margin: .3rem 0 } small { color: var(--soft) } a { color: inherit }
</style>
</head>
<body>
<h1>Error codes</h1>
<p>Every error has one shape: <code>{ "error": { ${escapeHtml(shape)} } }</code>. Codes are stable. Bytes that are not an HTTP request (two lengths, broken chunks, a head of more than 16 KiB or 200 headers) are answered with a status alone, 400, 431 or 505, and the connection is closed. See also the <a href="/docs">API reference</a>.</p>
${Object.entries(errorCodes)
  .map(
    ([code, { status, retryable, summary }]) =>
      `<section id="${code}"><h2><a href="#${code}">${code}</a></h2><p><small>HTTP ${status}${retryable ? ", may succeed when sent again" : ""}</small></p><p>${codeText(summary)}</p></section>`
  )
  .join("\n")}
</body>
</html>
`

const sourceHash = (source: string) => `'sha256-${createHash("sha256").update(source).digest("base64")}'`

/** Of what stands between these tags. */
const hashesOf = (html: string, tag: "script" | "style") =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))].map(([, source = ""]) =>
    sourceHash(source)
  )

const errorsPolicy = policyOf({ "style-src": hashesOf(errorsPage, "style").join(" ") })

/** The reference is the service's own: its scripts by their hashes, styles as it writes them, no other host. */
const referencePolicy = (html: string) =>
  policyOf({
    "script-src": hashesOf(html, "script").join(" "),
    "style-src": "'unsafe-inline'",
    "connect-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "data:"
  })

const reference = HttpApiScalar.layer(Api, {
  path: "/docs",
  scalar: { withDefaultFonts: false }
}).pipe(
  Layer.provide(
    HttpRouter.middleware(
      Effect.gen(function* () {
        let policy: string | undefined
        return (httpEffect) =>
          Effect.map(httpEffect, (response) => {
            const { body } = response
            policy ??= referencePolicy(body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "")
            return HttpServerResponse.setHeaders(response, pageHeaders(policy))
          })
      })
    ).layer
  )
)

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = Layer.merge(
  reference,
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { baseUrl } = yield* AppConfig
      const document = yield* Effect.cached(
        Effect.sync(() => HttpServerResponse.jsonUnsafe(openApiDocument(baseUrl)))
      )
      yield* router.add("GET", "/openapi.json", document)
      yield* router.add(
        "GET",
        "/docs/errors",
        Effect.succeed(
          HttpServerResponse.setHeaders(HttpServerResponse.html(errorsPage), pageHeaders(errorsPolicy))
        )
      )
    })
  )
)
