// Several processes of the service on one port, as real processes: one is killed, all are stopped under load; their
// supervisor is killed.
import { describe, expect } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { secrets, until } from "../../instances/cluster.ts"
import { newTally, shop } from "../../instances/shoppers.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import {
  type RunningProcess,
  spawnProgram,
  spawnService,
  temporaryDirectory,
  untilReady
} from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }

/** Nothing of a process or a thread that has just ended. */
const ifAlive = <A>(read: () => ReadonlyArray<A>): ReadonlyArray<A> => {
  try {
    return read()
  } catch {
    return []
  }
}

/** The child processes of each of its threads. */
const childrenOf = (pid: number): ReadonlyArray<number> =>
  ifAlive(() => readdirSync(`/proc/${pid}/task`)).flatMap((thread) =>
    ifAlive(() =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
        .trim()
        .split(" ")
        .filter(Boolean)
        .map(Number)
    )
  )

const lives = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const said = (service: RunningProcess, sentence: string, times = 1) =>
  until(`"${sentence}" is said`, () => service.output().split(sentence).length > times, 60_000)

/** Clients with a new connection for each request, and the requests without an answer. */
const flood = (url: string) => {
  const lost: Array<string> = []
  let going = true
  const client = async () => {
    while (going)
      try {
        const answer = await fetch(`${url}/readyz`, {
          keepalive: false,
          headers: { connection: "close" }
        })
        await answer.text()
        if (answer.status !== 200) lost.push(String(answer.status))
      } catch (error) {
        lost.push(error instanceof Error && "code" in error ? String(error.code) : String(error))
        await Bun.sleep(50)
      }
  }
  const clients = Promise.all(Array.from({ length: 16 }, client))
  return {
    lost,
    end: Effect.promise(async () => {
      going = false
      await clients
    })
  }
}

