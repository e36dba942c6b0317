// A transaction of the wallet that the database does not know, as after a restore, leaves the pool: its nonce is
// filled.
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, ManagedRuntime } from "effect"
import { localChain } from "../../support/anvilSuite.ts"
import { testDatabase } from "../../support/database.ts"
import { faucetWorld } from "../../support/faucetStack.ts"
import { liveEffect } from "../../support/run.ts"
import { someone } from "../faucet/Faucet.contract.ts"

setDefaultTimeout(60_000)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())

const quick = {
  checkEvery: "50 millis",
  sendAgainAfter: "100 millis",
  stuckAfter: "200 millis",
  lostAfter: "200 millis",
  minedTimeout: "100 millis"
} as const

describe("a wallet with a nonce that no transaction uses", () => {
  liveEffect(
    "after an unknown transaction leaves the pool, the ones signed behind it are mined all the same",
    () =>
      Effect.gen(function* () {
        const made = yield* Effect.provideContext(
          faucetWorld(testDatabase),
          yield* Layer.build(Layer.fresh(localChain))
        )
        yield* made.chain.rpc("evm_setAutomine", [false])
        const { faucet } = yield* made.instance(quick)
        // A transaction that the service signed after the backup that was restored.
        yield* made.chain.rpc("anvil_impersonateAccount", [made.wallet])
        const unknown = yield* made.chain.rpc("eth_sendTransaction", [
          {
            from: made.wallet,
            to: someone(),
            value: "0x1",
            gas: "0x5208",
            maxFeePerGas: "0x3b9aca00",
            maxPriorityFeePerGas: "0x1"
          }
        ])
        const recipient = someone()
        const request = { merchantId: yield* made.merchant, recipient, clientAddress: "198.51.100.1" }
        expect((yield* Effect.result(faucet.grant(request)))._tag).toBe("Failure")
        const open = yield* made.repo.open(made.wallet)
        expect(open.map(({ nonce }) => nonce)).toEqual([1, 2])
        // Evicted: too cheap, or the node was restarted.
        yield* made.chain.rpc("anvil_dropTransaction", [unknown])
        for (let block = 0; block < 300; block++) {
          yield* made.chain.mine(1)
          yield* Effect.sleep("100 millis")
          if ((yield* made.repo.open(made.wallet)).length === 0) break
        }
        expect(yield* made.repo.open(made.wallet)).toEqual([])
        expect((yield* made.balance(recipient)).usdcAtomic).toBe(10_000_000n)
      })
  )

  liveEffect("a nonce far ahead that a node has invented delays no later payment", () =>
    Effect.gen(function* () {
      const made = yield* Effect.provideContext(
        faucetWorld(testDatabase),
        yield* Layer.build(Layer.fresh(localChain))
      )
      const { faucet, node } = yield* made.instance({ ...quick, minedTimeout: "6 seconds" })
      const grantTo = (recipient: ReturnType<typeof someone>) =>
        Effect.flatMap(made.merchant, (merchantId) =>
          Effect.result(faucet.grant({ merchantId, recipient, clientAddress: "198.51.100.1" }))
        )
      node.behave((method, [, block]) =>
        method === "eth_getTransactionCount" && block === "pending" ? { result: "0x3e8" } : undefined
      )
      expect((yield* grantTo(someone()))._tag).toBe("Failure")
      expect((yield* made.repo.open(made.wallet)).map(({ nonce }) => nonce)).toEqual([1_000, 1_001])
      node.behave(() => undefined)
      const recipient = someone()
      expect((yield* grantTo(recipient))._tag).toBe("Success")
      expect((yield* made.balance(recipient)).usdcAtomic).toBe(10_000_000n)
      // No gas is spent on the thousand nonces in between.
      expect(yield* made.repo.find(made.wallet, 2)).toBeUndefined()
    })
  )
})
