// The OpenAPI document of the running service.
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { Api } from "../Api.ts"
import { AppConfig } from "../AppConfig.ts"
import { withExamples } from "./exampleOf.ts"
import { webhooks } from "./webhooks.ts"

export const documentPaths = ["/openapi.json"]

/** The OpenAPI 3.1 document; `baseUrl` is the deployment's origin. */
export const openApiDocument = (baseUrl: string): Readonly<Record<string, unknown>> =>
  withExamples({ ...OpenApi.fromApi(Api), servers: [{ url: baseUrl }], webhooks })

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* AppConfig
    const document = yield* Effect.cached(
      Effect.sync(() => HttpServerResponse.jsonUnsafe(openApiDocument(baseUrl)))
    )
    yield* router.add("GET", "/openapi.json", document)
  })
)
