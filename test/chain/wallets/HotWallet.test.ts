// A wallet's judgement of its nodes: when a nonce is lost to another transaction, and what a transaction costs.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { generatePrivateKey } from "viem/accounts"
import { type ChainAlert, ChainAlerts } from "../../../src/chain/ChainAlerts.ts"
import { RpcPool } from "../../../src/chain/RpcPool.ts"
import { type HotWallet, makeHotWallet } from "../../../src/chain/wallets/HotWallet.ts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { type Network, networks } from "../../../src/domain/networks.ts"
import { type Behaviour, rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

const ours = TransactionHash.make(`0x${"ab".repeat(32)}`)
const nonce = 7

/** A node that has no receipt of the service's transaction, at the wallet's next nonce. */
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

const walletOver = Effect.fnUntraced(function* (
  behaviours: ReadonlyArray<Behaviour>,
  network: Network = networks.test,
  alerts: Array<ChainAlert> = []
) {
  const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(undefined, behaviour))
  const pool = yield* Layer.build(
    RpcPool.layer({ urls: { test: nodes.map(({ url }) => url) }, retries: 0 }).pipe(
      Layer.provide(Layer.succeed(ChainAlerts, (alert) => Effect.sync(() => void alerts.push(alert))))
    )
  )
  const key = generatePrivateKey()
  return makeHotWallet(network, () => key, yield* Effect.provideContext(RpcPool, pool))
})

const signedBy = (wallet: HotWallet) =>
  wallet.sign(
    { maxFeePerGas: 100n, maxPriorityFeePerGas: 1n },
    { nonce, to: Address.make(`0x${"11".repeat(20)}`), gas: 21_000n }
  )

describe("a nonce that a block has passed without a receipt of the service's transaction", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Behaviour>, "lost" | "open"]> = [
    ["the only node", [lost], "lost"],
    ["one of two while the other is down", [lost, down], "open"],
    ["two of three while the third is down", [lost, lost, down], "lost"],
    ["one of three while the others are down", [lost, down, down], "open"],
    ["two of three, and the third lags", [lost, lost, open], "lost"],
    ["two of five, one lags and two are down", [lost, lost, open, down, down], "open"],
    ["three of five while two are down", [lost, lost, lost, down, down], "lost"]
  ]
  for (const [name, behaviours, outcome] of cases)
    liveEffect(`by ${name}: ${outcome}`, () =>
      Effect.gen(function* () {
        const wallet = yield* walletOver(behaviours)
        expect(yield* wallet.nonceStateOnAll(nonce, [ours])).toEqual({ outcome })
        // If a majority is silent, nothing is decided.
        const early = yield* Effect.option(wallet.nonceState(nonce, [ours]))
        if (early._tag === "Some") expect(early.value).toEqual({ outcome })
      })
    )
})

describe("a broadcast", () => {
  for (const [words, outcome] of [
    ["already known", "accepted"],
    ["nonce too low", "taken"],
    ["Internal error", "unknown"],
    ["Insufficient balance for this plan", "unknown"],
    ["insufficient funds: your provider account has no credits left, please top up", "unknown"],
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
        expect(yield* wallet.broadcast(yield* signedBy(wallet), [ours])).toBe(outcome)
      })
    )

  for (const { alerted, name, outcome, wei } of [
    { name: "below its cost", wei: 2_099_999n, outcome: "no_funds", alerted: false },
    { name: "that covers it", wei: 2_100_000n, outcome: "unknown", alerted: true },
    { name: "that no node returns", wei: undefined, outcome: "unknown", alerted: false }
  ] as const)
    liveEffect(
      `refused for lack of funds, with a balance ${name}, is ${outcome}${alerted ? ", with an alert in the node's words" : ""}`,
      () =>
        Effect.gen(function* () {
          const alerts: Array<ChainAlert> = []
          const node: Behaviour = (method) => {
            if (method === "eth_chainId") return { result: "0x14a34" }
            if (method === "eth_getBalance" && wei !== undefined) return { result: `0x${wei.toString(16)}` }
            if (method === "eth_call") return { result: "0x" }
            return { error: { code: -32_000, message: "insufficient funds for gas * price + value" } }
          }
          const wallet = yield* walletOver([node], networks.test, alerts)
          expect(yield* wallet.broadcast(yield* signedBy(wallet), [ours])).toBe(outcome)
          const refusals = alerts.filter(({ kind }) => kind === "refusing")
          expect(refusals.map(({ message }) => message)).toEqual(
            alerted ? [expect.stringContaining("insufficient funds for gas * price + value")] : []
          )
        })
    )
})

