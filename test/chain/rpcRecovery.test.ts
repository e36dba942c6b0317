// Alerts about a node close once it answers correctly.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type ChainAlertKind, ChainAlerts, ChainRecoveries } from "../../src/chain/ChainAlerts.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import { Quantity } from "../../src/chain/RpcSchemas.ts"
import { type Behaviour, rpcProxy } from "../support/rpcProxy.ts"
import { testEffect } from "../support/run.ts"

const healthy =
  (height: string): Behaviour =>
  (method) => ({ result: method === "eth_chainId" ? "0x14a34" : height })
const absent: Behaviour = () => ({ raw: new Response("", { status: 500 }) })
const garbled: Behaviour = () => ({ raw: new Response('{"jsonrpc":') })

const poolOver = Effect.fnUntraced(function* (behaviours: ReadonlyArray<Behaviour>) {
  const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(undefined, behaviour))
  const told: Array<string> = []
  const note = (what: string) => (about: { readonly kind: ChainAlertKind; readonly host: string }) =>
    Effect.sync(
      () => void told.push(`${what} ${about.kind} ${nodes.findIndex((one) => one.host === about.host)}`)
    )
  const context = yield* Layer.build(
    RpcPool.layer({ urls: { test: nodes.map((one) => one.url) }, retries: 0 }).pipe(
      Layer.provide(
        Layer.merge(
          Layer.succeed(ChainAlerts, note("alert")),
          Layer.succeed(ChainRecoveries, note("recovery"))
        )
      )
    )
  )
  const ask = Context.get(context, RpcPool)
    .poll("test", {
      ask: (node) => node.call("eth_blockNumber", [], Quantity),
      key: String,
      contradicts: () => true
    })
    // Gives every node time to answer, not only the deciding ones.
    .pipe(Effect.andThen(Effect.promise(() => Bun.sleep(100))))
  const saidNow = () => told.splice(0).sort()
  return { nodes, ask, saidNow }
})

const limited: Behaviour = (method) =>
  method === "eth_chainId"
    ? { result: "0x14a34" }
    : { error: { code: -32_007, message: "50/second request limit reached" } }

describe("Alerts about a node", () => {
  testEffect("for refused calls: raised after three calls in a row, closed once the method is answered", () =>
    Effect.gen(function* () {
      const { nodes, ask, saidNow } = yield* poolOver([limited])
      yield* ask
      yield* ask
      expect(saidNow()).not.toContain("alert refusing 0")
      yield* ask
      expect(saidNow()).toEqual(["alert refusing 0"])
      nodes[0]?.behave(healthy("0x10"))
      yield* TestClock.adjust("11 seconds")
      yield* ask
      expect(saidNow()).toContain("recovery refusing 0")
    })
  )
  for (const [kind, trouble] of [
    ["unreachable", absent],
    ["malformed_answer", garbled]
  ] as const) {
    testEffect(`for ${kind}: raised, open while the node is unsteady, closed after ten quiet seconds`, () =>
      Effect.gen(function* () {
        const { nodes, ask, saidNow } = yield* poolOver([trouble])
        const [node] = nodes
        yield* ask
        expect(saidNow()).toEqual([`alert ${kind} 0`])
        node?.behave(healthy("0x10"))
        yield* ask
        expect(saidNow()).not.toContain(`recovery ${kind} 0`)
        yield* TestClock.adjust("9 seconds")
        node?.behave(trouble)
        yield* ask
        node?.behave(healthy("0x10"))
        yield* TestClock.adjust("9 seconds")
        yield* ask
        expect(saidNow()).toEqual([])
        yield* TestClock.adjust("2 seconds")
        yield* ask
        yield* ask
        expect(saidNow()).toEqual([`recovery ${kind} 0`])
        node?.behave(trouble)
        yield* ask
        expect(saidNow()).toEqual([`alert ${kind} 0`])
      })
    )
  }

  testEffect("that cannot be stored do not delay an answer", () =>
    Effect.gen(function* () {
      const node = yield* rpcProxy(undefined, absent)
      const context = yield* Layer.build(
        RpcPool.layer({ urls: { test: [node.url] }, retries: 0 }).pipe(
          Layer.provide(
            Layer.merge(
              Layer.succeed(ChainAlerts, () => Effect.die("the database is away")),
              Layer.succeed(ChainRecoveries, () => Effect.void)
            )
          )
        )
      )
      const poll = yield* Context.get(context, RpcPool).poll("test", {
        ask: (one) => one.call("eth_blockNumber", [], Quantity),
        key: String,
        contradicts: () => true
      })
      expect(poll.agreed).toBeUndefined()
    })
  )

  testEffect("for disagreement: closed once the node agrees with the majority", () =>
    Effect.gen(function* () {
      const { nodes, ask, saidNow } = yield* poolOver([healthy("0x10"), healthy("0x10"), healthy("0x11")])
      yield* ask
      expect(saidNow()).toContain("alert disagreement 2")
      yield* TestClock.adjust("11 seconds")
      yield* ask
      expect(saidNow()).not.toContain("recovery disagreement 2")
      nodes[2]?.behave(healthy("0x10"))
      yield* TestClock.adjust("11 seconds")
      yield* ask
      expect(saidNow()).toEqual(["recovery disagreement 2"])
    })
  )

  testEffect("that another process raised are closed by a node's first answer", () =>
    Effect.gen(function* () {
      const { ask, saidNow } = yield* poolOver([healthy("0x10")])
      yield* ask
      yield* ask
      expect(saidNow()).toEqual([
        "recovery disagreement 0",
        "recovery malformed_answer 0",
        "recovery refusing 0",
        "recovery unreachable 0"
      ])
    })
  )
})
