// The start-up check of a node: it lacks the final blocks only if it says so itself.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { checkNodes } from "../../../src/chain/ChainVerifier/checkNodes.ts"
import { domainSeparator } from "../../../src/chain/domainSeparator.ts"
import { makeRpcNode } from "../../../src/chain/RpcPool/RpcNode.ts"
import { networks } from "../../../src/domain/networks.ts"
import { type Reply, rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

const { chainId } = networks.live
const limits = {
  timeout: "2 seconds",
  deadline: "4 seconds",
  retries: 0,
  maxResponseBytes: 10_000,
  concurrency: 4
} as const

const usual = (method: string): Reply => {
  switch (method) {
    case "eth_chainId":
      return { result: `0x${chainId.toString(16)}` }
    case "eth_getCode":
      return { result: "0x60" }
    default:
      return { result: domainSeparator(networks.live) }
  }
}

describe("a node of a network with final blocks", () => {
  for (const [what, reply, status] of [
    ["names them", { result: { number: "0x1", timestamp: "0x1" } }, "ok"],
    ["knows no such tag", { error: { code: -32_602, message: "invalid block tag" } }, "no_tags"],
    ["has none", { result: null }, "no_tags"],
    ["is behind a gateway that blocks", { raw: () => new Response("request blocked") }, "unavailable"],
    ["is behind a firewall", { raw: () => new Response("blocked", { status: 403 }) }, "unavailable"]
  ] as const)
    liveEffect(`${what}: ${status}`, () =>
      Effect.gen(function* () {
        const node = yield* rpcProxy(undefined, (method) => {
          if (method !== "eth_getBlockByNumber") return usual(method)
          return "raw" in reply ? { raw: reply.raw() } : reply
        })
        const check = yield* checkNodes("live", [makeRpcNode("live", node.url, limits)])
        expect(check.status).toBe(status)
      })
    )
})
