// The reader of the chain under load: 1,000 merchants, 100 transfers a block for 50 blocks, three `kill -9` of the
// reading process, and a node that falls 20 blocks behind. No transfer is missed, and a block costs the same calls
// however many merchants there are.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { SQL } from "bun"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { toHex } from "viem"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { Address } from "../../src/domain/Chain.ts"
import { networks } from "../../src/domain/networks.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { type RunningProcess, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { patch, type RpcProxy, rpcProxy } from "../support/rpcProxy.ts"
import { transferCall } from "./moneyWorld.ts"

setDefaultTimeout(240_000)

const merchants = 1_000
const blocks = 50
const transfersPerBlock = 100
const { usdc } = networks.test

/** The receiver of the n-th merchant. */
const receiverOf = (index: number) =>
  Address.make(`0x${(0x5000_0000_0000 + index).toString(16).padStart(40, "1")}`)

describe("reading the chain", () => {
  const scope = Effect.runSync(Scope.make())
  const within = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) =>
    Effect.runPromise(Effect.orDie(Scope.provide(effect, scope)))
  let chain: LocalChain["Service"]
  let node: RpcProxy
  let sql: SQL
  let environment: Readonly<Record<string, string>>

  beforeAll(async () => {
    chain = Context.get(await within(Layer.build(LocalChain.layer({ blockTimeSeconds: 0 }))), LocalChain)
    node = await within(rpcProxy(chain.rpcUrl))
    const databaseUrl = await within(ownDatabase())
    const dataDir = await within(temporaryDirectory)
    sql = new SQL(databaseUrl, { max: 2 })
    environment = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      BASE_SEPOLIA_RPC_URLS: node.url,
      INTENT_TOKEN_SECRETS: `test:${"s".repeat(40)}`,
      ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`
    }
  })
  afterAll(async () => {
    await sql?.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const start = async (): Promise<RunningProcess> => {
    const service = await within(spawnService(environment))
    await within(untilReady(service))
    return service
  }
  const stored = async () => {
    const [row] =
      await sql`SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS sum FROM incoming_transfers`
    return row
  }

  test("5,000 transfers to 1,000 merchants through three kills and a lag: all stored, with three calls a block", async () => {
    let running = await start()
    await sql.unsafe(`
      INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
      SELECT gen_random_uuid(), 'Shop ' || n,
        decode(lpad(to_hex(x'500000000000'::bigint + n), 40, '1'), 'hex'),
        decode(lpad(to_hex(x'500000000000'::bigint + n), 40, '1'), 'hex'), now()
      FROM generate_series(0, ${merchants - 1}) n`)
    await sql.unsafe(`
      INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
      SELECT 'test', receiver_test, id, created_at, created_at FROM merchants`)
    const sender = chain.walletClient(2).account.address
    await Effect.runPromise(chain.mint(Address.make(sender), 1_000_000_000n))
    await Effect.runPromise(chain.rpc("evm_setAutomine", [false]))
    let nonce = await chain.publicClient.getTransactionCount({ address: sender })
    let sent = 0
    let total = 0n
    const send = async (to: Address, atomic: bigint) => {
      await Effect.runPromise(
        chain.rpc("eth_sendTransaction", [
          {
            from: sender,
            to: usdc.address,
            data: transferCall(to, atomic),
            nonce: toHex(nonce++),
            gas: toHex(100_000)
          }
        ])
      )
      total += atomic
      sent += 1
    }
    for (let block = 0; block < blocks; block++) {
      if (block === 10 || block === 25 || block === 40) {
        await Effect.runPromise(running.kill("SIGKILL"))
        await Effect.runPromise(running.exited)
      }
      for (let index = 0; index < transfersPerBlock; index++)
        await send(receiverOf((block * 37 + index * 11) % merchants), BigInt(1 + ((block + index) % 7)))
      await Effect.runPromise(chain.mine(1))
      if (block === 12 || block === 27 || block === 42) running = await start()
      if (block === 30) {
        const head = await chain.publicClient.getBlockNumber()
        node.behave((method, [at]) => {
          if (method === "eth_blockNumber") return { result: toHex(head - 20n) }
          if (method !== "eth_getBlockByNumber") return undefined
          if (at === "latest") return { change: patch({ number: toHex(head - 20n) }) }
          return BigInt(String(at)) > head - 20n ? { result: null } : undefined
        })
      }
      if (block === 35) node.behave(() => undefined)
    }
    await Effect.runPromise(chain.mine(2))
    const deadline = Date.now() + 60_000
    while ((await stored()).count < sent && Date.now() < deadline) await Bun.sleep(200)
    expect(await stored()).toEqual({ count: sent, sum: total.toString() })
    const balances = await Promise.all(
      Array.from({ length: merchants }, (_, index) =>
        Effect.runPromise(
          chain.rpc("eth_call", [
            {
              to: usdc.address,
              data: `0x70a08231${receiverOf(index).slice(2).padStart(64, "0")}`
            },
            "latest"
          ])
        ).then((answer) => BigInt(String(answer)))
      )
    )
    expect(balances.reduce((sum, one) => sum + one, 0n)).toBe(total)

    // At the head: a block costs its header and its logs; the head is polled once a second.
    await Bun.sleep(2_000)
    node.calls.length = 0
    const began = Date.now()
    for (let block = 0; block < 10; block++) {
      for (let index = 0; index < transfersPerBlock; index++) await send(receiverOf(index), 1n)
      await Effect.runPromise(chain.mine(1))
    }
    while ((await stored()).count < sent - transfersPerBlock) await Bun.sleep(50)
    await Bun.sleep(1_500)
    const seconds = Math.ceil((Date.now() - began) / 1_000)
    const calls = (method: string) => node.calls.filter((one) => one === method).length
    expect(calls("eth_getLogs")).toBeLessThanOrEqual(10)
    expect(calls("eth_getBlockByNumber")).toBeLessThanOrEqual(10 + seconds + 3)
    await Effect.runPromise(running.kill("SIGTERM"))
  })
})
