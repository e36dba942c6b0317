// Random lives of payments, and the books afterwards. Buyers pay by transfers and payment headers, from one
// browser or two, announce, report or close the tab; nodes fall silent or behind, blocks are replaced, and
// the service is killed. Whatever happens, the USDC at each receiver is a payment's or on the list.
import { SQL } from "bun"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { type Hex, toHex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import * as App from "../../src/App.ts"
import { AppConfig } from "../../src/AppConfig.ts"
import { createDidToken } from "../../src/buyers/createDidToken.ts"
import { freePort } from "../../src/dev/freePort.ts"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { usdcAbi } from "../../src/dev/LocalUsdc.ts"
import { authorizationNonceOf } from "../../src/domain/authorizationNonce.ts"
import { Address, networks } from "../../src/domain/Chain.ts"
import { type FirstKeys, KeyAuth } from "../../src/keys/KeyAuth.ts"
import { typedDataOf } from "../../src/x402/Authorization.ts"
import { transferCall } from "../payments/moneyWorld.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { type RunningProcess, spawnProgram, temporaryDirectory, untilReady } from "../support/process.ts"
import { patch, rpcProxy } from "../support/rpcProxy.ts"
import { headerV1 } from "../x402/payloads.ts"

const network = networks.test
const { chainId, usdc } = network
const mnemonic = "legal winner thank year wave sausage worth useful legal winner thank yellow"

/** A number from 0 up to but not including 1, by a seed (mulberry32). */
export const randomOf = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Merchants that live through one round of troubles together. */
const merchantsAtOnce = 25

interface Shop {
  readonly id: string
  readonly keys: FirstKeys
  readonly receiver: Address
}
interface Life {
  readonly shop: Shop
  readonly id: string
  readonly atomic: bigint
  /** The buyer who follows the checkout's rules. */
  readonly buyer: PrivateKeyAccount
  /** A stranger who does not. */
  readonly stranger: PrivateKeyAccount
}

/** Runs lives, some merchants of four payments at a time, and checks the books after each round. */
export const runMoneyLives = async (
  lives: number,
  seed: number
): Promise<Readonly<Record<string, number>>> => {
  const scope = Effect.runSync(Scope.make())
  const within = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) =>
    Effect.runPromise(Effect.orDie(Scope.provide(effect, scope)))
  const random = randomOf(seed)
  const pick = <A>(all: ReadonlyArray<A>): A => {
    const one = all[Math.floor(random() * all.length)]
    if (one === undefined) throw new Error("nothing to pick from")
    return one
  }
  const seen: Record<string, number> = {}
  const count = (what: string, by = 1) => {
    seen[what] = (seen[what] ?? 0) + by
  }

  const chain = Context.get(await within(Layer.build(LocalChain.layer({ blockTimeSeconds: 0 }))), LocalChain)
  const node = await within(rpcProxy(chain.rpcUrl))
  const databaseUrl = await within(ownDatabase())
  const sql = new SQL(databaseUrl, { max: 4 })
  const port = await within(freePort(0))
  const baseUrl = `http://127.0.0.1:${port}`
  const delivered: Array<{ readonly id: string; readonly type: string; readonly transactionId: string }> = []
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      delivered.push((await request.json()) as (typeof delivered)[number])
      return new Response(null, { status: 204 })
    }
  })
  const environment = {
    PORT: String(port),
    HOST: "127.0.0.1",
    BASE_URL: baseUrl,
    DATABASE_URL: databaseUrl,
    DATA_DIR: await within(temporaryDirectory),
    INTENT_TOKEN_SECRETS: `lives:${"s".repeat(40)}`,
    ENCRYPTION_KEYS: `lives:${Buffer.alloc(32, 7).toString("base64")}`,
    AGENT_WALLET_MNEMONIC: mnemonic,
    BASE_SEPOLIA_RPC_URLS: node.url,
    RATE_LIMIT_PER_KEY: "100000",
    WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`
  }
  const rpc = (method: string, params: ReadonlyArray<unknown>) =>
    Effect.runPromise(chain.rpc(method, [...params]))
  const mine = (blocks: number) => Effect.runPromise(chain.mine(blocks))
  /** Blocks come by themselves, as on a real chain, but for the moments of a reorganisation. */
  let holdsBlocks = false
  const miner = setInterval(() => {
    if (!holdsBlocks) mine(1).catch(() => undefined)
  }, 300)

  let running: RunningProcess = await within(spawnProgram(["--version"], {}))
  const start = async () => {
    running = await within(spawnProgram(["src/main.ts"], environment))
    await within(untilReady({ baseUrl, output: running.output }, 60_000))
  }
  const kill = async () => {
    await Effect.runPromise(running.kill("SIGKILL"))
    await Effect.runPromise(running.exited)
  }
  await start()
  const operator = await within(
    Layer.build(App.layerOperator.pipe(Layer.provide(AppConfig.layer(environment))))
  )
  const keys = Context.get(operator, KeyAuth)

  /** Undefined where the service did not answer. */
  const call = async (
    method: string,
    path: string,
    key: string | undefined,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {}
  ) => {
    try {
      const response = await fetch(`${baseUrl}/api/v1${path}`, {
        method,
        signal: AbortSignal.timeout(30_000),
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
    } catch {
      return undefined
    }
  }

  const wallets: Array<Address> = []
  const fund = () => Promise.all(wallets.map((one) => rpc("anvil_setBalance", [one, toHex(10n ** 18n)])))
  const wallet = () => {
    const account = privateKeyToAccount(generatePrivateKey())
    wallets.push(Address.make(account.address))
    return account
  }
  const balanceOf = (address: string) =>
    chain.publicClient.readContract({
      address: usdc.address,
      abi: usdcAbi,
      functionName: "balanceOf",
      args: [Address.make(address)]
    })

  const newShop = async (): Promise<Shop> => {
    const address = Address.make(privateKeyToAccount(generatePrivateKey()).address)
    const { merchant, keys: issued } = await Effect.runPromise(
      keys.createMerchant({ name: "Shop", receivers: { test: address, live: address } })
    )
    await call("POST", "/webhook-endpoint", issued.test.secret, { url: `http://127.0.0.1:${receiver.port}/` })
    return { id: merchant.id, keys: issued, receiver: address }
  }
  const newLife = async (shop: Shop, cents: number): Promise<Life> => {
    const intent = await call("POST", "/payment-intents", shop.keys.test.secret, {
      amount: `0.${String(cents).padStart(2, "0")}`,
      intentUrl: "https://shop.example.com/orders/1042"
    })
    const opened = await call("POST", "/payments", shop.keys.test.publishable, {
      intentToken: intent?.body.intentToken
    })
    const [buyer, stranger] = [wallet(), wallet()]
    return { shop, id: opened?.body.payment.id, atomic: BigInt(cents) * 10_000n, buyer, stranger }
  }

  /** Signs and broadcasts; undefined where the chain takes it not, as with a nonce that is used. */
  const sendUsdc = async (from: PrivateKeyAccount, to: Address, atomic: bigint, nonce?: number) => {
    const next = await chain.publicClient.getTransactionCount({ address: from.address, blockTag: "pending" })
    const raw = await from.signTransaction({
      type: "eip1559",
      chainId,
      nonce: nonce ?? next,
      to: usdc.address,
      data: transferCall(to, atomic),
      gas: 150_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n
    })
    return rpc("eth_sendRawTransaction", [raw]).then(String, () => undefined)
  }
  const tokenOf = (account: PrivateKeyAccount, paymentId: string) =>
    createDidToken(account, {
      audience: baseUrl,
      lifetimeSeconds: 3600,
      now: Math.floor(Date.now() / 1000),
      id: paymentId
    })
  const report = async ({ atomic, id, shop }: Life, account: PrivateKeyAccount, transactionId: string) =>
    call("PATCH", `/payments/${id}`, shop.keys.test.publishable, {
      buyerDidToken: await tokenOf(account, id),
      transactionId,
      tokenChanges: [
        { amountAtomic: atomic.toString(), chainId, receiver: shop.receiver, tokenAddress: usdc.address }
      ]
    })
  const announce = async ({ id, shop }: Life, account: PrivateKeyAccount, method: string) =>
    call("POST", `/payments/${id}/attempts`, shop.keys.test.publishable, {
      buyerDidToken: await tokenOf(account, id),
      method
    })
  const authorize = async (life: Life, account: PrivateKeyAccount, nonce: Hex) => {
    const now = BigInt(Math.floor(Date.now() / 1000))
    const authorization = {
      from: Address.make(account.address),
      to: life.shop.receiver,
      value: life.atomic,
      validAfter: now - 600n,
      validBefore: now + 15n,
      nonce
    }
    const signature = await account.signTypedData(typedDataOf(network, authorization))
    return {
      signature,
      authorization: {
        ...authorization,
        value: authorization.value.toString(),
        validAfter: authorization.validAfter.toString(),
        validBefore: authorization.validBefore.toString()
      }
    }
  }
  const payByHeader = async (life: Life, account: PrivateKeyAccount, nonce: Hex) =>
    call(
      "GET",
      `/payments/${life.id}/x402?pk=${life.shop.keys.test.publishable}`,
      undefined,
      undefined,
      headerV1(await authorize(life, account, nonce))
    )

  // What may happen to one payment.
  const payByTransfer = async (life: Life) => {
    const answer = await announce(life, life.buyer, "transfer")
    count(`announced ${answer?.status ?? "unanswered"}`)
    if (answer?.status !== 201) return
    const hash = await sendUsdc(life.buyer, life.shop.receiver, life.atomic, answer.body.attempt.nonce)
    if (hash === undefined) return
    count("transfers")
    if (random() < 0.5) await mine(1)
    // Every other tab is closed before it reports.
    if (random() < 0.5) count(`reported ${(await report(life, life.buyer, hash))?.status ?? "unanswered"}`)
  }
  const payBySignature = async (life: Life) => {
    const answer = await announce(life, life.buyer, "authorization")
    if (answer?.status !== 201) return
    count("headers")
    const header = authorizationNonceOf(life.id)
    await Promise.all([
      payByHeader(life, life.buyer, header),
      ...(random() < 0.3 ? [payByHeader(life, life.buyer, header)] : [])
    ])
  }
  const happenings: ReadonlyArray<(life: Life) => Promise<unknown>> = [
    payByTransfer,
    payByTransfer,
    (life) => Promise.all([payByTransfer(life), payByTransfer(life)]),
    payBySignature,
    (life) => Promise.all([payBySignature(life), payByTransfer(life)]),
    // A stranger who heeds nothing: another amount, twice, a foreign header, a false report.
    async (life) => {
      count("strangers' transfers")
      await sendUsdc(life.stranger, life.shop.receiver, life.atomic + pick([-1n, 0n, 0n, 7n]))
      await mine(1)
    },
    async (life) => {
      count("strangers' headers")
      await payByHeader(life, life.stranger, toHex(crypto.getRandomValues(new Uint8Array(32))))
    },
    (life) => report(life, life.stranger, toHex(crypto.getRandomValues(new Uint8Array(32))))
  ]

  // What may happen to all of them.
  const reorganise = async () => {
    const depth = 1 + Math.floor(random() * 5)
    holdsBlocks = true
    const head = await chain.publicClient.getBlockNumber({ cacheTime: 0 })
    const raws: Array<unknown> = []
    for (let height = head - BigInt(depth) + 1n; height <= head; height++) {
      const block = await chain.publicClient.getBlock({ blockNumber: height })
      for (const hash of block.transactions) raws.push(await rpc("eth_getRawTransactionByHash", [hash]))
    }
    await Effect.runPromise(chain.reorganise(depth))
    for (let height = head - BigInt(depth); height <= head; height++) {
      if ((await rpc("eth_getBlockByNumber", [toHex(height), false])) === null)
        throw new Error(`seed ${seed}: anvil lost block ${height} of its chain`)
    }
    await fund()
    // Nodes put back into their pools what a reorganisation has thrown out.
    for (const raw of raws) await rpc("eth_sendRawTransaction", [raw]).catch(() => undefined)
    await mine(1)
    holdsBlocks = false
    count("reorganisations")
  }
  const trouble: ReadonlyArray<() => Promise<unknown>> = [
    reorganise,
    reorganise,
    async () => {
      count("outages of nodes")
      node.behave(() => ({ raw: new Response("", { status: 503 }) }))
    },
    async () => {
      count("lagging nodes")
      const head = await chain.publicClient.getBlockNumber({ cacheTime: 0 })
      node.behave((method, [at]) => {
        if (method === "eth_blockNumber") return { result: toHex(head) }
        if (method !== "eth_getBlockByNumber") return undefined
        if (at === "latest") return { change: patch({ number: toHex(head) }) }
        return BigInt(String(at)) > head ? { result: null } : undefined
      })
    },
    async () => {
      count("kills")
      await kill()
      await mine(1)
      await start()
    }
  ]

  /** What is still under way, by kind. */
  const underWay = async () => {
    const [row] = await sql`
      SELECT
        (SELECT count(*) FROM incoming_transfers WHERE match_at IS NOT NULL)::int AS transfers,
        (SELECT count(*) FROM x402_settlements WHERE status = 'pending')::int AS settlements,
        (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending')::int AS deliveries,
        coalesce((SELECT block_number FROM chain_cursors), 0)::int AS read`
    const head = Number(await chain.publicClient.getBlockNumber({ cacheTime: 0 }))
    const { deliveries, read, settlements, transfers } = row
    return { deliveries, settlements, transfers, blocks: Math.max(0, head - 1 - read) }
  }
  const quiet = async (holds: (open: Awaited<ReturnType<typeof underWay>>) => boolean) => {
    const end = Date.now() + 120_000
    let open = await underWay()
    while (!holds(open) && Date.now() < end) {
      await Bun.sleep(300)
      open = await underWay()
    }
    if (!holds(open)) throw new Error(`seed ${seed}: still under way ${JSON.stringify(open)}`)
  }
  /** Everything ends, then no block comes any more, and all of them are read. */
  const settleDown = async () => {
    node.behave(() => undefined)
    holdsBlocks = false
    await quiet(({ settlements }) => settlements === 0)
    holdsBlocks = true
    await Bun.sleep(500)
    await mine(2)
    await quiet((open) => Object.values(open).every((one) => one === 0))
  }

  const check = async (all: ReadonlyArray<Life>) => {
    for (const shop of new Set(all.map((life) => life.shop))) {
      const [books] = await sql`
        SELECT
          (SELECT coalesce(sum(amount), 0)::text FROM payments
            WHERE merchant_id = ${shop.id} AND status = 'settled') AS settled,
          (SELECT coalesce(sum(amount), 0)::text FROM incoming_transfers
            WHERE merchant_id = ${shop.id} AND payment_id IS NULL AND dropped_at IS NULL) AS listed`
      const balance = await balanceOf(shop.receiver)
      if (BigInt(books.settled) + BigInt(books.listed) !== balance) {
        const logs = await rpc("eth_getLogs", [
          {
            address: usdc.address,
            fromBlock: "0x0",
            toBlock: "latest",
            topics: [null, null, `0x${shop.receiver.slice(2).toLowerCase().padStart(64, "0")}`]
          }
        ])
        const stored = await sql`
          SELECT '0x' || encode(transaction_id, 'hex') AS tx, amount::text, block_number::text, payment_id, kind,
            dropped_at IS NOT NULL AS dropped FROM incoming_transfers WHERE merchant_id = ${shop.id}`
        const settled = await sql`
          SELECT id, '0x' || encode(transaction_id, 'hex') AS tx, amount::text FROM payments
          WHERE merchant_id = ${shop.id} AND status = 'settled'`
        throw new Error(
          [
            `seed ${seed}, merchant ${shop.id}: ${books.settled} settled and ${books.listed} listed are not ${balance}`,
            `chain: ${JSON.stringify(logs)}`,
            `stored: ${JSON.stringify([...stored])}`,
            `settled: ${JSON.stringify([...settled])}`,
            `head ${await chain.publicClient.getBlockNumber({ cacheTime: 0 })}, ${JSON.stringify(await underWay())}`
          ].join("\n")
        )
      }
      if (BigInt(books.listed) > 0n) count("merchants with listed transfers")
    }
    for (const life of all) {
      const [payment] = await sql`
        SELECT p.status, (SELECT count(*)::int FROM webhook_deliveries d WHERE d.payment_id = p.id) AS deliveries,
          (SELECT count(*)::int FROM incoming_transfers t WHERE t.payer = decode(${life.buyer.address.slice(2)}, 'hex')
            AND t.dropped_at IS NULL) AS charged
        FROM payments p WHERE p.id = ${life.id}`
      count(`payments ${payment.status}`)
      const spent = 1_000_000n - (await balanceOf(life.buyer.address))
      if (payment.charged > 1 || spent > life.atomic)
        throw new Error(
          `seed ${seed}: the buyer of ${life.id} was charged ${spent} in ${payment.charged} transfers`
        )
      if (payment.status === "settled" && payment.deliveries !== 1)
        throw new Error(`seed ${seed}: payment ${life.id} has ${payment.deliveries} deliveries`)
    }
    const ids = new Map<string, string>()
    for (const { id, transactionId } of delivered) ids.set(`${transactionId} ${id}`, id)
    const [settled] = await sql`SELECT count(*)::int AS count FROM payments WHERE status = 'settled'`
    if (new Set(ids.values()).size !== settled.count)
      throw new Error(
        `seed ${seed}: ${settled.count} settlements and ${new Set(ids.values()).size} webhook ids`
      )
  }

  try {
    const supported = await call("GET", "/x402/supported", (await newShop()).keys.test.secret)
    wallets.push(Address.make(supported?.body.signers["eip155:*"][0]))
    for (let done = 0; done < lives; done += merchantsAtOnce) {
      const merchants = Math.min(merchantsAtOnce, lives - done)
      const all: Array<Life> = []
      for (let merchant = 0; merchant < merchants; merchant++) {
        const shop = await newShop()
        for (let payment = 0; payment < 4; payment++)
          all.push(await newLife(shop, 1 + Math.floor(random() * 4)))
      }
      for (const life of all) {
        for (const account of [life.buyer, life.stranger])
          await Effect.runPromise(chain.mint(Address.make(account.address), 1_000_000n))
      }
      await fund()
      // What was minted is final: no reorganisation reaches it.
      await mine(6)
      const steps = all.flatMap((life) => [life, life]).toSorted(() => random() - 0.5)
      for (let step = 0; step < steps.length; step += 5) {
        if (random() < 0.6) node.behave(() => undefined)
        if (random() < 0.3) await pick(trouble)()
        await Promise.all(steps.slice(step, step + 5).map((life) => pick(happenings)(life)))
      }
      await settleDown()
      await check(all)
      holdsBlocks = false
      count("lives", merchants)
      if (lives > merchantsAtOnce) console.log(`${seen["lives"]} of ${lives} lives`)
    }
    return seen
  } catch (error) {
    console.log(running.output().slice(-4_000))
    throw error
  } finally {
    clearInterval(miner)
    await sql.close()
    receiver.stop(true)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
