// Closes alerts about nodes that are no longer configured: nobody queries them, so nobody would notice their recovery.
import { DateTime, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { Env } from "../domain/Chain.ts"
import { AlertRepo } from "../platform/alerts/AlertRepo.ts"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { alertKindOf } from "./layerChainAlerts.ts"
import { RpcPool } from "./RpcPool.ts"

/** At the start and then repeatedly, because a stopping instance may have queried such a node for a while. */
const pause = Effect.sleep("1 hour")

export const layerRetiredNodes: Layer.Layer<never, never, RpcPool | SqlClient.SqlClient> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const repo = yield* AlertRepo
      const pool = yield* RpcPool
      const configured = Env.literals.flatMap((env) => pool.nodes(env).map(({ host }) => `${env} ${host}`))
      const close = Effect.gen(function* () {
        const at = yield* DateTime.nowAsDate
        for (const subject of yield* repo.closeOthers(Object.values(alertKindOf), configured, at))
          yield* Effect.logInfo("Alert resolved: its node is no longer configured").pipe(
            Effect.annotateLogs({ subject })
          )
      })
      yield* startPeriodic("Closing alerts of nodes that are no longer configured", pause, close)
    })
  ).pipe(Layer.provide(AlertRepo.layer))
