// `bun run bench openloop`: requests that arrive at a fixed rate, at parts of the most that each server takes.
import { SQL } from "bun"
import { Effect } from "effect"
import { temporaryDirectory } from "../../support/process.ts"
import { fillPostgres, makeDataset } from "../dataset.ts"
import { type LoadName, makeLoads } from "../loads.ts"
import { startPostgres } from "../postgres.ts"
import { type Server, startServer } from "../servers.ts"
import { settings } from "../settings.ts"
import { median } from "../statistics.ts"
import { runWrk } from "../wrk.ts"
import type { Arrivals } from "./arrivals.ts"
import { arrive } from "./arrive.ts"

const servers = ["service", "limit", "peer"] as const
type OpenLoopServer = (typeof servers)[number]
const measured: ReadonlySet<LoadName> = new Set(["create intent", "retrieve", "open payment"])
export const shares = [0.25, 0.5, 0.75, 0.9] as const

export interface OpenLoopResult {
  readonly seconds: number
  readonly loads: ReadonlyArray<{
    readonly name: LoadName
    readonly of: ReadonlyArray<{
      readonly server: OpenLoopServer
      /** Requests a second in a closed loop, just before. */
      readonly maximum: number
      /** By share of the maximum. */
      readonly arrivals: ReadonlyArray<Arrivals>
    }>
  }>
}

export const measureOpenLoop = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const { url: databaseUrl } = yield* startPostgres(["autovacuum=off"])
  const dataset = yield* makeDataset
  yield* fillPostgres(databaseUrl, dataset)
  const running = yield* Effect.forEach(servers, (name) => startServer(name, { databaseUrl, directory }))
  const seconds = settings.seconds
  const loads = yield* Effect.promise(() => makeLoads(dataset))
  return yield* Effect.promise(async (): Promise<OpenLoopResult> => {
    const sql = new SQL(databaseUrl, { max: 1 })
    const results: Array<OpenLoopResult["loads"][number]> = []
    for (const load of loads.filter(({ name }) => measured.has(name))) {
      const closed = async ({ url }: Server) => {
        const { perSecond } = await runWrk({
          ...{ url, directory, seconds, requests: load.requests(seconds), once: load.once }
        })
        return perSecond
      }
      const of: Array<OpenLoopResult["loads"][number]["of"][number]> = []
      for (const server of running) {
        await sql.unsafe("VACUUM ANALYZE")
        await closed(server)
        const maximum = median([await closed(server), await closed(server), await closed(server)])
        const arrivals: Array<Arrivals> = []
        for (const share of shares) {
          await sql.unsafe("CHECKPOINT")
          const rate = share * maximum
          const one = await arrive({
            ...{
              url: server.url,
              directory,
              requests: load.requests(2 * seconds),
              rate,
              seconds: 2 * seconds
            }
          })
          arrivals.push(one)
          console.log(
            `${load.name.padEnd(14)} ${server.name.padEnd(9)} ${(100 * share).toFixed(0)} % of ${maximum.toFixed(0)}/s` +
              `  p50 ${one.p50.toFixed(2)}  p99 ${one.p99.toFixed(2)}  p99.9 ${one.p999.toFixed(2)} ms`
          )
        }
        const name = servers.find((known) => known === server.name)
        if (name !== undefined) of.push({ server: name, maximum, arrivals })
      }
      results.push({ name: load.name, of })
    }
    await sql.close()
    return { seconds: 2 * seconds, loads: results }
  })
})
