// `bun run bench workers`: the service by how many processes serve its port, under the same loads in turn.
import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../src/dev/freePort.ts"
import { spawnProgram, temporaryDirectory, untilReady } from "../support/process.ts"
import { fillPostgres, makeDataset } from "./dataset.ts"
import { type LoadName, makeLoads } from "./loads.ts"
import { megabytesOf } from "./memory.ts"
import { startPostgres } from "./postgres.ts"
import { built, dataDirOf, serviceEnv } from "./servers.ts"
import { settings } from "./settings.ts"
import { connections, runWrk, type Sample } from "./wrk.ts"

export interface WorkersResult {
  readonly rounds: number
  readonly seconds: number
  readonly connections: number
  /** How many processes serve, the first of them one. */
  readonly counts: ReadonlyArray<number>
  readonly loads: ReadonlyArray<{
    readonly name: LoadName
    /** For each count, by round. */
    readonly samples: ReadonlyArray<ReadonlyArray<Sample>>
  }>
  /** For each count, of all its processes and their supervisor. */
  readonly idleMegabytes: ReadonlyArray<number>
}

/** 1, 2, 4 and so on, as far as there are cores; 2 in any case. */
const counts = [1, 2, 4, 8, 16, 32].filter((count) => count <= Math.max(2, availableParallelism()))

const processesOf = (pid: number): ReadonlyArray<number> => [
  pid,
  ...readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)
  )
]

export const measureWorkers = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const { url: databaseUrl } = yield* startPostgres(["autovacuum=off"])
  const dataset = yield* makeDataset
  yield* fillPostgres(databaseUrl, dataset)
  const servers = yield* Effect.forEach(counts, (count) =>
    Effect.gen(function* () {
      const port = yield* freePort(0)
      const { pid, output } = yield* spawnProgram([built], {
        ...serviceEnv,
        WORKERS: String(count),
        DATABASE_CONNECTIONS: String(Math.max(16, 4 * count)),
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDirOf(directory, `workers${count}`),
        PORT: String(port),
        HOST: "127.0.0.1"
      })
      const url = `http://127.0.0.1:${port}`
      yield* untilReady({ baseUrl: url, output })
      const wanted = count === 1 ? 1 : count + 1
      while (processesOf(pid).length < wanted) yield* Effect.sleep("50 millis")
      return { count, pid, url }
    })
  )
  yield* Effect.sleep("3 seconds")
  const idleMegabytes = servers.map(({ pid }) =>
    processesOf(pid).reduce((sum, one) => sum + megabytesOf(one), 0)
  )
  const made = yield* Effect.promise(() => makeLoads(dataset))
  const loads = yield* Effect.promise(async () => {
    const sql = new SQL(databaseUrl, { max: 1 })
    const results: Array<WorkersResult["loads"][number]> = []
    for (const load of made) {
      const samples = servers.map((): Array<Sample> => [])
      for (let round = 0; round <= settings.rounds; round++) {
        await sql.unsafe("VACUUM ANALYZE")
        for (let turn = 0; turn < servers.length; turn++) {
          const index = (turn + round) % servers.length
          const server = servers[index]
          if (server === undefined) continue
          const requests = load.requests(settings.seconds)
          await sql.unsafe("CHECKPOINT")
          const { url } = server
          const sample = await runWrk({
            url,
            directory,
            seconds: settings.seconds,
            requests,
            once: load.once
          })
          if (round > 0) samples[index]?.push(sample)
          console.log(
            `${load.name.padEnd(17)} ${(round === 0 ? "warm-up" : `round ${round}`).padEnd(8)} ${String(server.count).padStart(2)} ` +
              `${sample.perSecond.toFixed(0).padStart(7)}/s  p50 ${sample.p50.toFixed(2)} ms  p99 ${sample.p99.toFixed(2)} ms`
          )
        }
      }
      results.push({ name: load.name, samples })
    }
    await sql.close()
    return results
  })
  const result: WorkersResult = {
    rounds: settings.rounds,
    seconds: settings.seconds,
    connections,
    counts,
    loads,
    idleMegabytes
  }
  return result
})
