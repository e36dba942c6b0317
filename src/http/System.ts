// Routes outside the versioned contract: health and the contract itself.
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Api } from "../Api.ts"
import { ready } from "../Database.ts"

/** Every GET path here, for the answers to other methods. */
export const systemPaths = ["/healthz", "/readyz", "/openapi.json"]

const json = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status })

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    yield* router.add("GET", "/healthz", Effect.succeed(json({ status: "ok" })))
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.sync(() => json(OpenApi.fromApi(Api)))
    )
  })
)

/** Ready when the database answers and carries every migration. */
export const layerReady: Layer.Layer<never, never, HttpRouter.HttpRouter | SqlClient.SqlClient> =
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const check = ready.pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.timeout("2 seconds"),
        Effect.orElseSucceed(() => false)
      )
      yield* router.add(
        "GET",
        "/readyz",
        Effect.map(check, (ok) => json({ status: ok ? "ready" : "unavailable" }, ok ? 200 : 503))
      )
    })
  )
