// `bun run bench watcher`: what a block costs the service, by how many addresses wait to be paid: its processor time,
// requests to the node and transactions of the database, less what it takes while no block comes.
import { readFileSync } from "node:fs"
import { SQL } from "bun"
import { Effect } from "effect"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { startPostgres } from "./postgres.ts"
import { built, serviceEnv } from "./servers.ts"

export interface WatcherResult {
  /** Seconds between two blocks, as on Base. */
  readonly blockSeconds: number
  readonly at: ReadonlyArray<{
    readonly addresses: number
    /** Of the service's process, a block. */
    readonly cpuMillis: number
    readonly requests: number
    readonly transactions: number
  }>
}

const blockSeconds = 2
const blocks = 20
const sizes = [1, 1_000, 10_000]

/** Clock ticks of Linux are hundredths of a second. */
const cpuMillis = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Passes requests on to the node and counts them. */
const countingProxy = (rpcUrl: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      let requests = 0
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          const body = await request.text()
          const asked: unknown = JSON.parse(body)
          requests += Array.isArray(asked) ? asked.length : 1
          return fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
        }
      })
      return {
        url: `http://127.0.0.1:${server.port}`,
        requests: () => requests,
        stop: () => server.stop(true)
      }
    }),
    ({ stop }) => Effect.promise(() => stop())
  )

/** Merchants with an address each that a pending payment of the last minute waits for. */
const fill = async (sql: SQL, count: number) => {
  await sql.unsafe(`
    INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
    SELECT gen_random_uuid(), 'M' || n, decode(md5('r' || n) || '0badcafe', 'hex'), decode(md5('l' || n) || '0badcafe', 'hex'), now()
    FROM generate_series(1, ${count}) AS n`)
  await sql.unsafe(`
    INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
    SELECT gen_random_uuid(), id, 'test', 'pending', 1000000, 'PAY-' || upper(substr(md5(id::text), 1, 8)),
      'https://shop.example.com/', receiver_test, 'human', now() FROM merchants`)
}

const measureAt = Effect.fnUntraced(function* (addresses: number) {
  const chain = yield* LocalChain
  const { url } = yield* startPostgres()
  const proxy = yield* countingProxy(chain.rpcUrl)
  const env = {
    ...serviceEnv,
    DATABASE_URL: url,
    DATA_DIR: yield* temporaryDirectory,
    BASE_SEPOLIA_RPC_URLS: proxy.url
  }
  const service = yield* spawnService(env, built)
  yield* untilReady(service)
  const sql = yield* Effect.acquireRelease(
    Effect.sync(() => new SQL(url, { max: 1 })),
    (client) => Effect.promise(() => client.close())
  )
  yield* Effect.promise(() => fill(sql, addresses))
  const look = Effect.promise(async () => {
    // Backends tell what they did a second late.
    await Bun.sleep(1_500)
    const [row] =
      await sql`SELECT xact_commit::int AS commits FROM pg_stat_database WHERE datname = current_database()`
    return { cpu: cpuMillis(service.pid), requests: proxy.requests(), transactions: Number(row.commits) }
  })
  const during = Effect.fnUntraced(function* (each: Effect.Effect<void>) {
    const before = yield* look
    for (let count = 0; count < blocks; count++) {
      yield* each
      yield* Effect.sleep(`${blockSeconds} seconds`)
    }
    const after = yield* look
    return {
      cpu: after.cpu - before.cpu,
      requests: after.requests - before.requests,
      transactions: after.transactions - before.transactions
    }
  })
  const block = Effect.orDie(chain.mine(1))
  yield* during(block)
  const resting = yield* during(Effect.void)
  const working = yield* during(block)
  const of = (key: keyof typeof working) => Math.max(0, (working[key] - resting[key]) / blocks)
  const result = {
    addresses,
    cpuMillis: of("cpu"),
    requests: of("requests"),
    transactions: of("transactions")
  }
  console.log(
    `watcher  ${addresses.toLocaleString("en").padStart(6)} addresses  a block ${result.cpuMillis.toFixed(1)} ms, ${result.requests.toFixed(1)} requests, ${result.transactions.toFixed(1)} transactions (resting: ${JSON.stringify(resting)})`
  )
  return result
})

export const measureWatcher = Effect.gen(function* () {
  const at: Array<WatcherResult["at"][number]> = []
  for (const addresses of sizes)
    at.push(
      yield* Effect.scoped(
        measureAt(addresses).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })), Effect.orDie)
      )
    )
  const result: WatcherResult = { blockSeconds, at }
  return result
})