describe.skipIf(process.platform !== "linux")("Several processes on one port", () => {
  liveEffect("a killed one is replaced, all are stopped under load, and no payment is lost", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const databaseUrl = yield* ownDatabase()
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => new SQL(databaseUrl, { max: 1 })),
        (open) => Effect.promise(() => open.close())
      )
      const [port, metricsPort] = [yield* freePort(0), yield* freePort(0)]
      const env = {
        ...secrets,
        DATABASE_URL: databaseUrl,
        DATA_DIR: yield* temporaryDirectory,
        BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
        TESTNET_CONFIRMATIONS: "0",
        RATE_LIMIT_PER_KEY: "100000"
      }
      const service = yield* spawnService({
        ...env,
        PORT: String(port),
        BASE_URL: `http://127.0.0.1:${port}`,
        WORKERS: "2",
        DATABASE_CONNECTIONS: "8",
        SHUTDOWN_DELAY: "1s",
        METRICS_PORT: String(metricsPort)
      })
      const baseUrl = `http://127.0.0.1:${port}`
      yield* said(service, "All 2 processes are serving.")
      const cli = yield* spawnProgram(
        ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
        env
      )
      yield* cli.succeeded
      const keys = JSON.parse(cli.stdout()).keys.test

      const buyers = [2, 3, 4, 5].map((index) => chain.walletClient(index))
      for (const { account } of buyers) yield* chain.mint(Address.make(account.address), 10_000_000_000n)
      const tally = newTally()
      let going = true
      const load = Promise.all(
        buyers.map((wallet) => shop({ baseUrl, keys, wallet, tally, going: () => going }))
      )
      const connections = () =>
        sql`SELECT count(*)::int AS count FROM pg_stat_activity
              WHERE datname = current_database() AND application_name = 'quittance'`
      yield* Effect.sleep("2 seconds")
      expect(tally.broken).toEqual([])

      // Each gets its share of requests and connections, and is scraped separately.
      const scraped = (number: number) =>
        fetch(`http://127.0.0.1:${metricsPort + number - 1}/metrics`).then(
          (answer) => answer.text(),
          () => ""
        )
      for (const number of [1, 2])
        yield* until(
          `${number} has answered requests`,
          async () => /^quittance_http_request\S*_count\{.+ [1-9]\d*$/m.test(await scraped(number)),
          60_000
        )
      // One more of each listens.
      yield* until("no more than ten sessions are open", async () => (await connections())[0].count <= 10)

      // One dies: it breaks a request of each buyer, and retries that come before the kernel has closed its socket.
      const before = childrenOf(service.pid)
      expect(before).toHaveLength(2)
      const [killed = 0] = before
      process.kill(killed, "SIGKILL")
      yield* said(service, "exited with code 137; restarting it")
      yield* until("two run again", () => childrenOf(service.pid).length === 2, 60_000)
      yield* until(
        "both serve",
        async () => (await Promise.all([1, 2].map(scraped))).every((page) => page.includes("quittance_")),
        60_000
      )
      expect(tally.broken.length).toBeLessThanOrEqual(5 * buyers.length)

      // All stop: accepted requests are answered, later ones are refused, or reset with their socket.
      going = false
      yield* Effect.promise(() => load)
      expect(tally.wrong).toEqual([])
      const last = flood(baseUrl)
      yield* Effect.sleep("500 millis")
      expect(last.lost).toEqual([])
      const stopping = performance.now()
      yield* service.kill("SIGTERM")
      yield* service.succeeded
      expect(performance.now() - stopping).toBeLessThan(40_000)
      yield* last.end
      expect(
        last.lost.filter((one) => !["503", "ConnectionRefused", "ECONNREFUSED", "ECONNRESET"].includes(one))
      ).toEqual([])

      const [books] = yield* Effect.promise(
        () =>
          sql`SELECT count(*)::int AS settled, count(DISTINCT id)::int AS ids FROM payments WHERE status = 'settled'`
      )
      expect(books).toEqual({ settled: tally.settled.length, ids: tally.settled.length })
    }).pipe(Effect.scoped, Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
  )

  liveEffect("exit when their supervisor is killed, and the next start waits for them", () =>
    Effect.gen(function* () {
      const env = { DATA_DIR: yield* temporaryDirectory, WORKERS: "2", ...noChain }
      const service = yield* spawnService({ ...env, SHUTDOWN_DELAY: "1s" })
      yield* said(service, "All 2 processes are serving.")
      const orphans = childrenOf(service.pid)
      expect(orphans).toHaveLength(2)
      yield* service.kill("SIGKILL")
      const { port } = new URL(service.baseUrl)
      const next = yield* spawnService({ ...env, PORT: port })
      yield* until("nobody is left", () => !orphans.some(lives), 60_000)
      yield* said(next, "All 2 processes are serving.")
      yield* untilReady(service)
      // As from a terminal or systemd: the signal goes to all.
      for (const pid of childrenOf(next.pid)) process.kill(pid, "SIGINT")
      yield* next.kill("SIGINT")
      yield* next.succeeded
    }).pipe(Effect.scoped)
  )

  /** It may have ended by itself. */
  const killed = (pid: number) =>
    Effect.runSync(Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL"))))

  liveEffect("that end again and again make their supervisor exit with 3", () =>
    Effect.gen(function* () {
      const service = yield* spawnService({
        DATABASE_URL: yield* ownDatabase(),
        DATA_DIR: yield* temporaryDirectory,
        WORKERS: "2",
        ...noChain
      })
      yield* said(service, "All 2 processes are serving.")
      const killing = setInterval(() => {
        if (!lives(service.pid)) return
        for (const pid of childrenOf(service.pid)) if (lives(pid)) killed(pid)
      }, 10)
      const code = yield* service.exited.pipe(Effect.ensuring(Effect.sync(() => clearInterval(killing))))
      expect(code, service.output()).toBe(3)
      expect(service.output()).toContain("processes exited in a row, the last with code 137")
    }).pipe(Effect.scoped)
  )

  liveEffect("are refused if they cannot serve, in a sentence", () =>
    Effect.gen(function* () {
      const refusal = (env: Readonly<Record<string, string>>) =>
        Effect.gen(function* () {
          const service = yield* spawnService({ DATA_DIR: yield* temporaryDirectory, ...noChain, ...env })
          return [yield* service.exited, service.output()]
        })
      for (const value of ["0", "many", "1.5", "65"])
        expect(yield* refusal({ WORKERS: value })).toEqual([
          1,
          "WORKERS must be `auto`, or a number of processes from 1 to 64; for example WORKERS=auto\n"
        ])
      expect(yield* refusal({ WORKERS: "5" })).toEqual([
        1,
        expect.stringContaining("DATABASE_CONNECTIONS must be 20 or more for WORKERS=5")
      ])
      const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() })
      expect(
        yield* refusal({ WORKERS: "2", PORT: String(other.port), DATABASE_URL: yield* ownDatabase() })
      ).toEqual([
        1,
        expect.stringContaining(`PORT must be a free port; ${other.port} is taken. Set PORT to another.`)
      ])
      yield* Effect.promise(() => other.stop(true))
    }).pipe(Effect.scoped)
  )
})
