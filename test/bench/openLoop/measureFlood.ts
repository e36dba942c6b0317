// `bun run bench flood`: retrieves that arrive at a fixed rate, quiet and beside as many reports as the service takes.
import { Effect } from "effect"
import { temporaryDirectory } from "../../support/process.ts"
import { fillPostgres, makeDataset } from "../dataset.ts"
import { makeLoads } from "../loads.ts"
import { startPostgres } from "../postgres.ts"
import { startServer } from "../servers.ts"
import { settings } from "../settings.ts"
import { runWrk } from "../wrk.ts"
import type { Arrivals } from "./arrivals.ts"
import { arrive } from "./arrive.ts"

export interface FloodResult {
  readonly seconds: number
  /** Retrieves a second. */
  readonly rate: number
  readonly rounds: ReadonlyArray<{
    readonly quiet: Arrivals
    readonly flooded: Arrivals
    readonly reportsPerSecond: number
  }>
}

const rate = 100

export const measureFlood = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const { url: databaseUrl } = yield* startPostgres(["autovacuum=off"])
  const dataset = yield* makeDataset
  yield* fillPostgres(databaseUrl, dataset)
  const { url } = yield* startServer("service", { databaseUrl, directory })
  const loads = yield* Effect.promise(() => makeLoads(dataset))
  const requestsOf = (name: string) => loads.find((load) => load.name === name)?.requests(1) ?? []
  const seconds = settings.seconds
  const flood = (forSeconds: number) =>
    runWrk({ url, directory, seconds: forSeconds, requests: requestsOf("report, replayed"), once: false })
  const retrieves = (forSeconds: number) =>
    arrive({ url, directory, requests: requestsOf("retrieve"), rate, seconds: forSeconds })
  return yield* Effect.promise(async (): Promise<FloodResult> => {
    await flood(seconds)
    await retrieves(seconds)
    const rounds: Array<FloodResult["rounds"][number]> = []
    for (let round = 0; round < settings.rounds; round++) {
      const quiet = await retrieves(seconds)
      const reports = flood(seconds + 2)
      await Bun.sleep(1_000)
      const flooded = await retrieves(seconds)
      const { perSecond: reportsPerSecond } = await reports
      rounds.push({ quiet, flooded, reportsPerSecond })
      console.log(
        `flood  quiet p50 ${quiet.p50.toFixed(1)}, p99 ${quiet.p99.toFixed(1)} ms; beside ${reportsPerSecond.toFixed(0)} reports a second p50 ${flooded.p50.toFixed(1)}, p99 ${flooded.p99.toFixed(1)} ms`
      )
    }
    return { seconds, rate, rounds }
  })
})
