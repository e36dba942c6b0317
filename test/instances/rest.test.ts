// The cost of an idle service: statements and processor time.
import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { Effect, Redacted } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { tcpProxy } from "../support/tcpProxy.ts"

const seconds = 15
/** The end of Postgres's answer to each statement, or to several that are sent together: `Z`, length 5. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])
/** Processor time of a process in hundredths of a second, user and system. */
const ticksOf = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")
  return Number(fields[13]) + Number(fields[14])
}

liveEffect("an idle service sends less than one statement a second", () =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    const databaseUrl = yield* ownDatabase()
    const through = new URL(databaseUrl)
    let answered = 0
    const proxy = yield* tcpProxy(Number(through.port), {
      answered: (chunk) => {
        for (let at = chunk.indexOf(readyForQuery); at >= 0; at = chunk.indexOf(readyForQuery, at + 1))
          answered++
      }
    })
    through.port = String(proxy.port)
    const service = yield* spawnService({
      DATABASE_URL: through.href,
      DATA_DIR: yield* temporaryDirectory,
      BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
      FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey),
      FAUCET_GAS_WEI: "1000000000000000"
    })
    yield* untilReady(service)
    yield* Effect.sleep("12 seconds")
    const measured = Effect.gen(function* () {
      const before = { statements: answered, ticks: ticksOf(service.pid) }
      yield* Effect.sleep(`${seconds} seconds`)
      const statements = (answered - before.statements) / seconds
      const share = (ticksOf(service.pid) - before.ticks) / seconds
      console.log(
        `at rest: ${statements.toFixed(2)} statements a second, ${share.toFixed(1)} % of a core in a quarter of a minute`
      )
      return { statements, share }
    })
    // JIT compilers still work this early; after ten minutes the share is below 1 %. On a busy machine the same work
    // takes more processor time, and starts later.
    const { share, statements } = yield* measured.pipe(
      Effect.repeat({ until: (now) => now.statements < 1 && now.share < 6, times: 3 })
    )
    expect(statements).toBeLessThan(1)
    expect(share).toBeLessThan(6)
  }).pipe(Effect.scoped, Effect.provide(LocalChain.layer({ blockTimeSeconds: 2 })))
)
