// The service, two merchants with a webhook receiver each, and the wallets of the lives with their USDC.
import { Context, Effect } from "effect"
import { concat, encodeFunctionData, type Hex, pad, toHex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { usdcAbi } from "../../../src/app/dev/LocalUsdc.ts"
import { transferTopic } from "../../../src/chain/ChainVerifier/TransferLog.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { type FirstKeys, KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { verifyWebhook, type WebhookEvent } from "../../../src/packages/client/verifyWebhook.ts"
import { createDidToken } from "../../../src/payments/buyers/createDidToken.ts"
import { forFile } from "../../support/forFile.ts"
import { listening } from "../../support/listening.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { rowsOf } from "../../x402/payloads.ts"
import { type Answer, type X402World, x402World } from "../../x402/x402World.ts"
import { transferCall } from "../moneyWorld.ts"
import { makeLivesChain } from "./livesChain.ts"
import type { Plan } from "./plan.ts"

export interface Merchant {
  readonly keys: FirstKeys
  readonly receiver: PrivateKeyAccount
  /** The same world, as this merchant's patient buyers use it. */
  readonly world: X402World
}

/** One POST to a merchant's endpoint. */
interface Post {
  readonly merchant: number
  readonly event: WebhookEvent | undefined
  readonly status: number
}

/** Emits `Transfer(address,address,uint256)` of its three words of input. */
const emitter = `0x6040356000526020356000357f${transferTopic.slice(2)}60206000a300`

const mintCall = (to: Hex, atomic: bigint) =>
  encodeFunctionData({ abi: usdcAbi, functionName: "mint", args: [to, atomic] })

/** Answers that say to ask again. */
const isTrouble = ({ status }: Answer) => status === 429 || status === 503

export const livesWorld = async ({ draw, lives, receivers }: Plan) => {
  const posts: Array<Post> = []
  const secrets: Array<string> = []
  const failing = draw.of("webhooks")
  const shop = await forFile(
    listening(async (request) => {
      const merchant = Number(new URL(request.url).pathname.slice(1))
      const body = await request.text()
      const event = await verifyWebhook(body, request.headers, secrets[merchant] ?? "").catch(() => undefined)
      // A tenth of the posts fail, but never the third of an event.
      const before = posts.filter((post) => post.event?.id === event?.id).length
      const status = before < 2 && failing.chance(0.1) ? 500 : 204
      posts.push({ merchant, event, status })
      return new Response(null, { status })
    })
  )
  const environment = {
    TESTNET_CONFIRMATIONS: String(moneyNetwork.confirmations),
    DATABASE_URL: await forFile(ownDatabase()),
    WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${shop.port}`,
    ...Object.fromEntries(
      Object.values(moneyNetwork.relayWei).map(({ setting }) => [setting, String(10n ** 18n)])
    )
  }
  const world = await x402World(environment, undefined, { statesInMemory: 100_000 })
  const { chain, env } = world
  const rows = (query: string) => rowsOf(world, query)
  const rpc = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.runPromise(chain.rpc(method, params))

  /** Asks as people do: again, while the service or its nodes say so. */
  const patiently = async (ask: () => Promise<Answer>, millis = 60_000): Promise<Answer> => {
    const end = Date.now() + millis
    let answer = await ask()
    while (isTrouble(answer) && Date.now() < end) {
      await Bun.sleep(1_000)
      answer = await ask()
    }
    return answer
  }

  const merchants: Array<Merchant> = []
  for (const [index, receiver] of receivers.entries()) {
    const address = Address.make(receiver.address)
    const { keys } = await Effect.runPromise(
      Context.get(world.context, KeyAuth).createMerchant({
        name: `Shop ${index}`,
        receivers: { test: address, live: address }
      })
    )
    const endpoint = await world.call("POST", "/webhook-endpoint", keys[env].secret, {
      url: `http://127.0.0.1:${shop.port}/${index}`
    })
    secrets.push(endpoint.body.secret)
    const call: X402World["call"] = (...request) => patiently(() => world.call(...request))
    merchants.push({ keys, receiver, world: { ...world, keys, call } })
  }
  const merchantAt = (index: number): Merchant => {
    const merchant = merchants[index]
    if (merchant === undefined) throw new Error(`there is no merchant ${index}`)
    return merchant
  }

  for (const { address: token } of moneyNetwork.otherTokens) await rpc("anvil_setCode", token, emitter)
  const { address: owner } = chain.account(0)
  await rpc("evm_setAutomine", false)
  for (const account of [...lives.flatMap(({ wallets }) => wallets), ...receivers])
    await rpc("anvil_setBalance", account.address, toHex(10n ** 19n))
  for (const [index, { amount, wallets }] of lives.entries()) {
    for (const { address } of wallets)
      await rpc("eth_sendTransaction", {
        ...{ from: owner, to: moneyNetwork.usdc.address, gas: toHex(120_000) },
        data: mintCall(address, amount * 8n + 10_000_000n)
      })
    if (index % 100 === 99) await rpc("evm_mine")
  }
  await rpc("evm_mine")

  const livesChain = makeLivesChain(chain, draw.of("chain"))
  const token = (account: PrivateKeyAccount, id: string) =>
    createDidToken(account, {
      audience: world.baseUrl,
      lifetimeSeconds: 3_600,
      now: Math.floor(Date.now() / 1_000),
      id
    })
  return {
    ...{ world, rows, merchantAt, merchants, posts, livesChain, token },
    call: (
      merchant: number,
      kind: "secret" | "publishable",
      method: string,
      path: string,
      body?: unknown,
      headers?: Readonly<Record<string, string>>
    ) => {
      const { keys, world } = merchantAt(merchant)
      return world.call(method, path, keys[env][kind], body, headers)
    },
    sendUsdc: (account: PrivateKeyAccount, to: Hex, atomic: bigint) =>
      livesChain.send(account, moneyNetwork.usdc.address, transferCall(to, atomic)),
    sendOther: (account: PrivateKeyAccount, other: Hex, to: Hex, atomic: bigint) =>
      livesChain.send(
        account,
        other,
        concat([pad(account.address, { size: 32 }), pad(to, { size: 32 }), toHex(atomic, { size: 32 })])
      )
  }
}

export type LivesWorld = Awaited<ReturnType<typeof livesWorld>>
