// A locked table: the levels that cannot be measured are absent, and doctor shows the database's error.
import { expect } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

liveEffect("while a session locks a table, work is reported as not measured", () =>
  Effect.gen(function* () {
    const metricsPort = yield* freePort(0)
    const env = {
      DATABASE_URL: yield* ownDatabase(),
      DATA_DIR: yield* temporaryDirectory,
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
    }
    yield* untilReady(yield* spawnService({ ...env, METRICS_PORT: String(metricsPort) }))
    const levels = Effect.promise(async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      return text.match(/^quittance_(chain_unread_seconds|queue_\w+|open_alerts)\b/gm)?.length ?? 0
    }).pipe(Effect.delay("100 millis"))
    const workLines = Effect.gen(function* () {
      const doctor = yield* spawnProgram(["src/app/cli/main.ts", "doctor"], env)
      yield* doctor.exited
      return doctor.output().match(/work .*/g) ?? []
    })
    const measured = yield* Effect.repeat(levels, { until: (count) => count > 0 })

    const locker = yield* Effect.acquireRelease(
      Effect.sync(() => new SQL(env.DATABASE_URL, { max: 1 })),
      (sql) => Effect.promise(() => sql.close())
    )
    const lines = yield* Effect.promise(() =>
      locker.begin(async (sql) => {
        await sql`LOCK TABLE incoming_transfers IN ACCESS EXCLUSIVE MODE`
        return Effect.runPromise(
          Effect.scoped(Effect.andThen(Effect.repeat(levels, { until: (count) => count === 0 }), workLines))
        )
      })
    )
    expect(lines).toEqual([
      expect.stringMatching(
        /Waiting work cannot be measured: canceling statement due to lock timeout; incoming_transfers is locked by process \d+\.$/
      )
    ])
    expect(yield* Effect.repeat(levels, { until: (count) => count > 0 })).toBe(measured)
  })
)
