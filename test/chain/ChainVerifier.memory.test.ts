// The in-memory chain passes the contract, and its faults behave as nodes' do.
import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect, ManagedRuntime } from "effect"
import { TestClock } from "effect/testing"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import { row } from "../support/attackRows.ts"
import { amount, expectation, otherToken, payer, receiver, thief } from "../support/rawReceipts.ts"
import { testEffect } from "../support/run.ts"
import { chainVerifierContract } from "./ChainVerifier.contract.ts"

setDefaultTimeout(60_000)

const runtime = ManagedRuntime.make(ChainVerifier.layerMemoryWith({ confirmations: 1, finalityDepth: 5 }))
afterAll(() => runtime.dispose())

chainVerifierContract(
  "memory",
  runtime,
  Effect.map(MemoryChain, (chain) => ({
    buyer: payer,
    merchant: receiver,
    thief,
    fund: (address, usdcAtomic) => chain.fund(address, { usdcAtomic }),
    transfer: (move) => chain.transfer(move),
    batch: (moves) => chain.batch(moves),
    spoof: (move) => chain.transfer({ ...move, token: otherToken }),
    mine: (blocks) => chain.mine(blocks),
    reorganise: (depth, transactions) => chain.reorganise(depth, transactions)
  }))
)

const reasonOf = (changes: Parameters<typeof expectation>[0]) =>
  Effect.flatMap(ChainVerifier, (verifier) => verifier.verify(expectation(changes))).pipe(
    Effect.map((result) => (result._tag === "Verified" ? "verified" : result.reason))
  )

const paid = Effect.gen(function* () {
  const chain = yield* MemoryChain
  yield* chain.fund(payer, { usdcAtomic: 100_000_000n, gasWei: 9n })
  const transactionId = yield* chain.transfer({ from: payer, to: receiver, amount })
  yield* chain.mine()
  return { chain, report: { transactionId, notBefore: new Date(0) } }
})

testEffect(`${row.rpcLags}: nodes that lag behind the chain, and nodes that are down`, () =>
  Effect.gen(function* () {
    const { chain, report } = yield* paid
    const verifier = yield* ChainVerifier
    yield* chain.lag(1)
    expect(yield* reasonOf(report)).toBe("confirmations")
    yield* chain.lag(2)
    expect(yield* reasonOf(report)).toBe("not_found")
    yield* chain.lag(0)
    yield* chain.fault("fail")
    expect(yield* reasonOf(report)).toBe("rpc_unavailable")
    expect((yield* Effect.flip(verifier.readBalance("test", payer))).reason).toBe("rpc_unavailable")
    expect((yield* verifier.checkNetwork("test")).status).toBe("unavailable")
    yield* chain.fault("none")
    expect(yield* reasonOf(report)).toBe("verified")
  }).pipe(Effect.provide(ChainVerifier.layerMemory))
)

testEffect(`${row.rpcLies}: a contradiction is pending`, () =>
  Effect.gen(function* () {
    const { chain, report } = yield* paid
    yield* chain.fault("lie")
    expect(yield* reasonOf(report)).toBe("disagreement")
  }).pipe(Effect.provide(ChainVerifier.layerMemory))
)

testEffect("a lagging node's silence about a settled transfer proves no reorganisation", () =>
  Effect.gen(function* () {
    const { chain, report } = yield* paid
    const verifier = yield* ChainVerifier
    const result = yield* verifier.verify(expectation(report))
    if (result._tag !== "Verified") return yield* Effect.die(result.reason)
    yield* chain.lag(2)
    expect<unknown>(yield* verifier.blockStatus("test", result)).toEqual({
      _tag: "Unknown",
      reason: "lagging"
    })
  }).pipe(Effect.provide(ChainVerifier.layerMemory))
)

testEffect("without automine a transfer waits for its block; block times come from the Clock", () =>
  Effect.gen(function* () {
    const chain = yield* MemoryChain
    yield* TestClock.setTime(5_000_000)
    yield* chain.fund(payer, { usdcAtomic: amount })
    yield* chain.automine(false)
    const transactionId = yield* chain.transfer({ from: payer, to: receiver, amount })
    expect(yield* reasonOf({ transactionId })).toBe("not_found")
    yield* chain.mine(2)
    expect(yield* reasonOf({ transactionId, notBefore: new Date(5_061_000) })).toBe("too_old")
    expect(yield* reasonOf({ transactionId, notBefore: new Date(5_060_000) })).toBe("verified")
  }).pipe(Effect.provide(ChainVerifier.layerMemory))
)

testEffect("balances follow transfers, reverts and reorganisations; environments are separate", () =>
  Effect.gen(function* () {
    const { chain } = yield* paid
    const balance = (address: typeof payer) =>
      Effect.map(chain.balance(address), ({ usdcAtomic }) => usdcAtomic)
    expect(yield* balance(receiver)).toBe(amount)
    yield* chain.revert({ from: payer, to: receiver, amount })
    yield* chain.transfer({ from: thief, to: receiver, amount })
    expect(yield* balance(receiver)).toBe(amount)
    yield* chain.reorganise(4, "drop")
    expect(yield* balance(receiver)).toBe(0n)
    expect(yield* chain.balance(payer)).toEqual({ usdcAtomic: 100_000_000n, gasWei: 9n })
    expect(yield* chain.balance(payer, "live")).toEqual({ usdcAtomic: 0n, gasWei: 0n })
  }).pipe(Effect.provide(ChainVerifier.layerMemory))
)
