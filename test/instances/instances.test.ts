// Three instances on one Postgres behind a balancer: the full path under load while one is killed and each is replaced
// by a later release; keys, faucet limits and stored reports are shared by all.
import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { erc20Abi } from "viem"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { Address } from "../../src/domain/Chain.ts"
import { networks } from "../../src/domain/networks.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { send } from "../support/contractCheck.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { liveEffect } from "../support/run.ts"
import { instanceCluster, until } from "./cluster.ts"
import { newTally, shop } from "./shoppers.ts"

const seconds = Number(process.env["INSTANCES_LOAD_SECONDS"] ?? 2)
const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
const { usdc, chainId } = networks.test

interface Delivery {
  readonly id: string
  readonly transactionId: string
}

const receiving = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const deliveries: Array<Delivery> = []
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          const { id, transactionId } = JSON.parse(await request.text())
          deliveries.push({ id, transactionId })
          return new Response("noted")
        }
      })
      return { deliveries, server }
    }),
    ({ server }) => Effect.promise(() => server.stop(true))
  ),
  ({ deliveries, server }) => ({ deliveries, host: `127.0.0.1:${server.port}` })
)

describe(`Three instances`, () => {
  liveEffect(
    "a kill and a rolling upgrade under load fail only the killed one's requests, and lose no webhook",
    () =>
      Effect.gen(function* () {
        const chain = yield* LocalChain
        const hooks = yield* receiving
        const databaseUrl = yield* ownDatabase()
        const cluster = yield* instanceCluster(databaseUrl, {
          BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
          ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
          TESTNET_CONFIRMATIONS: "0",
          WEBHOOK_ALLOWED_HOSTS: hooks.host,
          FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey),
          FAUCET_GAS_WEI: "1000000000000000",
          RATE_LIMIT_PER_KEY: "100000",
          SHUTDOWN_DELAY: "3s"
        })
        const { balancer } = cluster
        const instances = yield* Effect.all([cluster.start(), cluster.start(), cluster.start()], {
          concurrency: "unbounded"
        })
        const created = JSON.parse(
          yield* cluster.cli("merchant", "create", "--name", "Shop", "--receiver", receiver, "--json")
        )
        const keys = created.keys.test
        const call = (method: string, path: string, key: string, body?: unknown, baseUrl = balancer.url) =>
          Effect.promise(() => send(baseUrl, { method, path, key, body, headers: { connection: "close" } }))
        const registered = yield* call("POST", "/api/v1/webhook-endpoint", keys.secret, {
          url: `http://${hooks.host}/hooks`
        })
        expect(registered.status).toBe(201)

        // Every instance refuses a rotated key at once.
        const extra = JSON.parse(
          yield* cluster.cli("key", "create", "--merchant", created.merchant.id, "--env", "test", "--json")
        ).key
        const onEach = (key: string) =>
          Effect.forEach(instances, ({ baseUrl }) =>
            Effect.map(call("GET", "/api/v1/payments", key, undefined, baseUrl), ({ status }) => status)
          )
        expect(yield* onEach(extra.key)).toEqual([200, 200, 200])
        const rotated = JSON.parse(
          yield* cluster.cli("key", "rotate", "--merchant", created.merchant.id, "--key", extra.id, "--json")
        ).key
        expect(yield* onEach(extra.key)).toEqual([401, 401, 401])
        expect(yield* onEach(rotated.key)).toEqual([200, 200, 200])

        const buyers = [2, 3, 4, 5].map((index) => chain.walletClient(index))
        for (const { account } of buyers) yield* chain.mint(Address.make(account.address), 10_000_000_000n)
        const didToken = (index: number) =>
          Effect.promise(() =>
            createDidToken(chain.account(index), {
              audience: balancer.url,
              lifetimeSeconds: 900,
              now: Math.floor(Date.now() / 1000)
            })
          )

        // Three grants a day for each recipient, whichever instances get the requests.
        const buyerDidToken = yield* didToken(6)
        const grants = yield* Effect.forEach(
          [0, 1, 2, 0, 1, 2],
          (index) =>
            call(
              "POST",
              "/api/v1/checkout/test-funds",
              keys.publishable,
              { buyerDidToken },
              instances[index]?.baseUrl
            ),
          { concurrency: 6 }
        )
        expect(grants.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429, 429])

        // A report whose buyer leaves before the transfer is mined: any instance settles it.
        const intent = yield* call("POST", "/api/v1/payment-intents", keys.secret, {
          amount: "1.00",
          intentUrl: "https://shop.example.com/orders/1"
        })
        const opened = yield* call("POST", "/api/v1/payments", keys.publishable, {
          intentToken: intent.body.intentToken
        })
        yield* chain.mint(Address.make(chain.account(7).address), 1_000_000n)
        yield* chain.rpc("evm_setAutomine", [false])
        const late = chain.walletClient(7)
        const transactionId = yield* Effect.promise(() =>
          late.writeContract({
            address: usdc.address,
            abi: erc20Abi,
            functionName: "transfer",
            args: [receiver, 1_000_000n],
            gas: 200_000n
          })
        )
        const left = yield* call("PATCH", `/api/v1/payments/${opened.body.payment.id}`, keys.publishable, {
          buyerDidToken: yield* didToken(7),
          transactionId,
          tokenChanges: [{ amountAtomic: "1000000", chainId, receiver, tokenAddress: usdc.address }]
        })
        expect(left.status).toBe(202)
        yield* chain.mine()
        yield* chain.rpc("evm_setAutomine", [true])

        const tally = newTally()
        let going = true
        const load = Promise.all(
          buyers.map((wallet) => shop({ baseUrl: balancer.url, keys, wallet, tally, going: () => going }))
        )
        yield* Effect.sleep(`${seconds} seconds`)
        expect(tally.broken).toEqual([])

        // One instance is killed under load: only its own requests may fail.
        const [first, second, third] = instances
        yield* first.kill("SIGKILL")
        yield* first.exited
        balancer.remove(first.port)
        yield* Effect.sleep(`${seconds} seconds`)
        const brokenByKill = tally.broken.length
        // Each buyer has at most one request open, and may repeat it before the balancer knows.
        expect(brokenByKill).toBeLessThanOrEqual(3 * buyers.length)

        // The next release joins while the present one serves, then each instance is replaced.
        const next = "test/instances/nextRelease.ts"
        const replacements = [yield* cluster.start(next)]
        for (const old of [second, third]) {
          const stopping = performance.now()
          yield* old.kill("SIGTERM")
          yield* until("readiness is off before the listener closes", () => !balancer.isReady(old.port))
          yield* old.succeeded
          expect(performance.now() - stopping).toBeLessThan(40_000)
          balancer.remove(old.port)
          replacements.push(yield* cluster.start(next))
        }
        yield* Effect.sleep(`${seconds} seconds`)
        going = false
        yield* Effect.promise(() => load)
        expect(tally.broken.slice(brokenByKill)).toEqual([])
        const outputs = () => [...instances, ...replacements].map((one) => one.output()).join("\n")
        expect(tally.wrong, tally.wrong.length === 0 ? "" : outputs()).toEqual([])

        // Nothing is lost, and each payment has one delivery with one id.
        const settled = [...tally.settled, { id: opened.body.payment.id, transactionId }]
        const ids = (wanted: string) =>
          new Set(hooks.deliveries.filter((one) => one.transactionId === wanted).map((one) => one.id))
        yield* until(
          "every webhook has come",
          () => settled.every((one) => ids(one.transactionId).size > 0),
          45_000
        )
        expect(settled.filter((one) => ids(one.transactionId).size !== 1)).toEqual([])
        const [row] = yield* Effect.promise(
          () => cluster.sql`
              SELECT (SELECT count(*)::int FROM payments WHERE status = 'settled') AS settled,
                count(*)::int AS deliveries, count(DISTINCT payment_id)::int AS paid,
                count(*) FILTER (WHERE status <> 'delivered')::int AS undelivered
              FROM webhook_deliveries WHERE type = 'payment.settled'`
        )
        expect(row.deliveries).toBe(row.paid)
        expect(row.deliveries).toBe(row.settled)
        expect(row.settled).toBe(settled.length)
        yield* until(
          "every outcome is recorded",
          async () => {
            const [open] = await cluster.sql`
              SELECT count(*)::int AS count FROM webhook_deliveries WHERE status <> 'delivered'`
            return open.count === 0
          },
          45_000
        )
        console.log(
          `${tally.requests} requests, ${settled.length} payments settled, ${brokenByKill} broken by the kill, ${hooks.deliveries.length - settled.length} webhooks repeated`
        )
      }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 }))),
    180_000
  )
})
