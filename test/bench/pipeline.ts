// From report to webhook: the time from a report to its settlement against a real
// chain, from settlement to the receiver's first byte at 50 a second, and how fast
// 10,000 due deliveries drain. The service, the chain and the receiver are processes apart
// from the load, but for the receiver.
import { Duration, Effect, type Scope } from "effect"
import { encodeFunctionData, erc20Abi } from "viem"
import { createDidToken } from "../../src/buyers/createDidToken.ts"
import { parseAddress } from "../../src/chain/Address.ts"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { networks } from "../../src/domain/Chain.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"

const { usdc, chainId } = networks.test
const amountAtomic = 1_000_000n

export interface PipelineResult {
  readonly reportToSettled: Quantiles
  readonly settledToFirstByte: Quantiles
  readonly drainPerSecond: number
}

export interface Quantiles {
  readonly p50: number
  readonly p99: number
}

const quantiles = (values: ReadonlyArray<number>): Quantiles => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

const json = async (url: string, method: string, path: string, key: string, body?: unknown) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, body: await response.json() }
}

/** Runs on an empty database; `drain` deliveries, `payments` payments at 50 a second. */
export const measurePipeline = (
  databaseUrl: string,
  counts: { readonly drain: number; readonly payments: number }
): Effect.Effect<PipelineResult, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    const directory = yield* temporaryDirectory
    const arrivals = new Map<string, number>()
    let received = 0
    const receiver = yield* Effect.acquireRelease(
      Effect.sync(() =>
        Bun.serve({
          port: 0,
          hostname: "127.0.0.1",
          fetch: async (request) => {
            const at = Date.now()
            received++
            const text = await request.text()
            const hash = /"transactionId":"(0x[0-9a-f]{64})"/.exec(text)?.[1]
            if (hash !== undefined) arrivals.set(hash, at)
            return new Response(null, { status: 204 })
          }
        })
      ),
      (server) => Effect.promise(() => server.stop(true))
    )
    const address = chain.account(5).address
    const env = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
      RATE_LIMIT_PER_KEY: "1000000",
      BASE_URL: "http://localhost:8787",
      WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`
    }
    const cli = yield* spawnProgram(
      ["src/cli/main.ts", "merchant", "create", "--name", "Bench", "--receiver", address, "--json"],
      env
    )
    yield* cli.exited
    const { keys, merchant } = JSON.parse(cli.output())
    const service = yield* spawnService(env)
    yield* untilReady(service)
    const { url } = { url: service.baseUrl }

    const result = yield* Effect.promise(async () => {
      await json(url, "POST", "/api/v1/webhook-endpoint", keys.test.secret, {
        url: `http://127.0.0.1:${receiver.port}/hook`
      })
      const open = async () => {
        const intent = await json(url, "POST", "/api/v1/payment-intents", keys.test.secret, {
          amount: "1.00",
          intentUrl: "https://shop.example.com/"
        })
        const opened = await json(url, "POST", "/api/v1/payments", keys.test.publishable, {
          intentToken: intent.body.intentToken
        })
        return String(opened.body.payment.id)
      }
      const ids: Array<string> = []
      for (let count = 0; count < counts.payments; count++) ids.push(await open())

      // One buyer pays all of them, each by a transfer of its own; the last blocks confirm the first.
      const buyer = chain.account(6)
      await Effect.runPromise(chain.mint(usdcAddress(buyer.address), amountAtomic * BigInt(counts.payments)))
      const wallet = chain.walletClient(6)
      const data = encodeFunctionData({
        abi: erc20Abi,
        functionName: "transfer",
        args: [address, amountAtomic]
      })
      let nonce = await chain.publicClient.getTransactionCount({ address: buyer.address })
      const hashes: Array<`0x${string}`> = []
      for (const _ of ids) {
        hashes.push(await wallet.sendTransaction({ to: usdc.address, data, nonce: nonce++, gas: 100_000n }))
      }
      await Effect.runPromise(chain.mine(3))
      const buyerDidToken = await createDidToken(buyer, {
        audience: "http://localhost:8787",
        lifetimeSeconds: 3600,
        now: Math.floor(Date.now() / 1000)
      })
      const tokenChanges = [
        { amountAtomic: amountAtomic.toString(), chainId, receiver: address, tokenAddress: usdc.address }
      ]

      const reportTimes: Array<number> = []
      const settledAt = new Map<string, number>()
      const pending: Array<Promise<void>> = []
      for (const [index, id] of ids.entries()) {
        pending.push(
          (async () => {
            const start = performance.now()
            const answer = await json(url, "PATCH", `/api/v1/payments/${id}`, keys.test.publishable, {
              buyerDidToken,
              transactionId: hashes[index],
              tokenChanges
            })
            if (answer.status !== 200) throw new Error(`report: ${JSON.stringify(answer)}`)
            reportTimes.push(performance.now() - start)
            settledAt.set(hashes[index] ?? "", Date.parse(answer.body.payment.settledAt))
          })()
        )
        await Bun.sleep(20)
      }
      await Promise.all(pending)
      for (let tries = 0; tries < 200 && arrivals.size < ids.length; tries++) await Bun.sleep(20)
      const delays = [...settledAt].map(([hash, at]) => Math.max(0, (arrivals.get(hash) ?? Number.NaN) - at))
      return {
        reportToSettled: quantiles(reportTimes.slice(10)),
        settledToFirstByte: quantiles(delays.slice(10))
      }
    })

    // The queue is filled behind the running service's back, due at once, and it hears of it by polling.
    const drainPerSecond = yield* Effect.promise(async () => {
      const { SQL } = await import("bun")
      const sql = new SQL(databaseUrl, { max: 1 })
      received = 0
      await sql`
        INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, due_at, created_at)
        SELECT gen_random_uuid(), e.merchant_id, e.env, e.id, 'test', convert_to('{"type":"test"}', 'UTF8'), 'pending', now(), now()
        FROM webhook_endpoints e, generate_series(1, ${counts.drain}::int) WHERE e.merchant_id = ${merchant.id}`
      while (received === 0) await Bun.sleep(1)
      const start = performance.now()
      const open = async () => {
        const [row] = await sql`SELECT count(*)::int AS open FROM webhook_deliveries WHERE status = 'pending'`
        return Number(row.open)
      }
      while ((await open()) > 0) await Bun.sleep(20)
      const seconds = (performance.now() - start) / 1000
      await sql.close()
      if (received !== counts.drain) throw new Error(`${received} requests for ${counts.drain} deliveries`)
      return counts.drain / seconds
    })
    return { ...result, drainPerSecond }
  }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })), Effect.timeout(Duration.minutes(5)))

const usdcAddress = (text: string) => {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw new Error("not an address")
  return parsed
}