/** A node that answers only one method. */
const answering =
  (method: string, result: unknown): Behaviour =>
  (asked) =>
    asked === "eth_chainId"
      ? { result: "0x14a34" }
      : asked === method
        ? result === undefined
          ? { error: { code: 3, message: "execution reverted" } }
          : { result }
        : { result: null }

describe("the L1 part of a fee", () => {
  const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`
  for (const [name, answers, wei] of [
    ["is the oracle's, doubled", [word(7)], 14n],
    ["is the value that most nodes have reached", [word(7), word(1_000_000), word(8)], 16n],
    ["is still read if one node shows no oracle", ["0x", word(7)], 14n],
    ["is zero without an oracle", ["0x", "0x"], 0n],
    ["is unknown if the oracle reverts", [undefined], "unknown"],
    ["is unknown if most nodes fail", ["0x", undefined, undefined], "unknown"]
  ] as const)
    liveEffect(name, () =>
      Effect.gen(function* () {
        const wallet = yield* walletOver(answers.map((answer) => answering("eth_call", answer)))
        expect(yield* Effect.orElseSucceed(wallet.l1Fee(100), () => "unknown" as const)).toBe(wei)
      })
    )

  liveEffect("is read for a transaction's bytes, and on no network whose gas includes it", () =>
    Effect.gen(function* () {
      const calls: Array<string> = []
      const node: Behaviour = (method, params) => {
        if (method === "eth_call") calls.push(JSON.stringify(params))
        return answering("eth_call", word(7))(method, params)
      }
      const wallet = yield* walletOver([node])
      yield* wallet.l1Fee(356)
      expect(calls).toHaveLength(1)
      // getL1FeeUpperBound(456)
      expect(calls[0]).toContain(`0xf1c7a58b${"1c8".padStart(64, "0")}`)
      expect(calls[0]).toContain("0x420000000000000000000000000000000000000F")
      expect(yield* (yield* walletOver([node], networks.live)).l1Fee(356)).toBe(0n)
      expect(calls).toHaveLength(1)
    })
  )
})

describe("a transaction's cost", () => {
  const receipt = { blockHash: ours, gasUsed: "0xa", effectiveGasPrice: "0x3" }
  const withL1 = { ...receipt, l1Fee: "0x5" }
  for (const [name, receipts, wei] of [
    ["is gas times price", [receipt], 30n],
    ["includes the L1 fee in the receipt", [withL1], 35n],
    ["is gas times price if the L1 fee is null", [{ ...receipt, l1Fee: null }], 30n],
    ["is the one of a majority", [withL1, { ...withL1, gasUsed: "0x0" }, withL1], 35n],
    ["is unknown while two nodes differ", [withL1, receipt], undefined],
    ["is unknown before its block", [null], undefined],
    ["is unknown while it is pending on a node", [{ ...receipt, blockHash: null }], undefined],
    ["is unknown if receipts lack it", [{ blockHash: ours }], undefined]
  ] as const)
    liveEffect(name, () =>
      Effect.gen(function* () {
        const wallet = yield* walletOver(receipts.map((one) => answering("eth_getTransactionReceipt", one)))
        expect(yield* wallet.minedCost(ours)).toBe(wei)
      })
    )
})
