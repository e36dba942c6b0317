// The pages for developers: front page, guides, errors and reference. VitePress builds them (build.ts); each
// is also served as markdown.

import { Effect, type Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import vectors from "../../../docs/guides/webhook-vectors.json"
import { NotFound } from "../../domain/Errors.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { RequestId } from "../../platform/http/RequestContext.ts"
import { envelopeResponse } from "../../platform/http/ResponseEnvelope.ts"
import { acceptsGzip, matchesIfNoneMatch } from "../../platform/pages/BrowserBundle.ts"
import { icon } from "../../platform/pages/icon.ts"
import { pageHeaders } from "../../platform/pages/pageHeaders.ts"
import { documentNames, documents } from "./documents.ts"
import { namingContents } from "./Packages.ts"
import { type SiteFile, siteFiles } from "./Site.ts"

const pages = ["/", "/docs", ...documentNames.map((name) => `/docs/${name}`)]

/** GET paths that each serve one document. */
export const guidePaths: ReadonlyArray<string> = [
  ...pages,
  "/favicon.ico",
  "/llms.txt",
  "/docs/webhook-vectors.json",
  ...documentNames.map((name) => `/docs/${name}.md`)
]

const operationPath = "/docs/reference/:name"
const assetPaths = ["/docs/assets/:name", "/docs/assets/chunks/:name"] as const

/** All GET paths here, for responses to other methods. */
export const guidePatterns: ReadonlyArray<string> = [...guidePaths, operationPath, ...assetPaths]

const Name = Schema.Struct({ name: Schema.String.check(Schema.isPattern(/^[@\w-]+(\.[\w-]+)*$/)) })

const plain = (text: string, contentType: string) => HttpServerResponse.text(text, { contentType })
const markdownResponse = (text: string) => plain(text, "text/markdown; charset=utf-8")

/** Browsers revalidate pages each time, but cache the pages' assets while their content is the same. */
const fileResponse = ({ bytes, contentType, etag, gzip, policy }: SiteFile) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const own = {
      "x-content-type-options": "nosniff",
      vary: "accept-encoding",
      ...(policy === undefined ? { "cache-control": "no-cache", etag } : pageHeaders(policy))
    }
    if (policy === undefined && matchesIfNoneMatch(headers["if-none-match"], etag))
      return HttpServerResponse.empty({ status: 304, headers: own })
    return acceptsGzip(headers["accept-encoding"])
      ? HttpServerResponse.uint8Array(gzip, { contentType, headers: { ...own, "content-encoding": "gzip" } })
      : HttpServerResponse.uint8Array(bytes, { contentType, headers: own })
  })

/** How long, in a clone, a page waits for the build before it says so. */
const maxWait = "2 seconds"
const underWay = HttpServerResponse.text("The documentation is being built. This page reloads by itself.\n", {
  status: 503,
  headers: { "retry-after": "2", refresh: "2" }
})

const notBuilt = HttpServerResponse.text("The pages could not be built: `bun run build` says why.\n", {
  status: 503
})

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* AppConfig
    const absent = Effect.map(RequestId, (requestId) => envelopeResponse(new NotFound(), requestId, baseUrl))
    const siteFile = siteFiles(baseUrl)
    const answered = (path: string, otherwise: typeof absent) =>
      Effect.promise(() => siteFile(path)).pipe(
        Effect.flatMap((file) => (file === undefined ? otherwise : fileResponse(file))),
        Effect.timeoutOrElse({ duration: maxWait, orElse: () => Effect.succeed(underWay) })
      )

    const texts = yield* Effect.cached(
      Effect.gen(function* () {
        const { groups, main } = yield* documents
        const operations = groups.flatMap((group) => group.operations)
        const linked = [...main, ...operations].map(
          ({ name, summary, title }) =>
            `- [${title}](${baseUrl}/docs/${name}.md)${summary === "" ? "" : `: ${summary}`}`
        )
        return {
          contents: `# Documentation\n\n${linked.join("\n")}\n`,
          byName: new Map([...main, ...operations].map(({ name, markdown }) => [name, markdown]))
        }
      })
    )
    /** URLs are filled in at each request, because a package may have been rebuilt. */
    const markdown = (name: string) =>
      Effect.flatMap(texts, ({ byName }) => {
        const text = byName.get(name)
        return text === undefined
          ? absent
          : Effect.map(
              Effect.promise(() => namingContents(text.replaceAll("{base_url}", baseUrl), baseUrl)),
              markdownResponse
            )
      })

    for (const path of pages)
      yield* router.add(
        "GET",
        `/${path.slice(1)}`,
        answered(path === "/" ? "/index.html" : `${path}.html`, Effect.succeed(notBuilt))
      )
    for (const path of assetPaths)
      yield* router.add(
        "GET",
        path,
        HttpRouter.schemaPathParams(Name).pipe(
          Effect.flatMap(({ name }) => answered(path.replace(":name", name), absent)),
          Effect.catchTag("SchemaError", () => absent)
        )
      )
    for (const name of documentNames) yield* router.add("GET", `/docs/${name}.md`, markdown(name))
    yield* router.add(
      "GET",
      operationPath,
      HttpRouter.schemaPathParams(Name).pipe(
        Effect.flatMap(({ name }) =>
          name.endsWith(".md")
            ? markdown(`reference/${name.slice(0, -3)}`)
            : answered(`/docs/reference/${name}.html`, absent)
        ),
        Effect.catchTag("SchemaError", () => absent)
      )
    )
    yield* router.add("GET", "/favicon.ico", Effect.succeed(plain(icon, "image/svg+xml")))
    yield* router.add(
      "GET",
      "/llms.txt",
      Effect.map(texts, ({ contents }) => plain(contents, "text/plain; charset=utf-8"))
    )
    yield* router.add("GET", "/docs/webhook-vectors.json", Effect.succeed(jsonResponse(vectors)))
  })
)
