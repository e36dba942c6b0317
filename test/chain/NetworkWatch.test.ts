// The start-up check: a wrong network stops a production start, and turns settlement off in development; a silent node
// does neither.
import { describe, expect } from "bun:test"
import { Clock, Effect, Layer } from "effect"
import { type ChainAlert, ChainAlerts, ChainRecoveries } from "../../src/chain/ChainAlerts.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { domainSeparator } from "../../src/chain/domainSeparator.ts"
import * as NetworkWatch from "../../src/chain/NetworkWatch.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import type { Env } from "../../src/domain/Chain.ts"
import { networks } from "../../src/domain/networks.ts"
import type { AppConfig } from "../../src/platform/AppConfig.ts"
import { row } from "../support/attackRows.ts"
import { testConfig } from "../support/memory.ts"
import { expectation, hash, log, paidAt } from "../support/rawReceipts.ts"
import { type Behaviour, rpcProxy } from "../support/rpcProxy.ts"
import { liveEffect } from "../support/run.ts"

const block = {
  number: "0x10",
  hash: hash("0b"),
  timestamp: `0x${paidAt.toString(16)}`,
  transactions: [hash("01")]
}
const receipt = {
  transactionHash: hash("01"),
  blockHash: hash("0b"),
  blockNumber: "0x10",
  status: "0x1",
  logs: [{ ...log(), logIndex: "0x0", transactionHash: hash("01"), blockHash: hash("0b") }]
}

/** A node of the network that shows the expected transfer, two blocks deep. */
const honest =
  (env: Env): Behaviour =>
  (method) => {
    switch (method) {
      case "eth_chainId":
        return { result: `0x${networks[env].chainId.toString(16)}` }
      case "eth_getCode":
        return { result: "0x6000" }
      case "eth_call":
        return { result: domainSeparator(networks[env]) }
      case "eth_blockNumber":
        return { result: "0x12" }
      case "eth_getTransactionReceipt":
        return { result: receipt }
      default:
        return { result: block }
    }
  }
const but =
  (method: string, result: unknown): Behaviour =>
  (asked, params) =>
    asked === method ? { result } : honest("test")(asked, params)
const otherChain = but("eth_chainId", "0x1")
const noToken = but("eth_getCode", "0x")
const otherToken = but("eth_call", `0x${"ab".repeat(32)}`)
const silent: Behaviour = () => new Promise(() => undefined)

const start = Effect.fnUntraced(function* (
  environment: (typeof AppConfig.Service)["environment"],
  behaviours: { readonly test: ReadonlyArray<Behaviour>; readonly live?: ReadonlyArray<Behaviour> },
  /** Milliseconds: long enough for nodes that answer on a busy machine. */
  startTimeout = 10_000,
  answersWithin = 5_000
) {
  const proxies = {
    test: yield* Effect.forEach(behaviours.test, (behaviour) => rpcProxy(undefined, behaviour)),
    live: yield* Effect.forEach(behaviours.live ?? [honest("live")], (behaviour) =>
      rpcProxy(undefined, behaviour)
    )
  }
  const alerts: Array<ChainAlert> = []
  const recoveries: Array<string> = []
  const before = yield* Clock.currentTimeMillis
  const context = yield* Layer.build(
    NetworkWatch.layer({ startTimeout, retryInterval: 60, checkInterval: 20 }).pipe(
      Layer.provide(ChainVerifier.layer({ cacheTtl: 0, negativeCacheTtl: 0 })),
      Layer.provide(
        RpcPool.layer({
          urls: { test: proxies.test.map(({ url }) => url), live: proxies.live.map(({ url }) => url) },
          timeout: answersWithin,
          deadline: answersWithin + 50,
          retries: 0
        })
      ),
      Layer.provide(
        Layer.succeed(ChainAlerts, (alert: ChainAlert) => Effect.sync(() => void alerts.push(alert)))
      ),
      Layer.provide(
        Layer.succeed(ChainRecoveries, ({ kind, env }) =>
          Effect.sync(() => void recoveries.push(`${kind} ${env}`))
        )
      ),
      Layer.provide(testConfig({ environment }))
    )
  )
  const tookMillis = (yield* Clock.currentTimeMillis) - before
  const verdict = Effect.gen(function* () {
    const verifier = yield* ChainVerifier
    const found = yield* verifier.verify(expectation({ notBefore: new Date(0) }))
    return found._tag === "Verified" ? "verified" : `${found._tag.toLowerCase()}: ${found.reason}`
  }).pipe(Effect.provideContext(context))
  const settlesSoon = verdict.pipe(
    Effect.delay(40),
    Effect.repeat({ until: (now) => now === "verified", times: 500 })
  )
  const alerted = (kind: ChainAlert["kind"]) =>
    Effect.sleep(20).pipe(
      Effect.repeat({ until: () => alerts.some((alert) => alert.kind === kind), times: 500 }),
      Effect.andThen(Effect.sync(() => expect(alerts.map((alert) => alert.kind)).toContain(kind)))
    )
  return { nodes: proxies.test, alerts, alerted, recoveries, tookMillis, verdict, settlesSoon }
})

