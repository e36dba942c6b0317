// The OpenAPI document of the running service.

import { Effect, type Layer } from "effect"
import { HttpRouter } from "effect/http"
import { OpenApi } from "effect/http-api"
import { attemptsInWords } from "../../domain/attemptsInWords.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { delaySeconds } from "../../platform/workers/RetrySchedule.ts"
import { RetryPolicy } from "../../webhooks/RetryPolicy.ts"
import { Api } from "../Api.ts"
import { repeatedAsComponents } from "./repeatedAsComponents.ts"
import { webhooks } from "./webhooks.ts"

export const documentPaths = ["/openapi.json"]

/** Each operation with all of its responses in place; `baseUrl` is the deployment's origin. */
export const contractDocument: (baseUrl: string) => Effect.Effect<Readonly<Record<string, unknown>>> =
  Effect.fnUntraced(function* (baseUrl) {
    const retries = attemptsInWords(yield* delaySeconds(yield* RetryPolicy))
    return { ...OpenApi.fromApi(Api), servers: [{ url: baseUrl }], webhooks: webhooks(retries) }
  })

/** The published OpenAPI 3.1 document. */
export const openApiDocument = (baseUrl: string): Effect.Effect<Readonly<Record<string, unknown>>> =>
  Effect.map(contractDocument(baseUrl), repeatedAsComponents)

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* AppConfig
    const document = yield* Effect.cached(
      Effect.map(openApiDocument(baseUrl), (document) => jsonResponse(document))
    )
    yield* router.add("GET", "/openapi.json", document)
  })
)
