// A process is killed while it sends: another sends its deliveries within seconds.

import { expect } from "bun:test"
import { Effect } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { Address } from "../../src/domain/Chain.ts"
import { send } from "../support/contractCheck.ts"
import { noteFault } from "../support/faultTable.ts"
import { listening } from "../support/listening.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { liveEffect } from "../support/run.ts"
import { instanceCluster, until } from "./cluster.ts"
import { newTally, shop } from "./shoppers.ts"

const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

liveEffect(
  "another process sends a killed process's deliveries within seconds, and records both attempts",
  () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const tries: Array<{ readonly id: string; readonly at: number }> = []
      let holds = true
      const hook = yield* listening(async (request) => {
        const { id } = JSON.parse(await request.text())
        tries.push({ id, at: performance.now() })
        if (holds) await Bun.sleep(14_000)
        return new Response("noted")
      })
      const cluster = yield* instanceCluster(yield* ownDatabase(), {
        BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
        TESTNET_CONFIRMATIONS: "0",
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`,
        RATE_LIMIT_PER_KEY: "100000"
      })
      const killed = yield* cluster.start()
      const created = JSON.parse(
        yield* cluster.cli("merchant", "create", "--name", "Shop", "--receiver", receiver, "--json")
      )
      const keys = created.keys.test
      const registered = yield* Effect.promise(() =>
        send(killed.baseUrl, {
          method: "POST",
          path: "/api/v1/webhook-endpoint",
          key: keys.secret,
          body: { url: `http://127.0.0.1:${hook.port}/hooks` }
        })
      )
      expect(registered.status).toBe(201)
      const wallet = chain.walletClient(2)
      yield* chain.mint(Address.make(wallet.account.address), 10_000_000_000n)
      const tally = newTally()
      const shopping = shop({
        baseUrl: cluster.balancer.url,
        keys,
        wallet,
        tally,
        going: () => tally.settled.length === 0
      })
      yield* Effect.promise(() => shopping)
      yield* until("the first attempt runs", async () => tries.length > 0)
      yield* cluster.start()
      // By now the other process has seen it alive.
      yield* Effect.sleep("2 seconds")
      holds = false
      yield* killed.kill("SIGKILL")
      yield* killed.exited
      const since = performance.now()
      const [first] = tries
      yield* until("it is sent again", async () => tries.filter(({ id }) => id === first?.id).length === 2)
      const again = tries.filter(({ id }) => id === first?.id).at(-1)
      const seconds = ((again?.at ?? 0) - since) / 1000
      noteFault(
        "kill -9 of a process that sends webhooks",
        `another one sends them after ${seconds.toFixed(1)} s`
      )
      // Its lease would last for 30 s.
      expect(seconds).toBeLessThan(20)
      const recorded = async () => {
        const [row] = await cluster.sql`
          SELECT status, attempts, interruptions FROM webhook_deliveries WHERE id = ${first?.id ?? ""}`
        return row
      }
      yield* until("it is delivered", async () => (await recorded()).status === "delivered")
      expect(yield* Effect.promise(recorded)).toMatchObject({ attempts: 1, interruptions: 1 })
    }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
)
