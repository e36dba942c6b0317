// `bun run test:endurance [minutes]`: one service on the embedded database under mixed traffic: openings, transfers,
// reports, retrieves, lists and webhooks. Exits 1 if memory is not level within 5 % after the first ten minutes, if
// anything fails, or if the service is not idle afterwards.

import { readFileSync } from "node:fs"
import { BunRuntime } from "@effect/platform-bun"
import { Console, Effect } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { Address } from "../../src/domain/Chain.ts"
import { megabytesOf } from "../bench/memory.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { newTally, shop } from "./shoppers.ts"

const minutes = Number(process.argv[2] ?? 60)
const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
const tolerated = 0.05

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const ticksOf = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")
  return Number(fields[13]) + Number(fields[14])
}

const main = Effect.gen(function* () {
  const chain = yield* LocalChain
  const hooks = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("noted") })),
    (server) => Effect.promise(() => server.stop(true))
  )
  const env = {
    DATA_DIR: yield* temporaryDirectory,
    BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
    ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
    TESTNET_CONFIRMATIONS: "0",
    WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hooks.port}`,
    RATE_LIMIT_PER_KEY: "100000"
  }
  const service = yield* spawnService(env)
  yield* untilReady(service)
  // The service's own name, which is the audience of buyer tokens.
  const baseUrl = service.baseUrl.replace("127.0.0.1", "localhost")
  const cli = yield* spawnProgram(
    ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
    env
  )
  yield* cli.exited
  const keys = JSON.parse(cli.stdout()).keys.test
  yield* Effect.promise(() =>
    fetch(`${service.baseUrl}/api/v1/webhook-endpoint`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ url: `http://127.0.0.1:${hooks.port}/hooks` })
    })
  )
  const buyers = [2, 3].map((index) => chain.walletClient(index))
  for (const { account } of buyers) yield* chain.mint(Address.make(account.address), 10_000_000_000_000n)

  const tally = newTally()
  let going = true
  const load = Promise.all(buyers.map((wallet) => shop({ baseUrl, keys, wallet, tally, going: () => going })))
  const samples: Array<number> = []
  for (let minute = 1; minute <= minutes; minute++) {
    const within: Array<number> = []
    for (let sample = 0; sample < 12; sample++) {
      yield* Effect.sleep("5 seconds")
      within.push(megabytesOf(service.pid))
    }
    samples.push(median(within))
    yield* Console.log(
      `minute ${String(minute).padStart(2)}: ${median(within).toFixed(0)} MB, ${tally.requests} requests, ${tally.settled.length} settled`
    )
  }
  going = false
  yield* Effect.promise(() => load)
  const early = Math.min(10, Math.floor(minutes / 2))
  const [from, to] = [median(samples.slice(early, early + 5)), median(samples.slice(-5))]
  const growth = to / from - 1
  yield* Effect.sleep("1 minute")
  const ticks = ticksOf(service.pid)
  yield* Effect.sleep("1 minute")
  const share = (ticksOf(service.pid) - ticks) / 60
  yield* Console.log(
    `${from.toFixed(0)} MB after ${early} minutes, ${to.toFixed(0)} MB at the end: ${(growth * 100).toFixed(1)} %. At rest afterwards: ${share.toFixed(2)} % of a core.`
  )
  for (const wrong of [...tally.wrong, ...tally.broken.map(({ what }) => what)].slice(0, 10))
    yield* Console.error(wrong)
  return Math.abs(growth) <= tolerated && tally.wrong.length + tally.broken.length === 0 ? 0 : 1
})

main.pipe(
  Effect.scoped,
  Effect.provide(LocalChain.layer({ blockTimeSeconds: 1 })),
  Effect.flatMap((code) => Effect.sync(() => process.exit(code))),
  BunRuntime.runMain
)
