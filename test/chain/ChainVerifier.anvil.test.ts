// The RPC verifier passes the contract on anvil with the real USDC.
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { encodeFunctionData } from "viem"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import type { SettledTransfer } from "../../src/chain/Verification.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import {
  amount,
  expectationOf,
  localChain,
  pay,
  person,
  send,
  transferFromData,
  usdc,
  verdictFor,
  verifier,
  verifierOver
} from "../support/anvilSuite.ts"
import { row } from "../support/attackRows.ts"
import { batchCall, batchContract, logEmitter } from "../support/contracts.ts"
import { log } from "../support/rawReceipts.ts"
import { rpcProxy } from "../support/rpcProxy.ts"
import { chainVerifierContract, type Move } from "./ChainVerifier.contract.ts"

setDefaultTimeout(60_000)

const runtime = ManagedRuntime.make(Layer.provideMerge(verifier, localChain))
afterAll(() => runtime.dispose())

const batchAddress = `0x${"1".repeat(40)}` as const
const spoofAddress = `0x${"5".repeat(40)}` as const

/** Replaces blocks with blocks that hold the same transactions, or none. */
const reorganise = Effect.fnUntraced(function* (depth: number, transactions: "drop" | "keep") {
  const chain = yield* LocalChain
  const head = Number(yield* Effect.promise(() => chain.publicClient.getBlockNumber({ cacheTime: 0 })))
  const kept: Array<readonly [string, number]> = []
  for (let number = head - depth + 1; transactions === "keep" && number <= head; number++) {
    const block = yield* Effect.promise(() => chain.publicClient.getBlock({ blockNumber: BigInt(number) }))
    for (const hash of block.transactions) {
      const raw = yield* chain.rpc("eth_getRawTransactionByHash", [hash])
      kept.push([String(raw), 0])
    }
  }
  yield* chain.rpc("anvil_reorg", [depth, kept])
})

const driver = Effect.gen(function* () {
  const chain = yield* LocalChain
  const [buyer, merchant, thief] = yield* Effect.all([person(60), person(61), person(62)])
  const within = <A, E>(effect: Effect.Effect<A, E, LocalChain>) =>
    Effect.orDie(Effect.provideService(effect, LocalChain, chain))
  return {
    buyer,
    merchant,
    thief,
    fund: (address: typeof buyer, atomic: bigint) => within(Effect.asVoid(chain.mint(address, atomic))),
    transfer: ({ amount, from, to }: Move) => within(signedTransfer(from, to, amount)),
    batch: (moves: ReadonlyArray<Move>) =>
      within(
        Effect.gen(function* () {
          yield* chain.rpc("anvil_setCode", [batchAddress, batchContract])
          const total = moves.reduce((sum, move) => sum + move.amount, 0n)
          yield* send(
            buyer,
            usdc,
            encodeFunctionData({ abi: usdcAbi, functionName: "approve", args: [batchAddress, total] })
          )
          const calls = moves.map((move) => ({
            to: usdc,
            data: transferFromData(move.from, move.to, move.amount)
          }))
          return yield* send(thief, batchAddress, batchCall("strict", calls))
        })
      ),
    spoof: (move: Move) =>
      within(
        Effect.gen(function* () {
          yield* chain.rpc("anvil_setCode", [
            spoofAddress,
            logEmitter([log({ from: move.from, to: move.to, value: move.amount })])
          ])
          return yield* send(thief, spoofAddress, "0x")
        })
      ),
    mine: (blocks: number) => within(chain.mine(blocks)),
    reorganise: (depth: number, transactions: "drop" | "keep") => within(reorganise(depth, transactions))
  }
})

/** Signed with the buyer's own key, so that a reorganisation can include it again. */
const signedTransfer = Effect.fnUntraced(function* (from: string, to: `0x${string}`, value: bigint) {
  const chain = yield* LocalChain
  const index =
    Array.from({ length: 10 }, (_, at) => 60 + at).find((at) => chain.account(at).address === from) ?? 60
  yield* chain.setEth(yield* person(index), 10n ** 18n)
  const hash = yield* Effect.promise(() =>
    chain.walletClient(index).writeContract({
      address: usdc,
      abi: usdcAbi,
      functionName: "transfer",
      args: [to, value],
      gas: 200_000n
    })
  )
  return TransactionHash.make(hash)
})

chainVerifierContract("anvil", runtime, driver)

const it = <E>(
  name: string,
  effect: () => Effect.Effect<unknown, E, LocalChain | ChainVerifier | Scope.Scope>
) => test(name, () => runtime.runPromise(Effect.scoped(effect()).pipe(Effect.asVoid)), 180_000)

describe(row.reorganised, () => {
  it("a node that forgot the transaction but shows its block, or lacks the block, proves nothing", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const [buyer, merchant] = yield* Effect.all([person(60), person(61)])
      yield* chain.mint(buyer, amount)
      const hash = yield* pay(buyer, merchant, amount)
      yield* chain.mine()
      const honest = yield* ChainVerifier
      const result = yield* honest.verify(expectationOf(hash, buyer, merchant))
      if (result._tag !== "Verified") return yield* Effect.die(result.reason)
      const settled: SettledTransfer = result
      const forgetful = yield* rpcProxy(chain.rpcUrl, (method) =>
        method === "eth_getTransactionReceipt" ? { result: null } : undefined
      )
      const status = Effect.flatMap(ChainVerifier, (service) => service.blockStatus("test", settled))
      expect<unknown>(yield* status.pipe(Effect.provide(verifierOver([forgetful.url])))).toEqual({
        _tag: "Unknown",
        reason: "lagging"
      })
      // Another machine behind the node's address has neither the transaction nor its block yet.
      const height = `0x${settled.blockNumber.toString(16)}`
      const behind = yield* rpcProxy(chain.rpcUrl, (method, params) =>
        method === "eth_getTransactionReceipt" || (method === "eth_getBlockByNumber" && params[0] === height)
          ? { result: null }
          : undefined
      )
      expect<unknown>(yield* status.pipe(Effect.provide(verifierOver([behind.url])))).toEqual({
        _tag: "Unknown",
        reason: "lagging"
      })
      expect<unknown>(yield* status.pipe(Effect.provide(verifierOver(["http://127.0.0.1:1"])))).toEqual({
        _tag: "Unknown",
        reason: "rpc_unavailable"
      })
    }))
  it("the log position counts within the transaction, whatever came earlier in the block", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const [buyer, thief, merchant] = yield* Effect.all([person(60), person(62), person(61)])
      yield* Effect.all([chain.mint(buyer, amount), chain.mint(thief, amount)])
      yield* chain.rpc("evm_setAutomine", [false])
      const hashes = yield* Effect.all([pay(thief, merchant, amount), pay(buyer, merchant, amount)]).pipe(
        Effect.ensuring(Effect.orDie(chain.rpc("evm_setAutomine", [true])))
      )
      yield* chain.mine(2)
      const receipts = yield* Effect.promise(() =>
        Promise.all(hashes.map((hash) => chain.publicClient.getTransactionReceipt({ hash })))
      )
      expect(receipts.map(({ logs }) => logs[0]?.logIndex).toSorted()).toEqual([0, 1])
      expect(yield* verdictFor(expectationOf(hashes[0], thief, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hashes[1], buyer, merchant))).toBe("verified at 0")
    }))
})
