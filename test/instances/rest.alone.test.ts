// What a service costs that has nothing to do: statements and processor time.
import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { SQL } from "bun"
import { Effect, Redacted } from "effect"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

const seconds = 15
/** Hundredths of a second that a process has had, user and system. */
const ticksOf = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")
  return Number(fields[13]) + Number(fields[14])
}

liveEffect(
  "a service at rest sends less than one statement a second",
  () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const databaseUrl = yield* ownDatabase()
      const service = yield* spawnService({
        DATABASE_URL: databaseUrl,
        DATA_DIR: yield* temporaryDirectory,
        BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
        FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey),
        FAUCET_GAS_WEI: "1000000000000000"
      })
      yield* untilReady(service)
      yield* Effect.sleep("12 seconds")
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => new SQL(databaseUrl, { max: 1 })),
        (open) => Effect.promise(() => open.close())
      )
      const committed = Effect.promise(async () => {
        await sql`SELECT pg_stat_force_next_flush()`
        const [row] = await sql`
          SELECT (xact_commit + xact_rollback)::int AS count FROM pg_stat_database WHERE datname = current_database()`
        return Number(row.count)
      })
      const before = { statements: yield* committed, ticks: ticksOf(service.pid) }
      yield* Effect.sleep(`${seconds} seconds`)
      // Less what was asked here.
      const statements = (yield* committed) - before.statements - 2
      const share = (ticksOf(service.pid) - before.ticks) / seconds
      console.log(
        `at rest: ${(statements / seconds).toFixed(2)} statements a second, ${share.toFixed(1)} % of a core in its second quarter of a minute`
      )
      expect(statements / seconds).toBeLessThan(1)
      // Compilers are still at work so soon; below 1 % after ten minutes.
      expect(share).toBeLessThan(6)
    }).pipe(Effect.scoped, Effect.provide(LocalChain.layer({ blockTimeSeconds: 2 }))),
  120_000
)
