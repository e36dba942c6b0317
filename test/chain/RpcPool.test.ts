// What several nodes say together: one that stands still, runs ahead or is silent decides nothing.
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

/** A node at a height, after so many milliseconds. */
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

describe("the newest block of a majority", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Behaviour>, bigint | "unavailable"]> = [
    ["one node", [at(10)], 10n],
    ["the lower of two", [at(10), at(12)], 10n],
    ["the first of three stands still", [at(10), at(100), at(100)], 100n],
    ["the first of three tells a height of nobody", [at(900), at(100), at(101)], 101n],
    ["one of three is down", [down, at(100), at(101)], 100n],
    ["one of three is silent", [at(500, 3_000), at(100), at(101)], 100n],
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
        expect(performance.now() - started).toBeLessThan(2_500)
      })
    )

  liveEffect("a node that lies 30 blocks behind or ahead is told of, a lagging one is not", () =>
    Effect.gen(function* () {
      const { alerts, nodes, pool } = yield* poolOf(at(10), at(100), at(99))
      yield* pool.head("test")
      expect(alerts).toMatchObject([{ kind: "disagreement", env: "test", host: nodes[0]?.host }])
      expect(alerts[0]?.message).toContain("stands 89 blocks behind the other nodes")
    })
  )
})

liveEffect("an answer that is enough is not held up by nodes that are silent", () =>
  Effect.gen(function* () {
    const { pool } = yield* poolOf(at(7), at(1, 3_000), at(1, 3_000))
    const started = performance.now()
    const answers = yield* pool.gather(
      "test",
      (node) => node.call("eth_blockNumber", [], Quantity),
      (answer) => answer === 7n
    )
    expect(answers).toEqual([7n])
    expect(performance.now() - started).toBeLessThan(2_500)
  })
)

describe("a call", () => {
  const word = (value: number) => toHex(value, { size: 32 })
  /** A node whose balance is that of the asked block, or of its own newest one. */
  const balanceAt =
    (height: number, lies = 0): Behaviour =>
    async (method, params) => {
      if (method !== "eth_call") return at(height)(method, params)
      const [, block] = params
      return { result: word((block === "latest" ? height : Number(block)) + lies) }
    }

  liveEffect("between two blocks is asked again at the block that a majority has", () =>
    Effect.gen(function* () {
      const { alerts, pool } = yield* poolOf(balanceAt(11), balanceAt(10))
      expect(yield* pool.agreedCall("test", { data: "0x" })).toBe(word(10))
      expect(alerts).toEqual([])
    })
  )

  liveEffect("about which nodes contradict each other at one block is no answer, and an alert", () =>
    Effect.gen(function* () {
      const { alerts, pool } = yield* poolOf(balanceAt(10), balanceAt(10, 1))
      const { reason } = yield* Effect.flip(pool.agreedCall("test", { data: "0x" }))
      expect(reason).toBe("disagreement")
      expect(new Set(alerts.map(({ kind }) => kind))).toEqual(new Set(["disagreement"]))
    })
  )
})
