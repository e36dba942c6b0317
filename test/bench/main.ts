// `bun run bench`: the service beside the limit and the peer, on one Postgres, under
// one load tool (wrk), interleaved in rounds. Prints ratios; `--check` fails below the floors.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../src/dev/freePort.ts"
import { type RunningProcess, spawnProgram, temporaryDirectory } from "../support/process.ts"
import { measureGrowth } from "./growth.ts"
import { measurePipeline } from "./pipeline.ts"
import { startPostgres } from "./postgres.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 3)
const check = process.argv.includes("--check")
const floors = { limit: 0.4, peer: 1.0 }

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
const secretText = "b".repeat(40)

interface Server {
  readonly name: "service" | "limit" | "peer"
  readonly url: string
  readonly process: RunningProcess
}

interface Load {
  readonly name: string
  /** Lua for wrk, given the server's url. */
  readonly script: (tokens: string) => string
  readonly path: string
  readonly tokens?: number
}

interface Sample {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

const wrk = Bun.which("wrk")
if (wrk === null) {
  console.error("The load comes from wrk: apt-get install wrk")
  process.exit(1)
}

const median = (values: ReadonlyArray<number>) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const rss = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024

const request = async (url: string, method: string, path: string, key: string, body?: unknown) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, body: await response.json() }
}

const run = async (server: Server, load: Load, directory: string, tokens: string): Promise<Sample> => {
  const script = join(directory, "load.lua")
  writeFileSync(
    script,
    `${load.script(tokens)}
done = function(summary, latency)
  io.write(string.format("RESULT %f %f %f %d\\n", summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, summary.errors.status))
end`
  )
  const child = Bun.spawn([wrk, "-t1", "-c32", `-d${seconds}s`, "-s", script, `${server.url}${load.path}`], {
    stdout: "pipe",
    stderr: "pipe"
  })
  const text = await new Response(child.stdout).text()
  const match = /RESULT ([\d.]+) ([\d.]+) ([\d.]+) (\d+)/.exec(text)
  if (match === null || Number(match[4]) > 0) throw new Error(`${server.name} ${load.name}: ${text}`)
  return { perSecond: Number(match[1]), p50: Number(match[2]), p99: Number(match[3]) }
}