/** The message with which a production start is refused, or "". All of its nodes answer, if late. */
const refusalOf = (behaviours: Parameters<typeof start>[1]) =>
  start("production", behaviours).pipe(
    Effect.as(""),
    Effect.catchTag("WrongNetwork", ({ message }) => Effect.succeed(message))
  )

describe(row.wrongChain, () => {
  for (const [name, behaviour, says] of [
    ["another chain id", otherChain, "does not serve Base Sepolia (chain id 84532)"],
    [
      "no contract at the token's address",
      noToken,
      "shows no contract at 0x036CbD53842c5426634e7929541eC2318f3dCF7e"
    ],
    ["another contract at the token's address", otherToken, "is not the USDC of Base Sepolia"]
  ] as const) {
    liveEffect(`${name} refuses a production start and names the variable`, () =>
      Effect.gen(function* () {
        const sentence = yield* refusalOf({ test: [behaviour] })
        expect(sentence).toContain("BASE_SEPOLIA_RPC_URLS: ")
        expect(sentence).toContain(says)
        expect(sentence).toContain("Set it to nodes of Base Sepolia.")
      })
    )
    liveEffect(`${name} leaves a development start with settlement off and an alert`, () =>
      Effect.gen(function* () {
        const { alerted, alerts, verdict } = yield* start("development", { test: [behaviour] })
        expect(yield* verdict).toBe("pending: wrong_network")
        yield* alerted("wrong_chain")
        expect(alerts.find(({ kind }) => kind === "wrong_chain")?.message).toContain(
          "settlement on Base Sepolia is off"
        )
      })
    )
  }
  liveEffect("the nodes of the other environment are checked too", () =>
    Effect.gen(function* () {
      const sentence = yield* refusalOf({ test: [honest("test")], live: [honest("test")] })
      expect(sentence).toContain("ARBITRUM_RPC_URLS: ")
    })
  )
  liveEffect(
    "one wrong node among three refuses a production start; in development it is outvoted and reported",
    () =>
      Effect.gen(function* () {
        const test = [honest("test"), otherChain, honest("test")]
        expect(yield* refusalOf({ test })).toContain("BASE_SEPOLIA_RPC_URLS: ")
        const { alerts, verdict } = yield* start("development", { test })
        expect(yield* verdict).toBe("verified")
        expect(alerts.map(({ kind }) => kind)).toContain("wrong_chain")
      })
  )
  liveEffect("after the network is corrected, payments settle again without a restart", () =>
    Effect.gen(function* () {
      const { nodes, settlesSoon, verdict } = yield* start("development", { test: [otherChain] })
      expect(yield* verdict).toBe("pending: wrong_network")
      nodes[0]?.behave(honest("test"))
      expect(yield* settlesSoon).toBe("verified")
    })
  )
  liveEffect(
    "a wrong node's alert closes after the node has been right for a while, or is right at a start",
    () =>
      Effect.gen(function* () {
        const { alerts, nodes, recoveries, verdict } = yield* start("development", {
          test: [honest("test"), otherChain, honest("test")]
        })
        const closes = Effect.map(
          verdict,
          () => recoveries.filter((one) => one === "wrong_chain test").length
        ).pipe(Effect.delay("100 millis"))
        // Another process may have raised the alerts about the two other nodes.
        yield* Effect.repeat(closes, { until: (closed) => closed === 2 })
        expect(alerts.map(({ kind }) => kind)).toContain("wrong_chain")
        nodes[1]?.behave(honest("test"))
        yield* Effect.repeat(closes, { until: (closed) => closed === 3 })
      }).pipe(Effect.timeout("60 seconds"))
  )
  liveEffect("a node that returns on another chain never proves anything, not even once", () =>
    Effect.gen(function* () {
      const { nodes, verdict } = yield* start("development", { test: [honest("test")] })
      expect(yield* verdict).toBe("verified")
      nodes[0]?.behave(() => ({ raw: new Response("", { status: 503 }) }))
      expect(yield* verdict).toBe("pending: rpc_unavailable")
      // The same chain id, but no USDC: only the full check notices.
      nodes[0]?.behave(otherToken)
      expect(yield* verdict).toBe("pending: wrong_network")
    })
  )
})

describe(row.rpcLags, () => {
  liveEffect(
    "a silent node neither prevents nor delays a production start, and settles once it answers",
    () =>
      Effect.gen(function* () {
        const { alerted, nodes, settlesSoon, tookMillis, verdict } = yield* start(
          "production",
          { test: [silent] },
          80,
          150
        )
        expect(tookMillis).toBeLessThan(15_000)
        expect(yield* verdict).toBe("pending: rpc_unavailable")
        yield* alerted("unreachable")
        nodes[0]?.behave(honest("test"))
        expect(yield* settlesSoon).toBe("verified")
      })
  )
  liveEffect("a development start waits for no node at all", () =>
    Effect.gen(function* () {
      const { tookMillis } = yield* start("development", { test: [silent], live: [silent] }, 10_000, 150)
      expect(tookMillis).toBeLessThan(15_000)
    })
  )
})
