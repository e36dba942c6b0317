// The agreement of several nodes: one that has stopped, runs ahead or is silent decides nothing.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { toHex } from "viem"
import { type ChainAlert, ChainAlerts } from "../../src/chain/ChainAlerts.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import { Quantity } from "../../src/chain/RpcSchemas.ts"
import { type Behaviour, rpcProxy } from "../support/rpcProxy.ts"
import { liveEffect } from "../support/run.ts"

const hex = (height: number) => `0x${height.toString(16)}`
const chainId = hex(84_532)

/** A node at this height that answers after this many milliseconds. */
const at =
  (height: number, millis = 0): Behaviour =>
  async (method) => {
    await Bun.sleep(millis)
    if (method === "eth_chainId") return { result: chainId }
    if (method === "eth_getBlockByNumber")
      return { result: { number: hex(height), timestamp: hex(height * 2) } }
    return { result: hex(height) }
  }
const down: Behaviour = () => ({ raw: new Response("", { status: 503 }) })

const poolOf = Effect.fnUntraced(function* (...behaviours: ReadonlyArray<Behaviour>) {
  const alerts: Array<ChainAlert> = []
  const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(undefined, behaviour))
  const context = yield* Layer.build(
    RpcPool.layer({ urls: { test: nodes.map(({ url }) => url) } }).pipe(
      Layer.provide(
        Layer.succeed(ChainAlerts, (alert: ChainAlert) => Effect.sync(() => void alerts.push(alert)))
      )
    )
  )
  return { pool: Context.get(context, RpcPool), alerts, nodes }
})

describe("the newest block that a majority has", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Behaviour>, bigint | "unavailable"]> = [
    ["one node", [at(10)], 10n],
    ["the lower of two", [at(10), at(12)], 10n],
    ["the first of three has stopped", [at(10), at(100), at(100)], 100n],
    ["the first of three invents a height", [at(900), at(100), at(101)], 101n],
    ["one of three is down", [down, at(100), at(101)], 100n],
    ["one of three is silent", [at(500, 20_000), at(100), at(101)], 100n],
    ["one of two is down", [down, at(100)], "unavailable"],
    ["two of three are down", [down, at(100), down], "unavailable"]
  ]
  for (const [name, behaviours, expected] of cases)
    liveEffect(`${name}: ${expected}`, () =>
      Effect.gen(function* () {
        const { pool } = yield* poolOf(...behaviours)
        const started = performance.now()
        const head = yield* pool.head("test").pipe(
          Effect.map(({ number }) => number),
          Effect.orElseSucceed(() => "unavailable" as const)
        )
        expect(head).toBe(expected)
        expect(performance.now() - started).toBeLessThan(15_000)
      })
    )

  liveEffect("a node 30 blocks behind or ahead raises an alert, a lagging one does not", () =>
    Effect.gen(function* () {
      const { alerts, nodes, pool } = yield* poolOf(at(10), at(100), at(99))
      yield* pool.head("test")
      expect(alerts).toMatchObject([{ kind: "disagreement", env: "test", host: nodes[0]?.host }])
      expect(alerts[0]?.message).toContain("is 89 blocks behind the other nodes")
    })
  )
})

liveEffect("a sufficient answer does not wait for silent nodes", () =>
  Effect.gen(function* () {
    const { pool } = yield* poolOf(at(7), at(1, 20_000), at(1, 20_000))
    const started = performance.now()
    const answers = yield* pool.gather(
      "test",
      (node) => node.call("eth_blockNumber", [], Quantity),
      (answer) => answer === 7n
    )
    expect(answers).toEqual([7n])
    expect(performance.now() - started).toBeLessThan(15_000)
  })
)

describe("a call", () => {
  const word = (value: number) => toHex(value, { size: 32 })
  /** A node that returns the balance at the requested block, or at its own newest block. */
  const balanceAt =
    (height: number, lies = 0): Behaviour =>
    async (method, params) => {
      if (method !== "eth_call") return at(height)(method, params)
      const [, block] = params
      return { result: word((block === "latest" ? height : Number(block)) + lies) }
    }

  liveEffect("whose answers come from two blocks is repeated at the block that a majority has", () =>
    Effect.gen(function* () {
      const { alerts, pool } = yield* poolOf(balanceAt(11), balanceAt(10))
      expect(yield* pool.agreedCall("test", { data: "0x" })).toBe(word(10))
      expect(alerts).toEqual([])
    })
  )

  liveEffect("that nodes answer differently at one block has no result, and raises an alert", () =>
    Effect.gen(function* () {
      const { alerts, pool } = yield* poolOf(balanceAt(10), balanceAt(10, 1))
      const { reason } = yield* Effect.flip(pool.agreedCall("test", { data: "0x" }))
      expect(reason).toBe("disagreement")
      expect(new Set(alerts.map(({ kind }) => kind))).toEqual(new Set(["disagreement"]))
    })
  )
})
