// The attack table end to end: real USDC on a real EVM, the verifier over RPC.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData, type Hex, hexToSignature, pad, serializeSignature, toHex } from "viem"
import { transferTopic } from "../../src/chain/TransferLog.ts"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { usdcAbi } from "../../src/dev/LocalUsdc.ts"
import { networks, TransactionHash } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import {
  address,
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
import { row } from "../support/attackRows.ts"
import {
  batchCall,
  batchContract,
  create2Address,
  create2Call,
  create2Factory,
  erc1271Runtime,
  logEmitter,
  smartAccountCreation
} from "../support/contracts.ts"

const it = anvilSuite()

/** A buyer with money, a merchant, a thief. */
const people = Effect.gen(function* () {
  const chain = yield* LocalChain
  const [buyer, merchant, thief, bundler] = yield* Effect.all([
    person(20),
    person(21),
    person(22),
    person(23)
  ])
  yield* chain.mint(buyer, 100_000_000n)
  yield* chain.mint(thief, 100_000_000n)
  return { chain, buyer, merchant, thief, bundler }
})

const install = Effect.fnUntraced(function* (code: Hex, at: string) {
  const chain = yield* LocalChain
  yield* chain.rpc("anvil_setCode", [at, code])
  return address(at)
})

const someAddress = (digit: string) => `0x${digit.repeat(40)}`
const approve = (spender: Hex, value: bigint) =>
  encodeFunctionData({ abi: usdcAbi, functionName: "approve", args: [spender, value] })
const word = (value: Hex) => pad(value, { size: 32 })

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
      expect(yield* verdictFor({ ...expected, excludeLogs: [0] })).toBe("verified at 1")
      expect(yield* verdictFor({ ...expected, excludeLogs: [0, 1] })).toBe("verified at 2")
      expect(yield* verdictFor({ ...expected, excludeLogs: [0, 1, 2] })).toBe("mismatch: already_used")
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
          Effect.ensuring(Effect.orDie(install(`0x${String(real).slice(2)}`, usdc)))
        )
        yield* chain.mine()
        expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
      }))
  }
})

describe(row.reverted, () => {
  it("a transfer without the money reverts", () =>
    Effect.gen(function* () {
      const { chain, merchant } = yield* people
      const poor = yield* person(29)
      const hash = yield* pay(poor, merchant, amount)
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, poor, merchant))).toBe("mismatch: reverted")
    }))
  it("a batch whose last call fails moves nothing", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, amount))
      const good = { to: usdc, data: transferFromData(buyer, merchant, amount) }
      const hash = yield* send(bundler, batch, batchCall("strict", [good, good]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: reverted")
    }))
  it("a multicall that swallows the inner revert succeeds and moves nothing", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, 0n))
      const bad = { to: usdc, data: transferFromData(buyer, merchant, amount) }
      const hash = yield* send(bundler, batch, batchCall("try", [bad]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
    }))
  it("of two tries the one that moved counts, at its position", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, amount))
      const call = { to: usdc, data: transferFromData(buyer, merchant, amount) }
      const hash = yield* send(bundler, batch, batchCall("try", [call, call]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant, { excludeLogs: [0] }))).toBe(
        "mismatch: already_used"
      )
    }))
  it("a plain call to nobody", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const hash = yield* send(buyer, merchant, "0x")
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
    }))
})

describe(row.smartAccount, () => {
  it("a smart account pays through a bundler; the bundler paid nothing", () =>
    Effect.gen(function* () {
      const { chain, merchant, bundler } = yield* people
      const validator = yield* install(erc1271Runtime, someAddress("4"))
      const creation = smartAccountCreation(yield* person(24), validator)
      const account = address(create2Address(creation))
      yield* send(bundler, create2Factory, create2Call(creation))
      yield* chain.mint(account, amount)
      const hash = yield* send(
        bundler,
        account,
        batchCall("strict", [{ to: usdc, data: transferData(merchant, amount) }])
      )
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, account, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hash, bundler, merchant))).toBe("mismatch: payer")
    }))
  it("EIP-3009 by a relayer: the signer paid", () =>
    Effect.gen(function* () {
      const { chain, merchant, bundler } = yield* people
      const signer = chain.account(25)
      const from = address(signer.address)
      yield* chain.mint(from, amount)
      const message = {
        from,
        to: merchant,
        value: BigInt(amount),
        validAfter: 0n,
        validBefore: 2n ** 48n,
        nonce: `0x${"31".repeat(32)}`
      } as const
      const { domainName, domainVersion } = networks.test.usdc
      const signature = yield* Effect.promise(() =>
        signer.signTypedData({
          domain: { name: domainName, version: domainVersion, chainId: 84532, verifyingContract: usdc },
          types: {
            TransferWithAuthorization: [
              { name: "from", type: "address" },
              { name: "to", type: "address" },
              { name: "value", type: "uint256" },
              { name: "validAfter", type: "uint256" },
              { name: "validBefore", type: "uint256" },
              { name: "nonce", type: "bytes32" }
            ]
          },
          primaryType: "TransferWithAuthorization",
          message
        })
      )
      const { nonce, to, validAfter, validBefore, value } = message
      const data = encodeFunctionData({
        abi: usdcAbi,
        functionName: "transferWithAuthorization",
        args: [from, to, value, validAfter, validBefore, nonce, serializeSignature(hexToSignature(signature))]
      })
      const hash = yield* send(bundler, usdc, data)
      yield* chain.mine()
      // Log 0 is AuthorizationUsed.
      expect(yield* verdictFor(expectationOf(hash, from, merchant))).toBe("verified at 1")
      expect(yield* verdictFor(expectationOf(hash, bundler, merchant))).toBe("mismatch: payer")
    }))
  it("an allowance spent by another: the owner of the money paid", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, thief } = yield* people
      yield* send(buyer, usdc, approve(thief, amount))
      const hash = yield* send(thief, usdc, transferFromData(buyer, merchant, amount))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hash, thief, merchant))).toBe("mismatch: payer")
    }))
})

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