const bench = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const database = yield* startPostgres
  const env = { DATABASE_URL: database.url, DATA_DIR: directory, BASE_URL: "http://localhost:8787" }
  const cli = yield* spawnProgram(
    ["src/cli/main.ts", "merchant", "create", "--name", "Bench", "--receiver", receiver, "--json"],
    env
  )
  yield* cli.exited
  const { keys } = JSON.parse(cli.output())

  const start = Effect.fnUntraced(function* (name: Server["name"], file: string) {
    const port = yield* freePort(0)
    const child = yield* spawnProgram([file], {
      ...env,
      PORT: String(port),
      HOST: "127.0.0.1",
      RATE_LIMIT_PER_KEY: "1000000",
      INTENT_TOKEN_SECRETS: `bench:${secretText}`,
      ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 1).toString("base64")}`,
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
      RECEIVER: receiver,
      BUYER: receiver
    })
    const server: Server = { name, url: `http://127.0.0.1:${port}`, process: child }
    yield* Effect.promise(async () => {
      for (let tries = 0; tries < 200; tries++) {
        if (
          await fetch(`${server.url}/healthz`).then(
            (answer) => answer.ok,
            () => false
          )
        )
          return
        await Bun.sleep(50)
      }
      throw new Error(`${name} does not start: ${child.output()}`)
    })
    return server
  })
  const servers = [
    yield* start("service", "src/main.ts"),
    yield* start("limit", "test/bench/limit.ts"),
    yield* start("peer", "test/bench/peer.ts")
  ]

  const results: Array<{ load: string; server: string; samples: Array<Sample> }> = []
  yield* Effect.promise(async () => {
    const [service] = servers
    if (service === undefined) return
    const intent = { amount: "10.00", intentUrl: "https://shop.example.com/orders/1042" }
    const newToken = async () =>
      (await request(service.url, "POST", "/api/v1/payment-intents", keys.test.secret, intent)).body
        .intentToken
    let id = ""
    for (let count = 0; count < 40; count++) {
      const opened = await request(service.url, "POST", "/api/v1/payments", keys.test.publishable, {
        intentToken: await newToken()
      })
      id = opened.body.payment.id
    }
    // Every server must answer the same before any of them is timed.
    for (const [path, key] of [
      [`/api/v1/payments/${id}`, keys.test.secret],
      ["/api/v1/payments", keys.test.secret]
    ]) {
      const bodies = await Promise.all(
        servers.map(async ({ url }) => JSON.stringify((await request(url, "GET", path, key)).body))
      )
      if (new Set(bodies).size !== 1) throw new Error(`answers differ at ${path}: ${bodies.join("\n")}`)
    }
    for (const { url, name } of servers) {
      const created = await request(url, "POST", "/api/v1/payment-intents", keys.test.secret, intent)
      const opened = await request(servers[1]?.url ?? "", "POST", "/api/v1/payments", keys.test.publishable, {
        intentToken: created.body.intentToken
      })
      if (created.status !== 201 || opened.status !== 201)
        throw new Error(`${name} makes tokens that do not open`)
    }

    const bearer = (key: string) => `wrk.headers["authorization"] = "Bearer ${key}"\n`
    const post = `wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\n`
    const loads: ReadonlyArray<Load> = [
      {
        name: "create intent",
        path: "/api/v1/payment-intents",
        script: () => `${post}${bearer(keys.test.secret)}wrk.body = '${JSON.stringify(intent)}'`
      },
      {
        name: "open payment",
        path: "/api/v1/payments",
        tokens: 60_000,
        script: (tokens) => `${post}${bearer(keys.test.publishable)}
local tokens = {} for line in io.lines("${tokens}") do tokens[#tokens + 1] = line end
local next = 0
request = function() next = next % #tokens + 1 return wrk.format(nil, nil, nil, '{"intentToken":"' .. tokens[next] .. '"}') end`
      },
      { name: "retrieve", path: `/api/v1/payments/${id}`, script: () => bearer(keys.test.secret) },
      { name: "list of 20", path: "/api/v1/payments", script: () => bearer(keys.test.secret) }
    ]

    const makeTokens = async (count: number, file: string) => {
      const { createHmac } = await import("node:crypto")
      const [head = "", payload = ""] = (await newToken()).split(".")
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
      const iat = Math.floor(Date.now() / 1000)
      const lines = Array.from({ length: count }, () => {
        const body = Buffer.from(
          JSON.stringify({ ...claims, iat, exp: iat + 300, jti: Bun.randomUUIDv7() })
        ).toString("base64url")
        return `${head}.${body}.${createHmac("sha256", secretText).update(`${head}.${body}`).digest("base64url")}`
      })
      writeFileSync(file, lines.join("\n"))
    }

    // As autovacuum does within a minute of growth: plans cached while the table was empty go.
    const analyze = async () => {
      const sql = new SQL(database.url, { max: 1 })
      await sql.unsafe("ANALYZE")
      await sql.close()
    }
    for (const load of loads) {
      await analyze()
      const samples = new Map(servers.map((server) => [server.name, [] as Array<Sample>]))
      for (let round = 0; round < rounds; round++) {
        for (const server of servers) {
          const tokens = join(tmpdir(), `quittance-bench-${process.pid}.txt`)
          if (load.tokens !== undefined) await makeTokens(load.tokens, tokens)
          const sample = await run(server, load, directory, tokens)
          samples.get(server.name)?.push(sample)
          console.log(
            `${load.name.padEnd(14)} round ${round + 1}  ${server.name.padEnd(8)} ${sample.perSecond.toFixed(0).padStart(7)}/s  p50 ${sample.p50.toFixed(2)} ms  p99 ${sample.p99.toFixed(2)} ms`
          )
        }
      }
      for (const [server, all] of samples) results.push({ load: load.name, server, samples: all })
    }
  })

  const ratios = (load: string, to: "limit" | "peer") => {
    const of = (server: string) =>
      results.find((one) => one.load === load && one.server === server)?.samples ?? []
    const all = of("service").map(
      (sample, round) => sample.perSecond / (of(to)[round]?.perSecond ?? Number.NaN)
    )
    return { min: Math.min(...all), median: median(all), max: Math.max(...all) }
  }
  const loads = [...new Set(results.map((one) => one.load))]
  const table = loads.map((load) => ({ load, limit: ratios(load, "limit"), peer: ratios(load, "peer") }))
  const shown = ({ min, median: middle, max }: { min: number; median: number; max: number }) =>
    `${middle.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
  console.log(
    `\n${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Bun ${Bun.version}, ${database.version}, wrk -t1 -c32, ${rounds} rounds of ${seconds} s`
  )
  console.log("| work | of the limit | of the peer |\n|---|---|---|")
  for (const row of table) console.log(`| ${row.load} | ${shown(row.limit)} | ${shown(row.peer)} |`)
  const memory = servers.map((server) => `${server.name} ${rss(server.process.pid).toFixed(0)} MB`).join(", ")
  console.log(`Memory after the load: ${memory}`)

  const fresh = yield* startPostgres
  const pipeline = yield* measurePipeline(fresh.url, { drain: 10_000, payments: 250 }).pipe(Effect.orDie)
  const millis = ({ p50, p99 }: { p50: number; p99: number }) =>
    `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  console.log(`Report to settled, against anvil at 50/s: ${millis(pipeline.reportToSettled)}`)
  console.log(`Settlement to first byte at the receiver at 50/s: ${millis(pipeline.settledToFirstByte)}`)
  console.log(`Draining 10,000 due deliveries to one local receiver: ${pipeline.drainPerSecond.toFixed(0)}/s`)

  const grown = yield* startPostgres
  const growth = yield* measureGrowth(grown.url, 400)
  const [small] = growth
  console.log("| payments | retrieve | list of 20 | page 50 |\n|---|---|---|---|")
  for (const { payments, retrieve, list, page50 } of growth) {
    const times = (now: number, then: number) => `${now.toFixed(2)} ms (${(now / then).toFixed(2)})`
    console.log(
      `| ${payments.toLocaleString("en")} | ${times(retrieve, small?.retrieve ?? retrieve)} | ${times(list, small?.list ?? list)} | ${times(page50, small?.page50 ?? page50)} |`
    )
  }

  mkdirSync("bench-results", { recursive: true })
  const file = join("bench-results", "http.json")
  writeFileSync(
    file,
    JSON.stringify(
      {
        machine: { cores: cpus().length, bun: Bun.version },
        rounds,
        seconds,
        results,
        table,
        pipeline,
        growth
      },
      null,
      2
    )
  )
  console.log(`Raw results: ${file}`)
  const below = table.filter((row) => row.limit.median < floors.limit || row.peer.median < floors.peer)
  for (const row of below)
    console.log(`${row.load} is below the floor (${floors.limit} of the limit, ${floors.peer} of the peer).`)
  return check && below.length > 0 ? 1 : 0
})

if (!existsSync("src/main.ts")) throw new Error("run from the project's root")
process.exit(await Effect.runPromise(Effect.scoped(bench)))
