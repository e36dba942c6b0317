// A wallet whose nodes are silent for long, forget, or refuse: its signed transactions go out at the present price once
// the nodes are back, and none is lost.
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, ManagedRuntime } from "effect"
import { parseTransaction } from "viem"
import { localChain } from "../../support/anvilSuite.ts"
import { testDatabase } from "../../support/database.ts"
import { faucetWorld } from "../../support/faucetStack.ts"
import { liveEffect } from "../../support/run.ts"
import { someone } from "../faucet/Faucet.contract.ts"

setDefaultTimeout(60_000)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())

const one = 10_000_000n
const gas = 200_000_000_000_000n
const quick = {
  checkEvery: "50 millis",
  sendAgainAfter: "100 millis",
  stuckAfter: "100 millis",
  lostAfter: "200 millis",
  minedTimeout: "100 millis"
} as const

describe("a stuck wallet on Postgres", () => {
  const database = testDatabase
  const world = Effect.gen(function* () {
    // A chain of its own, which seals blocks only on request.
    const made = yield* Effect.provideContext(
      faucetWorld(database),
      yield* Layer.build(Layer.fresh(localChain))
    )
    yield* made.chain.rpc("evm_setAutomine", [false])
    return made
  })
  type World = Effect.Success<typeof world>
  const request = (made: World, recipient: ReturnType<typeof someone>) =>
    Effect.map(made.merchant, (merchantId) => ({ merchantId, recipient, clientAddress: "198.51.100.1" }))
  const isPaid = Effect.fnUntraced(function* (made: World, recipient: ReturnType<typeof someone>) {
    for (let block = 0; block < 300; block++) {
      yield* made.chain.mine(1)
      yield* Effect.sleep("100 millis")
      if ((yield* made.repo.open(made.wallet)).length === 0) break
    }
    expect(yield* made.balance(recipient)).toEqual({ usdcAtomic: one, gasWei: gas })
  })

  liveEffect(
    "a transaction that waits long, is forgotten, and has little balance left goes out at a lower price",
    () =>
      Effect.gen(function* () {
        const made = yield* world
        const { faucet, node } = yield* made.instance(quick)
        yield* made.chain.rpc("anvil_setNextBlockBaseFeePerGas", ["0x174876e800"])
        yield* made.chain.mine(1)
        const recipient = someone()
        const granted = yield* Effect.result(faucet.grant(yield* request(made, recipient)))
        expect(granted._tag).toBe("Failure")
        yield* Effect.sleep("3 seconds")
        const waiting = yield* made.repo.open(made.wallet)
        // Time without blocks has raised no fee.
        expect(waiting.map(({ versions }) => versions.length)).toEqual([1, 1])
        const offered = parseTransaction(waiting[0]?.versions[0] ?? "0x").maxFeePerGas ?? 0n
        node.behave((method) =>
          method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
        )
        yield* made.chain.rpc("anvil_dropAllTransactions", [])
        yield* made.chain.rpc("anvil_setNextBlockBaseFeePerGas", ["0x3b9aca00"])
        yield* made.chain.mine(1)
        // Less than the first offer, more than the present price.
        yield* Effect.orDie(made.chain.setEth(made.wallet, gas + (offered * 100_000n) / 4n))
        node.behave(() => undefined)
        yield* isPaid(made, recipient)
      })
  )

  liveEffect("if a refused and filled transaction is mined all the same, the original counts", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { faucet, node } = yield* made.instance({ ...quick, checkEvery: "200 millis" })
      let refusing = true
      node.behave((method) =>
        refusing && method === "eth_sendRawTransaction"
          ? { error: { code: -32000, message: "insufficient funds" } }
          : undefined
      )
      const recipient = someone()
      const granted = yield* Effect.result(faucet.grant(yield* request(made, recipient)))
      expect(granted._tag).toBe("Failure")
      const open = yield* made.repo.open(made.wallet)
      expect(open.map(({ versions }) => versions.length)).toEqual([2, 2])
      // Another machine behind the node's address had accepted them.
      for (const { versions } of open) {
        yield* made.chain.rpc("eth_sendRawTransaction", [versions[1]])
      }
      yield* made.chain.mine(1)
      refusing = false
      yield* isPaid(made, recipient)
      const ended = yield* Effect.forEach(open, ({ nonce }) => made.repo.find(made.wallet, nonce))
      expect(ended.map((one) => one?.outcome)).toEqual(["moved", "moved"])
    })
  )

  liveEffect("replaced blocks are noticed at the next start, however long the service was down", () =>
    Effect.gen(function* () {
      const made = yield* world
      const recipient = someone()
      yield* made.chain.rpc("evm_setAutomine", [true])
      const before = yield* made.chain.rpc("evm_snapshot", [])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { faucet } = yield* made.instance({ ...quick, minedTimeout: "30 seconds" })
          yield* faucet.grant(yield* request(made, recipient))
        })
      )
      expect(yield* made.repo.open(made.wallet)).toEqual([])
      yield* made.chain.rpc("evm_revert", [before])
      yield* made.chain.rpc("evm_setAutomine", [false])
      expect((yield* made.balance(recipient)).usdcAtomic).toBe(0n)
      yield* made.clock.pass(20 * 3_600)
      yield* made.instance(quick)
      yield* made.repo
        .open(made.wallet)
        .pipe(Effect.delay("50 millis"), Effect.repeat({ until: (open) => open.length > 0, times: 600 }))
      yield* isPaid(made, recipient)
    })
  )
})
