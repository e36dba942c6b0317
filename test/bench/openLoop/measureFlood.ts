// `bun run bench flood`: retrieves that arrive at a fixed rate, quiet and beside as many reports as the service takes.
import { Effect } from "effect"
import { temporaryDirectory } from "../../support/process.ts"
import { fillPostgres, makeDataset } from "../dataset.ts"
import { makeLoads, reportsWith } from "../loads.ts"
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
  /** Reports a second of those that arrive at a fixed rate. */
  readonly reportRate: number
  readonly rounds: ReadonlyArray<{
    readonly quiet: Arrivals
    /** Beside reports that arrive at a fixed rate. */
    readonly arriving: Arrivals
    /** Beside as many as 32 connections bring. */
    readonly flooded: Arrivals
    readonly reportsPerSecond: number
  }>
}

const rate = 100
/** What the limit and the peer take at most. */
const reportRate = 1_000
/** More than the service keeps the signers of, and sent in turn: each is recovered every time. */
const tokens = 6_000

export const measureFlood = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const { url: databaseUrl } = yield* startPostgres(["autovacuum=off"])
  const dataset = yield* makeDataset
  yield* fillPostgres(databaseUrl, dataset)
  const { url } = yield* startServer("service", { databaseUrl, directory })
  const loads = yield* Effect.promise(() => makeLoads(dataset))
  const reports = yield* Effect.promise(() => reportsWith(tokens, dataset))
  const retrieved = loads.find(({ name }) => name === "retrieve")?.requests(1) ?? []
  const seconds = settings.seconds
  const flood = (forSeconds: number) =>
    runWrk({ url, directory, seconds: forSeconds, requests: reports, once: false })
  const retrieves = (forSeconds: number) =>
    arrive({ url, directory, requests: retrieved, rate, seconds: forSeconds })
  return yield* Effect.promise(async (): Promise<FloodResult> => {
    await flood(seconds)
    await retrieves(seconds)
    const rounds: Array<FloodResult["rounds"][number]> = []
    for (let round = 0; round < settings.rounds; round++) {
      const quiet = await retrieves(seconds)
      const steady = arrive({ url, directory, requests: reports, rate: reportRate, seconds: seconds + 2 })
      await Bun.sleep(1_000)
      const arriving = await retrieves(seconds)
      await steady
      const flooding = flood(seconds + 2)
      await Bun.sleep(1_000)
      const flooded = await retrieves(seconds)
      const { perSecond: reportsPerSecond } = await flooding
      rounds.push({ quiet, arriving, flooded, reportsPerSecond })
      console.log(
        `flood  quiet p50 ${quiet.p50.toFixed(1)}, p99 ${quiet.p99.toFixed(1)} ms; beside ${reportRate} reports a second p50 ${arriving.p50.toFixed(1)}, p99 ${arriving.p99.toFixed(1)} ms; beside ${reportsPerSecond.toFixed(0)} reports a second p50 ${flooded.p50.toFixed(1)}, p99 ${flooded.p99.toFixed(1)} ms`
      )
    }
    return { seconds, rate, reportRate, rounds }
  })
})
