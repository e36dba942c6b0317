// When a wallet's nonce counts as lost to another: where most of its nodes say so, and not most of those that answer.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { generatePrivateKey } from "viem/accounts"
import { ChainAlerts } from "../../../src/chain/ChainAlerts.ts"
import { RpcPool } from "../../../src/chain/RpcPool.ts"
import { makeHotWallet } from "../../../src/chain/wallets/HotWallet.ts"
import { TransactionHash } from "../../../src/domain/Chain.ts"
import { networks } from "../../../src/domain/networks.ts"
import { type Behaviour, rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

const ours = TransactionHash.make(`0x${"ab".repeat(32)}`)
const nonce = 7

/** A node that has no receipt of ours, at the wallet's next nonce. */
const without =
  (next: number): Behaviour =>
  (method) => {
    switch (method) {
      case "eth_chainId":
        return { result: "0x14a34" }
      case "eth_getTransactionReceipt":
        return { result: null }
      default:
        return { result: `0x${next.toString(16)}` }
    }
  }
const lost = without(nonce + 1)
const open = without(nonce)
const down: Behaviour = () => ({ raw: new Response("", { status: 503 }) })

const walletOver = Effect.fnUntraced(function* (behaviours: ReadonlyArray<Behaviour>) {
  const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(undefined, behaviour))
  const pool = yield* Layer.build(
    RpcPool.layer({ urls: { test: nodes.map(({ url }) => url) }, retries: 0 }).pipe(
      Layer.provide(Layer.succeed(ChainAlerts, () => Effect.void))
    )
  )
  const key = generatePrivateKey()
  return makeHotWallet(networks.test, () => key, yield* Effect.provideContext(RpcPool, pool))
})

describe("a nonce that a block has passed without a receipt of ours", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Behaviour>, "lost" | "open"]> = [
    ["its one node", [lost], "lost"],
    ["one of two while the other is down", [lost, down], "open"],
    ["two of three while the third is down", [lost, lost, down], "lost"],
    ["one of three while the others are down", [lost, down, down], "open"],
    ["two of three, and the third lags", [lost, lost, open], "lost"],
    ["two of five, one lags and two are down", [lost, lost, open, down, down], "open"],
    ["three of five while two are down", [lost, lost, lost, down, down], "lost"]
  ]
  for (const [name, behaviours, outcome] of cases)
    liveEffect(`as ${name} say: ${outcome}`, () =>
      Effect.gen(function* () {
        const wallet = yield* walletOver(behaviours)
        expect(yield* wallet.sightOnAll(nonce, [ours])).toEqual({ outcome })
        // Where a majority is silent nothing is said at all.
        const early = yield* Effect.option(wallet.sight(nonce, [ours]))
        if (early._tag === "Some") expect(early.value).toEqual({ outcome })
      })
    )
})

describe("a broadcast", () => {
  for (const [words, outcome] of [
    ["already known", "accepted"],
    ["nonce too low", "taken"],
    ["insufficient funds for gas * price + value", "no_funds"],
    ["Internal error", "unknown"],
    ["in-flight transaction limit reached for delegated accounts", "unknown"],
    ["tx fee (1.20 ether) exceeds the configured cap (1.00 ether)", "unknown"]
  ] as const)
    liveEffect(`that the node answers with "${words}" is ${outcome}`, () =>
      Effect.gen(function* () {
        const wallet = yield* walletOver([
          (method) =>
            method === "eth_sendRawTransaction"
              ? { error: { code: -32_000, message: words } }
              : { result: method === "eth_chainId" ? "0x14a34" : null }
        ])
        expect(yield* wallet.broadcast("0x02", [ours])).toBe(outcome)
      })
    )
})
