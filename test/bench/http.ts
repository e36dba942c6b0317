// `bun run bench http`: the servers under one load, in turn, several rounds.
import { SQL } from "bun"
import { Effect } from "effect"
import { temporaryDirectory } from "../support/process.ts"
import { checkAnswers } from "./checkAnswers.ts"
import { fillPostgres, makeDataset } from "./dataset.ts"
import { type LoadName, makeLoads } from "./loads.ts"
import { megabytesOf, watchMemory } from "./memory.ts"
import { startPostgres } from "./postgres.ts"
import { type ServerName, serverNames, startServer } from "./servers.ts"
import { settings } from "./settings.ts"
import { ratios, type Spread } from "./statistics.ts"
import { runWrk, type Sample } from "./wrk.ts"

type Of<A> = Readonly<Record<ServerName, A>>

export interface LoadResult {
  readonly name: LoadName
  /** The samples of each server, by round. */
  readonly samples: Of<ReadonlyArray<Sample>>
  /** The peak memory of each server under load. */
  readonly peakMegabytes: Of<number>
}

export interface HttpResult {
  readonly loads: ReadonlyArray<LoadResult>
  readonly idleMegabytes: Of<number>
}

/** The service's value as a fraction of another server's, computed for each round. */
export const sampleRatios = ({ samples }: LoadResult, to: ServerName, what: "perSecond" | "p99"): Spread =>
  ratios(
    samples.service.map((sample) => sample[what]),
    samples[to].map((sample) => sample[what])
  )

const ofEach = <A>(make: (name: ServerName) => A): Of<A> => ({
  service: make("service"),
  limit: make("limit"),
  peer: make("peer")
})

export const measureHttp = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const databaseUrl = yield* startPostgres(["autovacuum=off"])
  const dataset = yield* makeDataset
  yield* fillPostgres(databaseUrl, dataset)
  const servers = yield* Effect.forEach(serverNames, (name) => startServer(name, databaseUrl))
  const pids = new Map(servers.map(({ name, pid }) => [name, pid]))
  yield* Effect.sleep("1 second")
  const idleMegabytes = ofEach((name) => megabytesOf(pids.get(name) ?? 0))
  const loads = yield* Effect.promise(() => makeLoads(dataset))
  yield* Effect.promise(() => checkAnswers(servers, loads))

  const measured = yield* Effect.promise(async () => {
    const sql = new SQL(databaseUrl, { max: 1 })
    const results: Array<LoadResult> = []
    for (const { name, once, requests } of loads) {
      const samples = ofEach((): Array<Sample> => [])
      const peaks = { service: 0, limit: 0, peer: 0 }
      for (let round = 0; round <= settings.rounds; round++) {
        // The work of autovacuum within a minute of growth, for all servers and while none is timed.
        await sql.unsafe("VACUUM ANALYZE")
        // A different one begins each round, so that none always follows the same neighbour.
        for (const turn of servers.keys()) {
          const server = servers[(turn + round) % servers.length]
          if (server === undefined) continue
          const options = { directory, url: server.url, requests: requests(settings.seconds), once }
          await sql.unsafe("CHECKPOINT")
          const stopWatching = watchMemory(server.pid)
          const sample = await runWrk(options)
          peaks[server.name] = Math.max(peaks[server.name], stopWatching())
          if (round > 0) samples[server.name].push(sample)
          console.log(`http   round ${round} ${name}: ${server.name} ${sample.perSecond.toFixed(0)}/s`)
        }
      }
      results.push({ name, samples, peakMegabytes: peaks })
    }
    await sql.close()
    return results
  })
  const result: HttpResult = { loads: measured, idleMegabytes }
  return result
})
