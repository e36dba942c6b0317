// `bun run bench startup`: from the start of the process to the first 200 of `/readyz`, on a
// migrated Postgres and on an existing embedded one; memory at rest; the demo from start to end.
import { Effect } from "effect"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { megabytesOf } from "./memory.ts"
import { startPostgres } from "./postgres.ts"
import { built, serviceEnv } from "./servers.ts"
import { settings } from "./settings.ts"
import { type Spread, spread } from "./statistics.ts"

interface StartResult {
  /** Seconds until ready. */
  readonly seconds: Spread
  /** Ten seconds after it is ready. */
  readonly idleMegabytes: number
}

export interface StartupResult {
  readonly postgres: StartResult
  readonly embedded: StartResult
  /** `bun run demo --once`, with everything installed. */
  readonly demoSeconds: number
}

/** Starts once, then stops as a deployment does. */
const startOnce = (env: Readonly<Record<string, string>>, restMillis = 0) =>
  Effect.scoped(
    Effect.gen(function* () {
      const begun = performance.now()
      const service = yield* spawnService(env, built)
      yield* untilReady(service)
      const seconds = (performance.now() - begun) / 1000
      yield* Effect.sleep(restMillis)
      const megabytes = megabytesOf(service.pid)
      yield* service.kill("SIGTERM")
      yield* service.exited
      return { seconds, megabytes }
    })
  )

const measureStarts = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  // The first start migrates, and creates the embedded database.
  yield* startOnce(env)
  const starts = yield* Effect.replicateEffect(startOnce(env), settings.rounds * 2)
  const { megabytes } = yield* startOnce(env, 10_000)
  const result: StartResult = {
    seconds: spread(starts.map(({ seconds }) => seconds)),
    idleMegabytes: megabytes
  }
  return result
})

export const measureStartup = Effect.gen(function* () {
  const postgres = yield* measureStarts({
    ...serviceEnv,
    DATABASE_URL: yield* startPostgres(),
    DATA_DIR: yield* temporaryDirectory
  })
  const embedded = yield* measureStarts({ ...serviceEnv, DATA_DIR: yield* temporaryDirectory })
  const begun = performance.now()
  const demo = yield* spawnProgram(["run", "demo", "--once"], {})
  const code = yield* demo.exited
  if (code !== 0) return yield* Effect.die(new Error(`the demo ended with ${code}`))
  const result: StartupResult = { postgres, embedded, demoSeconds: (performance.now() - begun) / 1000 }
  return result
})
