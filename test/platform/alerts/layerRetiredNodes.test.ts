// An alert about a node that is no longer configured closes by itself; an alert about a configured one stays.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { layerRetiredNodes } from "../../../src/chain/layerRetiredNodes.ts"
import { RpcPool } from "../../../src/chain/RpcPool.ts"
import { Alerts } from "../../../src/platform/alerts/Alerts.ts"
import { until } from "../../notifications/notificationWorld.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

const pool = RpcPool.layer({ urls: { test: ["https://kept.example:8545"], live: ["https://moved.example"] } })

describe("Nodes that are no longer configured", () => {
  liveEffect("have their alerts closed at the start", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const alerts = yield* Alerts
      const raise = (kind: "rpc_unreachable" | "wrong_chain" | "clock_skew", subject: string) =>
        alerts.raise({ kind, tenant: Option.none(), subject, message: "Look." })
      yield* raise("rpc_unreachable", "test kept.example:8545")
      yield* raise("rpc_unreachable", "test gone.example")
      yield* raise("wrong_chain", "test moved.example")
      yield* raise("clock_skew", "database")
      const open = sql`SELECT subject FROM alerts WHERE acknowledged_at IS NULL ORDER BY subject`
      yield* Layer.build(layerRetiredNodes)
      yield* until(
        "they are closed",
        Effect.map(open, (rows) => rows.length === 2)
      )
      expect(yield* open).toEqual([{ subject: "database" }, { subject: "test kept.example:8545" }])
      // No person has acknowledged them.
      expect(
        yield* sql`SELECT 1 FROM alerts WHERE acknowledged_at IS NOT NULL AND acknowledged_by IS NOT NULL`
      ).toEqual([])
      // An instance that still has the node raises it again: the same alert, unless a person has closed it.
      const again = (subject: string) =>
        alerts.raise({
          kind: "rpc_unreachable",
          tenant: Option.none(),
          subject,
          resumesSince: new Date(Date.now() - 60_000),
          message: "Look again."
        })
      yield* sql`UPDATE alerts SET acknowledged_at = now(), acknowledged_by = 'a person' WHERE subject = 'test kept.example:8545'`
      yield* again("test gone.example")
      yield* again("test kept.example:8545")
      expect(
        yield* sql`SELECT subject, count(*)::int AS count FROM alerts WHERE kind = 'rpc_unreachable' GROUP BY subject ORDER BY subject`
      ).toEqual([
        { subject: "test gone.example", count: 1 },
        { subject: "test kept.example:8545", count: 2 }
      ])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.merge(Alerts.layer, pool).pipe(
          Layer.provideMerge(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto))
        )
      )
    )
  )
})
