// What developers read of the running service: guides, the reference, errors; each as a page and as markdown.
// Beside them the front page.

import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import vectors from "../../../docs/guides/webhook-vectors.json"
import manifest from "../../../package.json" with { type: "json" }
import { AppConfig } from "../../platform/AppConfig.ts"
import { jsonAnswer } from "../../platform/http/jsonAnswer.ts"
import { pageHeaders } from "../../platform/pages/pageHeaders.ts"
import { openApiDocument } from "../openapi/Documents.ts"
import { wheelName } from "../packages/wheelName.ts"
import { errorsGuide } from "./errorsGuide.ts"
import { guidePage, guidePolicy } from "./guidePage.ts"
import { guides, titleOf } from "./guides.ts"
import { namingContents } from "./Packages.ts"
import { referenceGuide } from "./referenceGuide.ts"

const names = [...guides.map(({ name }) => name), "errors", "reference"]
/** Every GET path here, for the answers to other methods. */
export const guidePaths: ReadonlyArray<string> = [
  "/",
  "/favicon.ico",
  "/llms.txt",
  "/docs",
  "/docs/webhook-vectors.json",
  ...names.flatMap((name) => [`/docs/${name}`, `/docs/${name}.md`])
]

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M9 16.5l4.5 4.5L23 11.5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

const front = `# Quittance

This service takes payments in USDC for online shops: it proves each payment on the chain and tells the shop by a signed webhook. **It cannot take real money yet**: test payments run on Base Sepolia, live ones stay pending.

- [Dashboard](/dashboard): keys, payments, webhooks
- [Guides and reference](/docs), begin with the [quickstart](/docs/quickstart)
- [Playground](/playground)
`

const contents = (
  baseUrl: string,
  summaries: ReadonlyArray<readonly [name: string, title: string, summary: string]>
) =>
  `# Documentation

${summaries.map(([name, title, summary]) => `- [${title}](${baseUrl}/docs/${name}${baseUrl === "" ? "" : ".md"}): ${summary}`).join("\n")}
`

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* AppConfig
    const navigation = [
      { path: "/docs", title: "Contents" },
      ...guides.map(({ name, markdown }) => ({ path: `/docs/${name}`, title: titleOf(markdown) })),
      { path: "/docs/errors", title: "Errors" },
      { path: "/docs/reference", title: "API reference" }
    ]
    const summaries: ReadonlyArray<readonly [string, string, string]> = [
      ...guides.map(({ name, markdown, summary }) => [name, titleOf(markdown), summary] as const),
      ["errors", "Errors", "Every code, what it means and what to do in code"],
      ["reference", "API reference", "Every endpoint with its examples"]
    ]
    const texts: Readonly<Record<string, Effect.Effect<string>>> = {
      ...Object.fromEntries(guides.map(({ name, markdown }) => [name, Effect.succeed(markdown)])),
      errors: Effect.succeed(errorsGuide),
      reference: Effect.map(openApiDocument(baseUrl), referenceGuide)
    }
    const filled = (markdown: string) =>
      markdown
        .replaceAll("{base_url}", baseUrl)
        .replaceAll("{wheel}", wheelName)
        .replaceAll("{version}", manifest.version)
    const html = (markdown: string, path: string) =>
      HttpServerResponse.setHeaders(
        HttpServerResponse.html(guidePage(markdown, path, path === "/" ? [] : navigation)),
        pageHeaders(guidePolicy)
      )
    const plain = (text: string, contentType: string) => HttpServerResponse.text(text, { contentType })

    yield* router.add("GET", "/", Effect.succeed(html(front, "/")))
    yield* router.add("GET", "/favicon.ico", Effect.succeed(plain(icon, "image/svg+xml")))
    yield* router.add("GET", "/docs", Effect.succeed(html(contents("", summaries), "/docs")))
    yield* router.add(
      "GET",
      "/llms.txt",
      Effect.succeed(plain(contents(baseUrl, summaries), "text/plain; charset=utf-8"))
    )
    yield* router.add("GET", "/docs/webhook-vectors.json", Effect.succeed(jsonAnswer(vectors)))
    for (const [name, text] of Object.entries(texts)) {
      const named = yield* Effect.cached(
        Effect.flatMap(text, (markdown) => Effect.promise(() => namingContents(filled(markdown), baseUrl)))
      )
      const page = yield* Effect.cached(Effect.map(named, (markdown) => html(markdown, `/docs/${name}`)))
      const source = Effect.map(named, (markdown) => plain(markdown, "text/markdown; charset=utf-8"))
      yield* router.add("GET", `/docs/${name}`, page)
      yield* router.add("GET", `/docs/${name}.md`, source)
    }
  })
)
