// What developers read of the running service: the OpenAPI document, the API
// reference, and a page that explains every error code.
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { Api } from "../Api.ts"
import { AppConfig } from "../AppConfig.ts"
import { errorCodes } from "../domain/ErrorCode.ts"

export const documentPaths = ["/openapi.json", "/docs", "/docs/errors"]

/** The OpenAPI 3.1 document; `baseUrl` is the deployment's origin. */
export const openApiDocument = (baseUrl: string): Readonly<Record<string, unknown>> => ({
  ...OpenApi.fromApi(Api),
  servers: [{ url: baseUrl }]
})

const escapeHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const codeText = (text: string) => escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>")

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
<p>Every error has one shape: <code>{ "error": { "code", "message", "requestId", "docUrl", "retryable", "reason"?, "details"? } }</code>. Codes are stable. See also the <a href="/docs">API reference</a>.</p>
${Object.entries(errorCodes)
  .map(
    ([code, { status, retryable, summary }]) =>
      `<section id="${code}"><h2><a href="#${code}">${code}</a></h2><p><small>HTTP ${status}${retryable ? ", may succeed when sent again" : ""}</small></p><p>${codeText(summary)}</p></section>`
  )
  .join("\n")}
</body>
</html>
`

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = Layer.merge(
  HttpApiScalar.layer(Api, { path: "/docs" }),
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { baseUrl } = yield* AppConfig
      const document = yield* Effect.cached(
        Effect.sync(() => HttpServerResponse.jsonUnsafe(openApiDocument(baseUrl)))
      )
      yield* router.add("GET", "/openapi.json", document)
      yield* router.add("GET", "/docs/errors", Effect.succeed(HttpServerResponse.html(errorsPage)))
    })
  )
)
