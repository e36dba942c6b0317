// `bun run bench pipeline`: from a report to its settlement against a real chain, and from the
// settlement to the first byte at the receiver, at 50 reports a second. The service, the chain
// and the receiver are processes of their own.
import { Effect } from "effect"
import { encodeFunctionData, erc20Abi } from "viem"
import { createDidToken } from "../../src/buyers/createDidToken.ts"
import { parseAddress } from "../../src/chain/Address.ts"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { networks } from "../../src/domain/Chain.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { startPostgres } from "./postgres.ts"
import { startReceiver } from "./receiving.ts"
import { baseUrl, built, serviceEnv } from "./servers.ts"
import { settings } from "./settings.ts"
import { type Quantiles, quantiles } from "./statistics.ts"

const { usdc, chainId } = networks.test
const amountAtomic = 1_000_000n
const perSecond = 50
/** The first reports, while compilers warm up, are not counted. */
const warmUp = 50

export interface PipelineResult {
  readonly payments: number
  readonly reportToSettled: Quantiles
  readonly settledToFirstByte: Quantiles
}

const request = async (url: string, method: string, path: string, key: string, body: unknown) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const text = await response.text()
  if (!response.ok || response.status === 202)
    throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

const measure = Effect.gen(function* () {
  const chain = yield* LocalChain
  const { url: databaseUrl } = yield* startPostgres()
  const directory = yield* temporaryDirectory
  const receiver = yield* startReceiver
  const merchantAddress = chain.account(5).address
  const env = {
    ...serviceEnv,
    DATABASE_URL: databaseUrl,
    DATA_DIR: directory,
    BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
    WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`
  }
  const cli = yield* spawnProgram(
    ["src/cli/main.ts", "merchant", "create", "--name", "Bench", "--receiver", merchantAddress, "--json"],
    env
  )
  yield* cli.exited
  const { secret, publishable } = JSON.parse(cli.output()).keys.test
  const service = yield* spawnService(env, built)
  yield* untilReady(service)
  const url = service.baseUrl

  const ids = yield* Effect.promise(async () => {
    await request(url, "POST", "/api/v1/webhook-endpoint", secret, { url: receiver.hook })
    const opened: Array<string> = []
    while (opened.length < settings.payments + warmUp) {
      const intent = { amount: "1.00", intentUrl: "https://shop.example.com/" }
      const { intentToken } = await request(url, "POST", "/api/v1/payment-intents", secret, intent)
      const { payment } = await request(url, "POST", "/api/v1/payments", publishable, { intentToken })
      opened.push(String(payment.id))
    }
    return opened
  })

  // One buyer pays all of them, each by a transfer of its own; the last blocks confirm the first.
  const buyer = chain.account(6)
  const funded = parseAddress(buyer.address)
  if (funded === undefined) return yield* Effect.die(new Error("not an address"))
  yield* chain.mint(funded, amountAtomic * BigInt(ids.length))
  const hashes = yield* Effect.promise(async () => {
    const wallet = chain.walletClient(6)
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [merchantAddress, amountAtomic]
    })
    let nonce = await chain.publicClient.getTransactionCount({ address: buyer.address })
    const sent: Array<string> = []
    for (const _ of ids) {
      sent.push(await wallet.sendTransaction({ to: usdc.address, data, nonce: nonce++, gas: 100_000n }))
    }
    return sent
  })
  yield* chain.mine(3)

  return yield* Effect.promise(async (): Promise<PipelineResult> => {
    const buyerDidToken = await createDidToken(buyer, {
      audience: baseUrl,
      lifetimeSeconds: 3600,
      now: Math.floor(Date.now() / 1000)
    })
    const tokenChanges = [
      {
        amountAtomic: amountAtomic.toString(),
        chainId,
        receiver: merchantAddress,
        tokenAddress: usdc.address
      }
    ]
    const reported: Array<{ readonly millis: number; readonly settledAt: number; readonly hash: string }> = []
    const report = async (id: string, index: number) => {
      const transactionId = hashes[index] ?? ""
      const start = performance.now()
      const body = { buyerDidToken, transactionId, tokenChanges }
      const { payment } = await request(url, "PATCH", `/api/v1/payments/${id}`, publishable, body)
      const millis = performance.now() - start
      if (index >= warmUp)
        reported.push({ millis, settledAt: Date.parse(payment.settledAt), hash: transactionId })
    }
    const start = performance.now()
    const pending: Array<Promise<void>> = []
    for (const [index, id] of ids.entries()) {
      pending.push(report(id, index))
      // By the clock, so that a late turn does not slow the rate down.
      await Bun.sleep(Math.max(0, start + ((index + 1) * 1000) / perSecond - performance.now()))
    }
    await Promise.all(pending)
    await receiver.untilReceived(ids.length, 10_000)
    const { arrivals } = await receiver.state()
    const delays = reported.map(({ settledAt, hash }) => (arrivals[hash] ?? Number.NaN) - settledAt)
    if (delays.some(Number.isNaN)) throw new Error("a settlement's webhook did not come")
    return {
      payments: reported.length,
      reportToSettled: quantiles(reported.map(({ millis }) => millis)),
      // The time of settlement is told in whole milliseconds.
      settledToFirstByte: quantiles(delays.map((delay) => Math.max(0, delay)))
    }
  })
})

export const measurePipeline = measure.pipe(
  Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })),
  Effect.timeout("10 minutes"),
  Effect.orDie
)
