// Routes outside the versioned contract: is it alive, is it ready.
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { ready } from "../Database.ts"
import { Readiness } from "../workers/Readiness.ts"

/** Every GET path here, for the answers to other methods. */
export const systemPaths = ["/healthz", "/readyz"]

const json = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status })

export const layer = HttpRouter.add("GET", "/healthz", Effect.succeed(json({ status: "ok" })))

/** Ready when the database answers and carries every migration, until the instance stops. */
export const layerReady: Layer.Layer<never, never, HttpRouter.HttpRouter | SqlClient.SqlClient> =
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { stopping } = yield* Readiness
      const check = ready.pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.timeout("2 seconds"),
        Effect.orElseSucceed(() => false)
      )
      yield* router.add(
        "GET",
        "/readyz",
        Effect.suspend(() =>
          stopping()
            ? Effect.succeed(json({ status: "stopping" }, 503))
            : Effect.map(check, (ok) => json({ status: ok ? "ready" : "unavailable" }, ok ? 200 : 503))
        )
      )
    })
  )
