// `bun run bench startup`: from the start of the process to the first 200 of `/readyz`, on a
// migrated Postgres and on an existing embedded one; memory at rest; the demo from start to end.
import { Effect } from "effect"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { megabytesOf } from "./memory.ts"
import { startPostgres } from "./postgres.ts"
import { built, serviceEnv } from "./servers.ts"
import { settings } from "./settings.ts"
import { type Spread, spread } from "./statistics.ts"

export interface StartResult {
  /** Seconds to ready. */
  readonly seconds: Spread
  /** Ten seconds after that. */
  readonly idleMegabytes: number
}

export interface StartupResult {
  readonly starts: number
  readonly postgres: StartResult
  readonly embedded: StartResult
  /** `bun run demo --once`, everything installed. */
  readonly demoSeconds: Spread
}

const starts = settings.rounds * 2
const demoRuns = Math.min(settings.rounds, 3)

/** Starts once, then stops as a deployment does. */
const startOnce = (env: Readonly<Record<string, string>>, restMillis: number) =>
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

export const measureStartup = Effect.gen(function* () {
  const { url } = yield* startPostgres()
  const environments = {
    postgres: { ...serviceEnv, DATABASE_URL: url, DATA_DIR: yield* temporaryDirectory },
    embedded: { ...serviceEnv, DATA_DIR: yield* temporaryDirectory }
  }
  const seconds = { postgres: [] as Array<number>, embedded: [] as Array<number> }
  for (let round = 0; round <= starts; round++) {
    for (const name of ["postgres", "embedded"] as const) {
      const start = yield* startOnce(environments[name], 0)
      // The first migrates, and makes the embedded database.
      console.log(
        `start  ${round === 0 ? "first" : `round ${round}`} ${name.padEnd(9)} ${start.seconds.toFixed(2)} s`
      )
      if (round > 0) seconds[name].push(start.seconds)
    }
  }
  const resting = yield* Effect.all({
    postgres: startOnce(environments.postgres, 10_000),
    embedded: startOnce(environments.embedded, 10_000)
  })

  const demos: Array<number> = []
  for (let round = 0; round < demoRuns; round++) {
    const begun = performance.now()
    const code = yield* Effect.scoped(
      Effect.flatMap(spawnProgram(["run", "demo", "--once"], {}), ({ exited }) => exited)
    )
    if (code !== 0) return yield* Effect.die(new Error(`the demo ended with ${code}`))
    demos.push((performance.now() - begun) / 1000)
    console.log(`demo   round ${round + 1} ${demos.at(-1)?.toFixed(1)} s`)
  }
  const result: StartupResult = {
    starts,
    postgres: { seconds: spread(seconds.postgres), idleMegabytes: resting.postgres.megabytes },
    embedded: { seconds: spread(seconds.embedded), idleMegabytes: resting.embedded.megabytes },
    demoSeconds: spread(demos)
  }
  return result
})
