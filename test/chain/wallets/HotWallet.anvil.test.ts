// The next nonce of a wallet after nodes have lagged, with one node that lies about it.
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, ManagedRuntime } from "effect"
import { generatePrivateKey } from "viem/accounts"
import { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import { ChainAlerts } from "../../../src/chain/ChainAlerts.ts"
import { RpcPool } from "../../../src/chain/RpcPool.ts"
import { makeHotWallet } from "../../../src/chain/wallets/HotWallet.ts"
import { networks } from "../../../src/domain/networks.ts"
import { localChain } from "../../support/anvilSuite.ts"
import { type Behaviour, rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

setDefaultTimeout(60_000)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())

const tells =
  (nonce: number): Behaviour =>
  (method) =>
    method === "eth_getTransactionCount" ? { result: `0x${nonce.toString(16)}` } : undefined

/** The wallet's next nonce over nodes that report these. */
const freshOver = Effect.fnUntraced(function* (nonces: ReadonlyArray<number>) {
  const { rpcUrl } = yield* Effect.provideContext(LocalChain, yield* Effect.promise(() => runtime.context()))
  const nodes = yield* Effect.forEach(nonces, (nonce) =>
    Effect.tap(rpcProxy(rpcUrl), (node) => Effect.sync(() => node.behave(tells(nonce))))
  )
  const pool = yield* Layer.build(
    RpcPool.layer({
      urls: { test: nodes.map(({ url }) => url) },
      timeout: 2_000,
      deadline: 3_000,
      retries: 0
    }).pipe(Layer.provide(Layer.succeed(ChainAlerts, () => Effect.void)))
  )
  const key = generatePrivateKey()
  return yield* makeHotWallet(networks.test, () => key, yield* Effect.provideContext(RpcPool, pool))
    .highestNextNonce
})

describe("the next nonce after nodes have lagged", () => {
  for (const [nonces, fresh] of [
    [[7], 7],
    [[7, 3], 7],
    [[7, 3, 7], 7],
    [[3, 1_000, 7], 7],
    [[3, 3, 1_000], 3]
  ] as const)
    liveEffect(`nodes that report ${nonces.join(", ")}: ${fresh}`, () =>
      Effect.gen(function* () {
        expect(yield* freshOver(nonces)).toBe(fresh)
      })
    )
})
