// The service as it runs, on a real socket, an embedded Postgres, anvil and the real USDC, with one merchant and wallets
// that pay by x402 on `moneyNetwork`. `bothNetworksWorld` has a second anvil, as the live network beside Testnet.

import { afterEach } from "bun:test"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { type Hex, toHex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import * as App from "../../src/app/App.ts"
import { freePort } from "../../src/app/dev/freePort.ts"
import { LocalChain, type LocalChainOptions } from "../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import type { Agent } from "../../src/domain/Agent.ts"
import { Address, type Env } from "../../src/domain/Chain.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { envs, type Network, networks, type RelayBound } from "../../src/domain/networks.ts"
import { type FirstKeys, KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { AppConfig, type Environment } from "../../src/platform/AppConfig.ts"
import { typedDataOf } from "../../src/x402/Authorization.ts"
import { Agents } from "../../src/x402/agents/Agents.ts"
import type { AnswerBody } from "../support/AnswerBody.ts"
import { create2Factory } from "../support/contracts.ts"
import { forFile } from "../support/forFile.ts"
import { installMulticall } from "../support/installMulticall.ts"
import { listening } from "../support/listening.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { temporaryDirectory } from "../support/process.ts"
import { type Behaviour, type RpcProxy, rpcProxy } from "../support/rpcProxy.ts"

export const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
export const mnemonic = "legal winner thank year wave sausage worth useful legal winner thank yellow"
export const liveMnemonic = "letter advice cage absurd amount doctor acoustic avoid letter advice cage above"
/** The mnemonics of the service's wallets. */
export const mnemonicOf: { readonly [E in Env]: string } = { test: mnemonic, live: liveMnemonic }

/** An answer of the service. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: AnswerBody
}

export interface SignOptions {
  /** The network that it is signed for. Default: the world's. */
  readonly env?: Env
  readonly to?: Address
  readonly value?: bigint
  readonly validAfter?: bigint
  readonly validBefore?: bigint
  readonly nonce?: Hex
  readonly domain?: { readonly name?: string; readonly version?: string }
}

export interface X402World {
  readonly baseUrl: string
  /** The environment of its network; in `bothNetworksWorld` there is another one. */
  readonly env: Env
  readonly chain: LocalChain["Service"]
  /** The chain of an environment; another one than the world's only in `bothNetworksWorld`. */
  readonly chainOf: (env: Env) => LocalChain["Service"]
  /** A proxy in front of the service's node, or of each if the network needs two. */
  readonly node: Pick<RpcProxy, "calls" | "behave">
  /** The number of nodes that answer like `node`: each gets the service's broadcasts. */
  readonly nodeCount: number
  readonly keys: FirstKeys
  readonly merchantId: MerchantId
  readonly context: Context.Context<Layer.Success<typeof App.layer>>
  /** Starts another instance on the same database, which must be a Postgres; returns its address. */
  readonly another: () => Promise<string>
  /** Deliveries that the merchant has received. */
  readonly delivered: Array<{ readonly id: string; readonly type: string; readonly transactionId: string }>
  readonly call: (
    method: string,
    path: string,
    key: string | undefined,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Answer>
  /** An account with this much atomic USDC and no gas. */
  readonly payer: (usdc?: bigint, env?: Env) => Promise<PrivateKeyAccount>
  readonly balanceOf: (address: string, env?: Env) => Promise<bigint>
  /** A signed authorization in its wire form. */
  readonly authorize: (
    account: PrivateKeyAccount,
    value: bigint,
    options?: SignOptions
  ) => Promise<{ readonly signature: Hex; readonly authorization: Record<string, string> }>
  readonly newAgent: (options?: {
    readonly env?: Env
    readonly perPayment?: bigint
    readonly perDay?: bigint
    readonly allowedHosts?: ReadonlyArray<string>
    readonly allowedPayees?: ReadonlyArray<Address>
    readonly usdc?: bigint
  }) => Promise<{ readonly agent: Agent; readonly key: string }>
}

/** The environment whose keys do nothing on `moneyNetwork`. */
export const otherEnv: Env = envs.find((env) => env !== moneyNetwork.env) ?? "test"

export const requirementsV2 = (
  amount: bigint,
  changes: Readonly<Record<string, unknown>> = {},
  env: Env = moneyNetwork.env
) => ({
  scheme: "exact",
  network: networks[env].x402[2],
  amount: amount.toString(),
  asset: networks[env].usdc.address,
  payTo: receiver,
  maxTimeoutSeconds: 60,
  extra: { name: networks[env].usdc.domainName, version: networks[env].usdc.domainVersion },
  ...changes
})

/** Only Testnet has a name in version 1. */
export const requirementsV1 = (amount: bigint, changes: Readonly<Record<string, unknown>> = {}) => ({
  scheme: "exact",
  network: networks.test.x402[1],
  maxAmountRequired: amount.toString(),
  asset: networks.test.usdc.address,
  payTo: receiver,
  resource: "https://api.example.com/weather",
  description: "Weather",
  mimeType: "application/json",
  maxTimeoutSeconds: 60,
  extra: { name: networks.test.usdc.domainName, version: networks.test.usdc.domainVersion },
  ...changes
})

const relayBounds: ReadonlyArray<RelayBound> = ["merchant", "payer", "total"]

/** The settings of an open network, with these nodes. */
export const settingsOf = (network: Network, nodes: ReadonlyArray<RpcProxy>): Environment => ({
  [network.nodes.setting]: nodes.map(({ url }) => url).join(","),
  [network.wallets.setting]: mnemonicOf[network.env],
  ...(network.execution === "open" ? {} : { [network.execution]: "open" }),
  // Gas on anvil is as expensive as Testnet's limits allow, and more expensive than on the real chain.
  ...Object.fromEntries(
    relayBounds.map((bound) => [
      network.relayWei[bound].setting,
      String(networks.test.relayWei[bound].default)
    ])
  )
})

/** The minimal settings with which a network opens. */
export const leastNodes = ({ execution }: Network): number => (execution === "open" ? 1 : 2)

/** Nodes that behave alike: a broadcast to all of them at once reaches the behaviour once. */
export const together = (nodes: ReadonlyArray<RpcProxy>): X402World["node"] => ({
  get calls() {
    return nodes.flatMap(({ calls }) => calls)
  },
  behave: (behaviour) => {
    const offers = new Map<string, { asked: number; readonly reply: ReturnType<Behaviour> }>()
    const once: Behaviour = async (method, params) => {
      if (method !== "eth_sendRawTransaction") return behaviour(method, params)
      const raw = String(params[0])
      const last = offers.get(raw)
      const offer =
        last === undefined || last.asked === nodes.length
          ? { asked: 0, reply: behaviour(method, params) }
          : last
      offers.set(raw, offer)
      offer.asked++
      const reply = await offer.reply
      return reply !== undefined && "raw" in reply ? { raw: reply.raw.clone() } : reply
    }
    for (const node of nodes) node.behave(once)
  }
})

/** The live network next to Testnet: its chain, and the settings that open it. */
const openLive = Effect.gen(function* () {
  const options = { network: networks.live, blockTimeSeconds: 1 }
  const chain = Context.get(yield* Layer.build(LocalChain.layer(options)), LocalChain)
  const nodes = [yield* rpcProxy(chain.rpcUrl), yield* rpcProxy(chain.rpcUrl)]
  return { chain, nodes, settings: settingsOf(networks.live, nodes) }
})

/** A network of real money has no setting for its confirmations: its tests use Testnet's. */
const configOf = (network: Network, environment: Environment) =>
  Layer.effect(
    AppConfig,
    Effect.map(AppConfig, (config) => ({
      ...config,
      confirmations: { ...config.confirmations, [network.env]: config.confirmations.test }
    }))
  ).pipe(Layer.provide(AppConfig.layer(environment)))

const make = Effect.fnUntraced(function* (
  environment: Environment,
  nodeCount: number | undefined,
  live?: Effect.Success<typeof openLive>,
  chainOptions: LocalChainOptions = {}
) {
  const network = live === undefined ? moneyNetwork : networks.test
  const chain = Context.get(
    yield* Layer.build(LocalChain.layer({ blockTimeSeconds: 0, network, ...chainOptions })),
    LocalChain
  )
  const nodes = yield* Effect.forEach(Array.from({ length: nodeCount ?? leastNodes(network) }), () =>
    rpcProxy(chain.rpcUrl)
  )
  const alike = nodeCount === undefined ? nodes : nodes.slice(0, 1)
  const dataDir = yield* temporaryDirectory
  const port = yield* freePort(0)
  const baseUrl = `http://127.0.0.1:${port}`
  const delivered: Array<X402World["delivered"][number]> = []
  const shop = yield* listening(async (request) => {
    delivered.push((await request.json()) as X402World["delivered"][number])
    return new Response(null, { status: 204 })
  })
  const instance = (listening: number) =>
    Layer.build(
      Layer.fresh(App.layer).pipe(
        Layer.provideMerge(
          configOf(network, {
            PORT: String(listening),
            HOST: "127.0.0.1",
            BASE_URL: baseUrl,
            DATA_DIR: dataDir,
            // Nothing listens at this address.
            ...Object.fromEntries(
              Object.values(networks).map(({ nodes: { setting } }) => [setting, "http://127.0.0.1:9"])
            ),
            TESTNET_CONFIRMATIONS: "0",
            ...settingsOf(network, nodes),
            X402_FACTORIES: create2Factory,
            ...(network.faucet
              ? {
                  FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey),
                  FAUCET_GAS_WEI: "2000000000000000"
                }
              : {}),
            RATE_LIMIT_PER_KEY: "100000",
            WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${shop.port}`,
            ...live?.settings,
            ...environment
          })
        )
      )
    )
  const context = yield* instance(port)
  const scope = yield* Effect.scope
  const another: X402World["another"] = async () => {
    const listening = await Effect.runPromise(freePort(0))
    await Effect.runPromise(Scope.provide(instance(listening), scope))
    return `http://127.0.0.1:${listening}`
  }
  const { merchant, keys } = yield* Context.get(context, KeyAuth).createMerchant({
    name: "Weather Inc.",
    receivers: { test: receiver, live: receiver }
  })
  const agents = Context.get(context, Agents)

  const call: X402World["call"] = async (method, path, key, body, headers = {}) => {
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : JSON.parse(text)
    }
  }
  yield* installMulticall(chain)
  yield* Effect.promise(() =>
    call("POST", "/webhook-endpoint", keys[network.env].secret, { url: `http://127.0.0.1:${shop.port}/` })
  )
  const chainOf: X402World["chainOf"] = (env) => {
    const found = env === network.env ? chain : live?.chain
    if (found === undefined) throw new Error("this world has one chain")
    return found
  }
  // The relayer wallets pay gas.
  for (const env of live === undefined ? [network.env] : [network.env, networks.live.env]) {
    const supported = yield* Effect.promise(() => call("GET", "/x402/supported", keys[env].secret))
    yield* chainOf(env).setEth(Address.make(supported.body.signers["eip155:*"]?.[0] ?? ""), 10n ** 20n)
  }

  const payer: X402World["payer"] = async (usdc = 1_000_000_000n, env = network.env) => {
    const account = privateKeyToAccount(generatePrivateKey())
    if (usdc > 0n) await Effect.runPromise(chainOf(env).mint(Address.make(account.address), usdc))
    return account
  }

  const authorize: X402World["authorize"] = async (account, value, options = {}) => {
    const now = BigInt(Math.floor(Date.now() / 1000))
    const authorization = {
      from: Address.make(account.address),
      to: options.to ?? receiver,
      value: options.value ?? value,
      validAfter: options.validAfter ?? now - 600n,
      validBefore: options.validBefore ?? now + 60n,
      nonce: options.nonce ?? toHex(crypto.getRandomValues(new Uint8Array(32)))
    }
    const typed = typedDataOf(networks[options.env ?? network.env], authorization)
    const signature = await account.signTypedData({
      ...typed,
      domain: { ...typed.domain, ...options.domain }
    })
    const { validAfter, validBefore } = authorization
    return {
      signature,
      authorization: {
        ...authorization,
        value: authorization.value.toString(),
        validAfter: validAfter.toString(),
        validBefore: validBefore.toString()
      }
    }
  }

  const newAgent: X402World["newAgent"] = async (options = {}) => {
    const { env = network.env } = options
    const made = await Effect.runPromise(
      agents.provision({
        merchantId: MerchantId.make(merchant.id),
        env,
        name: "Researcher",
        capPerPayment: AtomicUsdc.make(options.perPayment ?? 5_000_000n),
        capPerDay: AtomicUsdc.make(options.perDay ?? 20_000_000n),
        allowedHosts: options.allowedHosts ?? null,
        allowedPayees: options.allowedPayees ?? null
      })
    )
    const usdc = options.usdc ?? 100_000_000n
    if (usdc > 0n) await Effect.runPromise(chainOf(env).mint(made.agent.address, usdc))
    return made
  }

  return {
    baseUrl,
    env: network.env,
    chain,
    chainOf,
    node: together(alike),
    nodeCount: alike.length,
    keys,
    merchantId: MerchantId.make(merchant.id),
    context,
    another,
    delivered,
    call,
    payer,
    balanceOf: (address: string, env: Env = network.env) =>
      chainOf(env).publicClient.readContract({
        address: networks[env].usdc.address,
        abi: usdcAbi,
        functionName: "balanceOf",
        args: [Address.make(address)]
      }),
    authorize,
    newAgent
  }
})

/** A world of a test's own; `close` ends all of it. */
export const startX402World = async (environment: Environment = {}) => {
  const scope = Scope.makeUnsafe()
  const world: X402World = await Effect.runPromise(Scope.provide(make(environment, undefined), scope))
  return { ...world, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/**
 * The file's world. `environment` extends the service's. With `nodes`, `node` is one of them; otherwise it is whatever
 * the network needs. It is honest again after each test.
 */
export const x402World = async (
  environment: Environment = {},
  nodes?: number,
  chainOptions?: LocalChainOptions
): Promise<X402World> => {
  const world = await forFile(make(environment, nodes, undefined, chainOptions))
  afterEach(() => world.node.behave(() => undefined))
  return world
}

/** The file's world with both networks open. `liveNodes` are those of the live one. */
export const bothNetworksWorld = async (
  environment: Environment = {}
): Promise<X402World & { readonly liveNodes: ReadonlyArray<RpcProxy> }> =>
  forFile(
    Effect.gen(function* () {
      const live = yield* openLive
      return { ...(yield* make(environment, undefined, live)), liveNodes: live.nodes }
    })
  )
