// The attack table end to end, tokens and logs: real USDC on a real EVM, the verifier over RPC.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData, type Hex, pad, toHex } from "viem"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { transferTopic } from "../../src/chain/ChainVerifier/TransferLog.ts"
import {
  amount,
  anvilSuite,
  expectationOf,
  pay,
  person,
  send,
  transferData,
  transferFromData,
  usdc,
  verdictFor
} from "../support/anvilSuite.ts"
import { approve, install, people, someAddress, word } from "../support/attackPeople.ts"
import { row } from "../support/attackRows.ts"
import { batchCall, batchContract, logEmitter } from "../support/contracts.ts"

const it = anvilSuite()

it("an honest transfer settles once it has a block on top", () =>
  Effect.gen(function* () {
    const { buyer, chain, merchant } = yield* people
    const hash = yield* pay(buyer, merchant, amount)
    expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("pending: confirmations")
    yield* chain.mine()
    expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("verified at 0")
  }))

describe(row.batch, () => {
  it("each of three equal transfers in one transaction settles one payment", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, amount * 3n))
      const call = { to: usdc, data: transferFromData(buyer, merchant, amount) }
      const hash = yield* send(bundler, batch, batchCall("strict", [call, call, call]))
      yield* chain.mine()
      const expected = expectationOf(hash, buyer, merchant)
      // transferFrom lowers the allowance without an Approval event, so the logs are the transfers.
      expect(yield* verdictFor(expected)).toBe("verified at 0")
      expect(yield* verdictFor({ ...expected, excludeOrdinals: [0] })).toBe("verified at 1")
      expect(yield* verdictFor({ ...expected, excludeOrdinals: [0, 1] })).toBe("verified at 2")
      expect(yield* verdictFor({ ...expected, excludeOrdinals: [0, 1, 2] })).toBe("mismatch: already_used")
    }))
  it("several buyers in one transaction: each one's own transfer", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, thief, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, amount))
      yield* send(thief, usdc, approve(batch, amount))
      const calls = [thief, buyer].map((from) => ({
        to: usdc,
        data: transferFromData(from, merchant, amount)
      }))
      const hash = yield* send(bundler, batch, batchCall("strict", calls))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("verified at 1")
      expect(yield* verdictFor(expectationOf(hash, thief, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hash, bundler, merchant))).toBe("mismatch: payer")
    }))
})

describe(row.otherToken, () => {
  it("a copy of the USDC contract at another address is another token", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const code = yield* chain.rpc("eth_getCode", [usdc, "latest"])
      const copy = yield* install(`0x${String(code).slice(2)}`, someAddress("2"))
      const owner = yield* person(0)
      for (const data of [
        encodeFunctionData({
          abi: usdcAbi,
          functionName: "initialize",
          args: ["USDC", "USDC", "USD", 6, owner, owner, owner, owner]
        }),
        encodeFunctionData({ abi: usdcAbi, functionName: "configureMinter", args: [owner, 10n ** 12n] }),
        encodeFunctionData({ abi: usdcAbi, functionName: "mint", args: [buyer, amount] })
      ]) {
        yield* send(owner, copy, data)
      }
      const hash = yield* send(buyer, copy, transferData(merchant, amount))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: token")
    }))
  it("a contract that emits the very log of the token", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, thief } = yield* people
      const topics = [transferTopic, word(buyer), word(merchant)]
      const spoof = yield* install(logEmitter([{ topics, data: word(toHex(amount)) }]), someAddress("3"))
      const hash = yield* send(thief, spoof, "0x")
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: token")
    }))
})

describe(row.oddLog, () => {
  const shapes: ReadonlyArray<
    readonly [string, (from: Hex, to: Hex) => { topics: ReadonlyArray<string>; data: string }]
  > = [
    [
      "four topics",
      (from, to) => ({ topics: [transferTopic, word(from), word(to), word(toHex(amount))], data: "0x" })
    ],
    [
      "four topics and data",
      (from, to) => ({
        topics: [transferTopic, word(from), word(to), word("0x01")],
        data: word(toHex(amount))
      })
    ],
    [
      "two topics",
      (from, to) => ({
        topics: [transferTopic, word(from)],
        data: `${word(to)}${word(toHex(amount)).slice(2)}`
      })
    ],
    [
      "an anonymous log",
      (from, to) => ({
        topics: [],
        data: `${transferTopic}${word(from).slice(2)}${word(to).slice(2)}${word(toHex(amount)).slice(2)}`
      })
    ],
    [
      "31 bytes of data",
      (from, to) => ({
        topics: [transferTopic, word(from), word(to)],
        data: pad(toHex(amount), { size: 31 })
      })
    ],
    [
      "64 bytes of data",
      (from, to) => ({
        topics: [transferTopic, word(from), word(to)],
        data: pad(toHex(amount), { size: 64 })
      })
    ],
    [
      "dirty address words",
      (from, to) => ({
        topics: [transferTopic, `0x01${word(from).slice(4)}`, word(to)],
        data: word(toHex(amount))
      })
    ]
  ]
  for (const [name, shape] of shapes) {
    it(`${name}, even from the pinned address, is no payment`, () =>
      Effect.gen(function* () {
        const { buyer, chain, merchant } = yield* people
        const real = yield* chain.rpc("eth_getCode", [usdc, "latest"])
        yield* install(logEmitter([shape(buyer, merchant)]), usdc)
        const hash = yield* send(buyer, usdc, "0x").pipe(
          // Mined with that code, before the real one is back.
          Effect.tap((sent) =>
            Effect.promise(() => chain.publicClient.waitForTransactionReceipt({ hash: sent }))
          ),
          Effect.ensuring(Effect.orDie(install(`0x${String(real).slice(2)}`, usdc)))
        )
        yield* chain.mine()
        expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
      }))
  }
})
