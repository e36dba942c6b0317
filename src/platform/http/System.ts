// Routes outside the versioned contract: liveness and readiness.

import { Effect, type Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { SqlClient } from "effect/sql"
import { envs, networks } from "../../domain/networks.ts"
import type { AppConfig } from "../AppConfig.ts"
import { tables } from "../database/migrations.ts"
import { makeReady } from "../database/ready.ts"
import { Networks, stateOf } from "../Networks.ts"
import { Readiness } from "../workers/Readiness.ts"
import { jsonResponse } from "./jsonResponse.ts"

/** Every GET path here, for the responses to other methods. */
export const systemPaths = ["/healthz", "/readyz"]

const json = (body: unknown, status = 200) => jsonResponse(body, status)

export const layer = HttpRouter.add("GET", "/healthz", Effect.succeed(json({ status: "ok" })))

/** Ready while the database has what this release needs and commits writes, until the instance stops. */
export const layerReady: Layer.Layer<never, never, HttpRouter.HttpRouter | SqlClient.SqlClient | AppConfig> =
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { stopping } = yield* Readiness
      const states = yield* Networks
      /** The state of each network that is not closed, by the setting that opens it. */
      const opened = Object.fromEntries(
        envs.flatMap((env) => {
          const [{ execution }, state] = [networks[env], stateOf(states, env)]
          return execution === "open" || state === "closed" ? [] : [[execution.toLowerCase(), state]]
        })
      )
      const check = yield* makeReady(tables).pipe(
        Effect.map(Effect.provideContext(yield* Effect.context<SqlClient.SqlClient | AppConfig>()))
      )
      yield* router.add(
        "GET",
        "/readyz",
        Effect.suspend(() =>
          stopping()
            ? Effect.succeed(json({ status: "stopping" }, 503))
            : Effect.map(check, (ok) =>
                json({ status: ok ? "ready" : "unavailable", ...opened }, ok ? 200 : 503)
              )
        )
      )
    })
  )
