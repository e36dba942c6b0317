// Two instances, one on a machine that is ten minutes ahead: both use the database's time.

import { expect } from "bun:test"
import { Effect } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { Address } from "../../src/domain/Chain.ts"
import { send } from "../support/contractCheck.ts"
import { listening } from "../support/listening.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { liveEffect } from "../support/run.ts"
import { instanceCluster } from "./cluster.ts"
import { newTally, shop } from "./shoppers.ts"

const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

liveEffect(
  "an instance ten minutes ahead opens another's tokens, sends nothing twice and retries nothing early",
  () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const tries = new Map<string, Array<number>>()
      const hook = yield* listening(async (request) => {
        const { id } = JSON.parse(await request.text())
        tries.set(id, [...(tries.get(id) ?? []), Date.now()])
        await Bun.sleep(1_000)
        return new Response("not now", { status: 503 })
      })
      const cluster = yield* instanceCluster(yield* ownDatabase(), {
        BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
        TESTNET_CONFIRMATIONS: "0",
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`,
        RATE_LIMIT_PER_KEY: "100000",
        AHEAD_SECONDS: "600"
      })
      const right = yield* cluster.start()
      const ahead = yield* cluster.start("--preload=./test/support/aheadOfTime.ts", "src/app/main.ts")
      const created = JSON.parse(
        yield* cluster.cli("merchant", "create", "--name", "Shop", "--receiver", receiver, "--json")
      )
      const keys = created.keys.test
      const call = (baseUrl: string, method: string, path: string, key: string, body: unknown) =>
        Effect.promise(() => send(baseUrl, { method, path, key, body }))
      const registered = yield* call(right.baseUrl, "POST", "/api/v1/webhook-endpoint", keys.secret, {
        url: `http://127.0.0.1:${hook.port}/hooks`
      })
      expect(registered.status).toBe(201)

      // A token that is valid for five minutes.
      for (const [signer, opener] of [
        [right, ahead],
        [ahead, right]
      ] as const) {
        const intent = yield* call(signer.baseUrl, "POST", "/api/v1/payment-intents", keys.secret, {
          amount: "1.00",
          intentUrl: "https://shop.example.com/"
        })
        const opened = yield* call(opener.baseUrl, "POST", "/api/v1/payments", keys.publishable, {
          intentToken: intent.body.intentToken
        })
        expect<unknown>([opened.status, opened.body.error]).toEqual([201, undefined])
        expect(Math.abs(Date.parse(opened.body.payment.createdAt) - Date.now())).toBeLessThan(60_000)
      }

      const wallet = chain.walletClient(2)
      yield* chain.mint(Address.make(wallet.account.address), 10_000_000_000n)
      const tally = newTally()
      let going = true
      const shopping = shop({ baseUrl: cluster.balancer.url, keys, wallet, tally, going: () => going })
      yield* Effect.sleep("5 seconds")
      while (tally.settled.length <= 5) yield* Effect.sleep("100 millis")
      going = false
      yield* Effect.promise(() => shopping)
      expect(tally.wrong).toEqual([])
      expect(tally.settled.length).toBeGreaterThan(5)
      yield* Effect.sleep("12 seconds")
      expect(tries.size).toBeGreaterThan(5)
      // On a slow machine a second attempt may have come, a minute after the first.
      for (const times of tries.values())
        for (const [index, at] of times.slice(1).entries())
          expect(at - (times[index] ?? 0)).toBeGreaterThan(50_000)
      // The second attempt is due a minute after the first has ended, by the database's clock.
      const [row] = yield* Effect.promise(
        () => cluster.sql`
          SELECT count(*)::int AS tried, count(*) FILTER (
            WHERE due_at - started_at BETWEEN interval '50 seconds' AND interval '100 seconds')::int AS waiting
          FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id AND a.number = 1
          WHERE a.duration_ms IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM webhook_attempts b WHERE b.delivery_id = d.id AND b.number = 2)`
      )
      expect(row.waiting).toBe(row.tried)
    }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
)
