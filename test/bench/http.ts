// `bun run bench http`: the servers under one load, in turn, several rounds.
import { SQL } from "bun"
import { Effect } from "effect"
import { temporaryDirectory } from "../support/process.ts"
import { checkAnswers } from "./answers.ts"
import { fillPostgres, makeDataset } from "./dataset.ts"
import { chosenLoads, type LoadName, makeLoads } from "./loads.ts"
import { megabytesOf, watchMemory } from "./memory.ts"
import { startPostgres } from "./postgres.ts"
import { type ServerName, serverNames, startServer } from "./servers.ts"
import { settings } from "./settings.ts"
import { ratios, type Spread } from "./statistics.ts"
import { connections, runWrk, type Sample } from "./wrk.ts"

type Of<A> = Readonly<Record<ServerName, A>>

export interface LoadResult {
  readonly name: LoadName
  /** Of each server by round. */
  readonly samples: Of<ReadonlyArray<Sample>>
  /** The most that a server held while it was loaded, in megabytes. */
  readonly peakMegabytes: Of<number>
}

export interface HttpResult {
  readonly rounds: number
  readonly seconds: number
  readonly connections: number
  readonly loads: ReadonlyArray<LoadResult>
  readonly idleMegabytes: Of<number>
}

/** Requests a second of one server as a part of another's, of each round its own. */
export const rateRatios = ({ samples }: LoadResult, of: ServerName, to: ServerName): Spread =>
  ratios(
    samples[of].map(({ perSecond }) => perSecond),
    samples[to].map(({ perSecond }) => perSecond)
  )

const ofEach = <A>(make: (name: ServerName) => A): Of<A> => ({
  service: make("service"),
  limit: make("limit"),
  peer: make("peer")
})

export const measureHttp = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const { url: databaseUrl } = yield* startPostgres(["autovacuum=off"])
  const dataset = yield* makeDataset
  yield* fillPostgres(databaseUrl, dataset)
  const servers = yield* Effect.forEach(serverNames, (name) => startServer(name, { databaseUrl, directory }))
  const pids = new Map(servers.map(({ name, pid }) => [name, pid]))
  yield* Effect.sleep("1 second")
  const idleMegabytes = ofEach((name) => megabytesOf(pids.get(name) ?? 0))
  const loads = yield* Effect.promise(() => makeLoads(dataset))
  yield* Effect.promise(() => checkAnswers(servers, dataset, loads))
  console.log("The answers of all are right.")

  const measured = yield* Effect.promise(async () => {
    const sql = new SQL(databaseUrl, { max: 1 })
    const results: Array<LoadResult> = []
    for (const load of chosenLoads(loads)) {
      const samples = ofEach((): Array<Sample> => [])
      const peaks = new Map<ServerName, number>()
      for (let round = 0; round <= settings.rounds; round++) {
        // What autovacuum does within a minute of growth, for all and while none is timed.
        await sql.unsafe("VACUUM ANALYZE")
        // Another begins each round, so that none is always behind the same neighbour.
        for (let turn = 0; turn < servers.length; turn++) {
          const server = servers[(turn + round) % servers.length]
          if (server === undefined) continue
          const requests = load.requests(settings.seconds)
          await sql.unsafe("CHECKPOINT")
          const memory = watchMemory(server.pid)
          const sample = await runWrk({
            url: server.url,
            directory,
            seconds: settings.seconds,
            requests,
            once: load.once
          })
          peaks.set(server.name, Math.max(peaks.get(server.name) ?? 0, memory.stop()))
          if (round > 0) samples[server.name].push(sample)
          console.log(
            `${load.name.padEnd(17)} ${(round === 0 ? "warm-up" : `round ${round}`).padEnd(8)} ${server.name.padEnd(9)}` +
              `${sample.perSecond.toFixed(0).padStart(7)}/s  p50 ${sample.p50.toFixed(2)} ms  p99 ${sample.p99.toFixed(2)} ms`
          )
        }
      }
      results.push({
        name: load.name,
        samples,
        peakMegabytes: ofEach((name) => peaks.get(name) ?? Number.NaN)
      })
    }
    await sql.close()
    return results
  })
  const result: HttpResult = {
    rounds: settings.rounds,
    seconds: settings.seconds,
    connections,
    loads: measured,
    idleMegabytes
  }
  return result
})
