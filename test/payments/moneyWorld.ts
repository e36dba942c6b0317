// The service as it runs, on a real socket, a real database, anvil and the real USDC, with one merchant, its webhook
// server and buyers with wallets of their own.

import { SQL } from "bun"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { encodeFunctionData, type Hex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import * as App from "../../src/app/App.ts"
import { freePort } from "../../src/app/dev/freePort.ts"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { Address } from "../../src/domain/Chain.ts"
import { type Network, networks } from "../../src/domain/networks.ts"
import { type FirstKeys, KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import type { AnswerBody } from "../support/AnswerBody.ts"
import { forFile } from "../support/forFile.ts"
import { listening } from "../support/listening.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { temporaryDirectory } from "../support/process.ts"
import { type RpcProxy, rpcProxy } from "../support/rpcProxy.ts"

/** An answer of the service. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: AnswerBody
}

export interface Delivery {
  readonly id: string
  readonly type: string
  readonly transactionId: string
}

export interface Merchant {
  readonly id: string
  readonly keys: FirstKeys
  readonly receiver: Address
}

export interface MoneyWorld {
  readonly baseUrl: string
  readonly chain: LocalChain["Service"]
  /** Proxies in front of the service's node, and of its second one if the network needs two. */
  readonly node: RpcProxy
  readonly secondNode: RpcProxy | undefined
  readonly merchant: Merchant
  readonly delivered: Array<Delivery>
  readonly newMerchant: () => Promise<Merchant>
  readonly call: (
    method: string,
    path: string,
    key: string | undefined,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Answer>
  /** Rows of the service's own database. */
  readonly sql: SQL
  readonly open: (amount: string, merchant?: Merchant) => Promise<Answer["body"]["payment"]>
  readonly payment: (id: string, merchant?: Merchant) => Promise<Answer["body"]["payment"]>
  /** An account with this much atomic USDC, and gas. */
  readonly buyer: (usdc?: bigint) => Promise<PrivateKeyAccount>
  readonly token: (
    account: PrivateKeyAccount,
    paymentId?: string,
    options?: { readonly audience?: string; readonly lifetimeSeconds?: number }
  ) => Promise<string>
  readonly announce: (
    account: PrivateKeyAccount,
    paymentId: string,
    body?: Readonly<Record<string, unknown>>,
    merchant?: Merchant
  ) => Promise<Answer>
  readonly attempts: (
    paymentId: string,
    payer?: string,
    own?: { readonly attemptId: string; readonly nonce: number }
  ) => Promise<Answer>
  /** Sends USDC and mines it, with a block on top. */
  readonly transfer: (account: PrivateKeyAccount, atomic: bigint, to?: Address) => Promise<Hex>
  readonly report: (
    account: PrivateKeyAccount,
    paymentId: string,
    transactionId: string,
    atomic: bigint,
    merchant?: Merchant,
    buyerDidToken?: string
  ) => Promise<Answer>
  readonly balanceOf: (address: string) => Promise<bigint>
  readonly mine: (blocks?: number) => Promise<void>
  /**
   * Repeats until the condition holds, at most this long, by default longer than an idle reader takes on a busy
   * machine; returns the last value.
   */
  readonly until: <A>(
    ask: () => Promise<A>,
    holds: (value: A) => boolean,
    millis?: number,
    every?: number
  ) => Promise<A>
  readonly settled: (id: string, millis?: number) => Promise<Answer["body"]["payment"]>
  /** Ends the service and restarts it on the same database. */
  readonly restart: (environment?: Readonly<Record<string, string>>) => Promise<void>
  readonly stop: () => Promise<void>
  readonly start: (environment?: Readonly<Record<string, string>>) => Promise<void>
}

export const transferCall = (to: Hex, atomic: bigint): Hex =>
  encodeFunctionData({ abi: usdcAbi, functionName: "transfer", args: [to, atomic] })

const make = (environment: Readonly<Record<string, string>>, network: Network) =>
  Effect.gen(function* () {
    const { chainId, env, pollMillis, usdc } = network
    const chain = Context.get(
      yield* Layer.build(LocalChain.layer({ blockTimeSeconds: 0, network })),
      LocalChain
    )
    const node = yield* rpcProxy(chain.rpcUrl)
    const secondNode = network.execution === "open" ? undefined : yield* rpcProxy(chain.rpcUrl)
    /** Nothing listens at this address: a world has one network. */
    const silent = Object.fromEntries(
      Object.values(networks).map(({ nodes }) => [nodes.setting, "http://127.0.0.1:9"])
    )
    const dataDir = yield* temporaryDirectory
    const databaseUrl = yield* ownDatabase()
    const sql = yield* Effect.acquireRelease(
      Effect.sync(() => new SQL(databaseUrl, { max: 2 })),
      (opened) => Effect.promise(() => opened.close())
    )
    const port = yield* freePort(0)
    const baseUrl = `http://127.0.0.1:${port}`
    const delivered: Array<Delivery> = []
    const shop = yield* listening(async (request) => {
      delivered.push((await request.json()) as Delivery)
      return new Response(null, { status: 204 })
    })
    const configWith = (more: Readonly<Record<string, string>>) =>
      AppConfig.layer({
        PORT: String(port),
        HOST: "127.0.0.1",
        BASE_URL: baseUrl,
        DATA_DIR: dataDir,
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
        ...silent,
        [network.nodes.setting]: [node.url, ...(secondNode === undefined ? [] : [secondNode.url])].join(","),
        ...(network.execution === "open" ? {} : { [network.execution]: "open" }),
        ...(network.faucet ? { FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey) } : {}),
        RATE_LIMIT_PER_KEY: "100000",
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${shop.port}`,
        ...environment,
        ...more
      })
    const scope = yield* Effect.scope
    let running: { readonly scope: Scope.Closeable; readonly keys: KeyAuth["Service"] } | undefined
    const start: MoneyWorld["start"] = async (more = {}) => {
      const own = Scope.forkUnsafe(scope)
      const context = await Effect.runPromise(
        Layer.buildWithScope(Layer.fresh(App.layer.pipe(Layer.provideMerge(configWith(more)))), own)
      )
      running = { scope: own, keys: Context.get(context, KeyAuth) }
    }
    const stop = async () => {
      const one = running
      running = undefined
      if (one !== undefined) await Effect.runPromise(Scope.close(one.scope, Exit.void))
    }
    yield* Effect.promise(() => start())

    const call: MoneyWorld["call"] = async (method, path, key, body, headers = {}) => {
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
    const newMerchant = async (): Promise<Merchant> => {
      const receiver = Address.make(privateKeyToAccount(generatePrivateKey()).address)
      if (running === undefined) throw new Error("the service does not run")
      const { merchant, keys } = await Effect.runPromise(
        running.keys.createMerchant({ name: "Shop", receivers: { test: receiver, live: receiver } })
      )
      await call("POST", "/webhook-endpoint", keys[env].secret, { url: `http://127.0.0.1:${shop.port}/` })
      return { id: merchant.id, keys, receiver }
    }
    const merchant = yield* Effect.promise(newMerchant)

    const mine = (blocks = 1) => Effect.runPromise(chain.mine(blocks))
    const until: MoneyWorld["until"] = async (ask, holds, millis = 40_000 + pollMillis.idle, every = 100) => {
      const end = Date.now() + millis
      let value = await ask()
      while (!holds(value) && Date.now() < end) {
        await Bun.sleep(every)
        value = await ask()
      }
      return value
    }
    const payment: MoneyWorld["payment"] = async (id, by = merchant) =>
      (await call("GET", `/payments/${id}`, by.keys[env].secret)).body.payment
    const token: MoneyWorld["token"] = (account, paymentId, options = {}) =>
      createDidToken(account, {
        audience: options.audience ?? baseUrl,
        lifetimeSeconds: options.lifetimeSeconds ?? 3600,
        now: Math.floor(Date.now() / 1000),
        ...(paymentId === undefined ? {} : { id: paymentId })
      })

    const world: MoneyWorld = {
      baseUrl,
      chain,
      node,
      secondNode,
      merchant,
      delivered,
      newMerchant,
      call,
      sql,
      open: async (amount, by = merchant) => {
        const intent = await call("POST", "/payment-intents", by.keys[env].secret, {
          amount,
          intentUrl: "https://shop.example.com/orders/1042"
        })
        const opened = await call("POST", "/payments", by.keys[env].publishable, {
          intentToken: intent.body.intentToken
        })
        return opened.body.payment
      },
      payment,
      buyer: async (atomic = 1_000_000_000n) => {
        const account = privateKeyToAccount(generatePrivateKey())
        const address = Address.make(account.address)
        if (atomic > 0n) await Effect.runPromise(chain.mint(address, atomic))
        await Effect.runPromise(chain.setEth(address, 10n ** 18n))
        return account
      },
      token,
      announce: async (account, paymentId, body = {}, by = merchant) =>
        call("POST", `/payments/${paymentId}/attempts`, by.keys[env].publishable, {
          buyerDidToken: await token(account, paymentId),
          method: "transfer",
          ...body
        }),
      attempts: (paymentId, payer, own) => {
        const query = new URLSearchParams({
          ...(payer === undefined ? {} : { payer }),
          ...(own === undefined ? {} : { attemptId: own.attemptId, nonce: String(own.nonce) })
        })
        return call("GET", `/payments/${paymentId}/attempts?${query}`, merchant.keys[env].publishable)
      },
      transfer: async (account, atomic, to = merchant.receiver) => {
        const nonce = await chain.publicClient.getTransactionCount({ address: account.address })
        const raw = await account.signTransaction({
          type: "eip1559",
          chainId,
          nonce,
          to: usdc.address,
          data: transferCall(to, atomic),
          gas: 150_000n,
          maxFeePerGas: 10n ** 10n,
          maxPriorityFeePerGas: 1n
        })
        const hash = await chain.publicClient.request({ method: "eth_sendRawTransaction", params: [raw] })
        await mine(1)
        return hash
      },
      report: async (account, paymentId, transactionId, atomic, by = merchant, buyerDidToken) =>
        call("PATCH", `/payments/${paymentId}`, by.keys[env].publishable, {
          buyerDidToken: buyerDidToken ?? (await token(account, paymentId)),
          transactionId,
          tokenChanges: [
            { amountAtomic: atomic.toString(), chainId, receiver: by.receiver, tokenAddress: usdc.address }
          ]
        }),
      balanceOf: (address) =>
        chain.publicClient.readContract({
          address: usdc.address,
          abi: usdcAbi,
          functionName: "balanceOf",
          args: [Address.make(address)]
        }),
      mine,
      until,
      settled: (id, millis) =>
        until(
          () => payment(id),
          ({ status }) => status === "settled",
          millis
        ),
      restart: async (more) => {
        await stop()
        await start(more)
      },
      stop,
      start
    }
    return world
  })

/** The file's world, with an open network. `environment` extends the service's. */
export const moneyWorld = (
  environment: Readonly<Record<string, string>> = {},
  network: Network = moneyNetwork
): Promise<MoneyWorld> => forFile(make(environment, network))
