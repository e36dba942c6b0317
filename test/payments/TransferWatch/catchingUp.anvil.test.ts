// The reader of the chain with a provider that answers ten blocks at a time, 20 ms away: it catches up at 100 blocks a
// second or more.
import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect, Layer, ManagedRuntime, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import { ChainHeights } from "../../../src/chain/ChainHeights.ts"
import { ChainVerifier } from "../../../src/chain/ChainVerifier.ts"
import { TransferRepo } from "../../../src/payments/TransferRepo.ts"
import * as TransferWatch from "../../../src/payments/TransferWatch.ts"
import { localChain, verifierOver } from "../../support/anvilSuite.ts"
import { testDatabase } from "../../support/database.ts"
import { newMerchant, sqlStack } from "../../support/paymentStack.ts"
import { receiver } from "../../support/rawReceipts.ts"
import { rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

setDefaultTimeout(120_000)

const blocks = 3_000
const Range = Schema.Struct({ fromBlock: Schema.String, toBlock: Schema.String })
const isRange = Schema.is(Range)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())
beforeAll(() =>
  runtime.runPromise(
    Effect.flatMap(LocalChain, ({ mine }) => Effect.repeat(mine(500), { times: blocks / 500 - 1 }))
  )
)

for (const [message, code] of [
  ["Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.", -32_600],
  ["upgrade your plan", -32_099]
] as const)
  liveEffect(`of ${blocks} blocks, refused with "${message}"`, () =>
    Effect.gen(function* () {
      const chain = Context.get(yield* Effect.promise(() => runtime.context()), LocalChain)
      const node = yield* rpcProxy(chain.rpcUrl)
      node.behave(async (method, [first]) => {
        await Bun.sleep(20)
        return method === "eth_getLogs" &&
          isRange(first) &&
          BigInt(first.toBlock) - BigInt(first.fromBlock) > 9n
          ? { error: { code, message } }
          : undefined
      })
      const stack = yield* Layer.build(
        sqlStack.pipe(
          Layer.provideMerge(verifierOver([node.url])),
          Layer.provideMerge(testDatabase.layer),
          Layer.provideMerge(SecureRandom.layerWebCrypto)
        )
      )
      yield* newMerchant(receiver).pipe(Effect.provideContext(stack))
      const began = performance.now()
      yield* Layer.build(
        TransferWatch.layer.pipe(
          Layer.provide(Layer.fresh(ChainHeights.layer)),
          Layer.provide(Layer.succeedContext(stack))
        )
      )
      const { cursor } = Context.get(stack, TransferRepo)
      const { headBlock } = Context.get(stack, ChainVerifier)
      const { number } = yield* headBlock("test")
      yield* Effect.suspend(() => cursor("test")).pipe(
        Effect.map((at) => Option.isSome(at) && at.value.blockNumber >= number - 1n),
        Effect.delay("50 millis"),
        Effect.repeat({ until: (isThere) => isThere })
      )
      const perSecond = Math.round((blocks * 1_000) / (performance.now() - began))
      console.log(`${perSecond} blocks a second`)
      expect(perSecond).toBeGreaterThan(100)
    })
  )
