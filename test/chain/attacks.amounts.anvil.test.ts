// The attack table end to end, plain transfers: who, to whom, how much, when.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { type Hex, toHex } from "viem"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import {
  amount,
  anvilSuite,
  expectationOf,
  pay,
  person,
  transferData,
  usdc,
  verdictFor
} from "../support/anvilSuite.ts"
import { people } from "../support/attackPeople.ts"
import { row } from "../support/attackRows.ts"

const it = anvilSuite()

const single: ReadonlyArray<
  readonly [
    string,
    string,
    (p: { buyer: Hex; merchant: Hex; thief: Hex }) => readonly [Hex, Hex, bigint],
    string
  ]
> = [
  [row.receiver, "paid to somebody else", ({ buyer, thief }) => [buyer, thief, amount], "mismatch: receiver"],
  [row.amount, "one unit less", ({ buyer, merchant }) => [buyer, merchant, amount - 1n], "mismatch: amount"],
  [row.amount, "one unit more", ({ buyer, merchant }) => [buyer, merchant, amount + 1n], "mismatch: amount"],
  [row.amount, "half of it", ({ buyer, merchant }) => [buyer, merchant, amount / 2n], "mismatch: amount"],
  [row.emptyMove, "zero value", ({ buyer, merchant }) => [buyer, merchant, 0n], "mismatch: no_transfer"],
  [row.emptyMove, "to oneself", ({ buyer }) => [buyer, buyer, amount], "mismatch: no_transfer"],
  [
    row.thief,
    "somebody else's transfer",
    ({ merchant, thief }) => [thief, merchant, amount],
    "mismatch: payer"
  ]
]
for (const [name, what, parties, wanted] of single) {
  describe(name, () => {
    it(`${what}: ${wanted}`, () =>
      Effect.gen(function* () {
        const all = yield* people
        const hash = yield* pay(...parties(all))
        yield* all.chain.mine()
        expect(yield* verdictFor(expectationOf(hash, all.buyer, all.merchant))).toBe(wanted)
      }))
  })
}

describe(row.emptyMove, () => {
  it("a mint to the merchant", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const hash = yield* chain.mint(merchant, amount)
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
    }))
  it("a mint to the buyer, who is the payer of nothing", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const hash = yield* chain.mint(buyer, amount)
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
    }))
})

describe(row.amount, () => {
  it("the declared changes are compared with the chain, never trusted", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const hash = yield* pay(buyer, merchant, 1n)
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: amount")
      const exact = expectationOf(hash, buyer, merchant, { amount: AtomicUsdc.make(1n) })
      expect(yield* verdictFor(exact)).toBe("verified at 0")
      expect(yield* verdictFor({ ...exact, tokenChanges: [] })).toBe("mismatch: declared_changes")
    }))
  it("two halves in two transactions settle nothing", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const halves = [yield* pay(buyer, merchant, amount / 2n), yield* pay(buyer, merchant, amount / 2n)]
      yield* chain.mine()
      for (const hash of halves) {
        expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: amount")
      }
    }))
})

describe(row.decimals, () => {
  for (const value of [1n, 999_999n, 1_000_001n, 99_999_999_999_999_999_999n]) {
    it(`${value} atomic units, exact on the chain`, () =>
      Effect.gen(function* () {
        const { chain, merchant } = yield* people
        const rich = yield* person(26)
        yield* chain.mint(rich, value)
        const hash = yield* pay(rich, merchant, value)
        yield* chain.mine()
        const exact = expectationOf(hash, rich, merchant, { amount: AtomicUsdc.make(value) })
        expect(yield* verdictFor(exact)).toBe("verified at 0")
        const near = AtomicUsdc.make(value === 1n ? 2n : value - 1n)
        expect(yield* verdictFor(expectationOf(hash, rich, merchant, { amount: near }))).toBe(
          "mismatch: amount"
        )
      }))
  }
})

describe(row.tooOld, () => {
  it("a transfer from before the payment", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const hash = yield* pay(buyer, merchant, amount)
      yield* chain.mine()
      const block = yield* Effect.promise(() => chain.publicClient.getBlock())
      const after = (seconds: number) => ({ notBefore: new Date((Number(block.timestamp) + seconds) * 1000) })
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant, after(120)))).toBe("mismatch: too_old")
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant, after(30)))).toBe("verified at 0")
    }))
})

describe(row.falseEvidence, () => {
  it("a hash that nobody has seen is pending, however often it is reported", () =>
    Effect.gen(function* () {
      const { buyer, merchant } = yield* people
      const never = TransactionHash.make(`0x${"ab".repeat(32)}`)
      for (let round = 0; round < 3; round++) {
        expect(yield* verdictFor(expectationOf(never, buyer, merchant))).toBe("pending: not_found")
      }
    }))
})

describe(row.spelling, () => {
  it("the schema knows one spelling of a hash", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const hash = yield* pay(buyer, merchant, amount)
      yield* chain.mine()
      expect(() => TransactionHash.make(`0x${hash.slice(2).toUpperCase()}`)).toThrow()
      expect(yield* verdictFor(expectationOf(TransactionHash.make(hash), buyer, merchant))).toBe(
        "verified at 0"
      )
    }))
})

describe(row.replaced, () => {
  it("of two transactions with one nonce the mined one settles, the replaced one stays pending", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      yield* chain.rpc("evm_setAutomine", [false])
      const nonce = yield* chain.rpc("eth_getTransactionCount", [buyer, "latest"])
      const submit = (price: bigint) =>
        chain.rpc("eth_sendTransaction", [
          {
            from: buyer,
            to: usdc,
            data: transferData(merchant, amount),
            nonce,
            gas: "0x30d40",
            maxFeePerGas: toHex(price),
            maxPriorityFeePerGas: toHex(price)
          }
        ])
      const [slow, fast] = yield* Effect.all([submit(3_000_000_000n), submit(9_000_000_000n)]).pipe(
        Effect.ensuring(Effect.orDie(chain.rpc("evm_setAutomine", [true])))
      )
      yield* chain.mine(2)
      const of = (hash: unknown) =>
        expectationOf(TransactionHash.make(`0x${String(hash).slice(2)}`), buyer, merchant)
      expect(yield* verdictFor(of(fast))).toBe("verified at 0")
      expect(yield* verdictFor(of(slow))).toBe("pending: not_found")
    }))
})
