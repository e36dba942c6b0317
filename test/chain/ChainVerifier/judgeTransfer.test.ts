// The attack table on raw receipts: a payment settles only by its own exact, unclaimed transfer.
import { describe, expect, test } from "bun:test"
import { judgeTransfer, type TransactionFacts } from "../../../src/chain/ChainVerifier/judgeTransfer.ts"
import type { Expectation, Verification } from "../../../src/chain/Verification.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { networks } from "../../../src/domain/networks.ts"
import { row } from "../../support/attackRows.ts"
import {
  amount,
  bundler,
  expectation,
  facts,
  hash,
  log,
  otherToken,
  paidAt,
  payer,
  receiver,
  thief,
  usdc,
  zero
} from "../../support/rawReceipts.ts"

const judge = (chain: Partial<TransactionFacts> = {}, expected: Partial<Expectation> = {}, required = 1) =>
  judgeTransfer(facts(chain), expectation(expected), { finality: "confirmed", confirmations: required })

const verdict = (result: Verification): string =>
  result._tag === "Verified"
    ? `verified at ${result.logPosition}`
    : `${result._tag.toLowerCase()}: ${result.reason}`

const cases = (
  name: string,
  table: ReadonlyArray<readonly [string, Partial<TransactionFacts>, Partial<Expectation>, string]>
) =>
  describe(name, () => {
    for (const [what, chain, expected, wanted] of table) {
      test(`${what}: ${wanted}`, () => expect(verdict(judge(chain, expected))).toBe(wanted))
    }
  })

test("an honest transfer is verified with everything that the chain shows", () => {
  expect<unknown>(judge()).toEqual({
    _tag: "Verified",
    chainId: 84532,
    transactionId: hash("01"),
    logPosition: 0,
    ordinal: 0,
    blockNumber: 100n,
    blockHash: hash("0b"),
    payer,
    receiver,
    token: usdc,
    value: amount,
    confirmations: 2
  })
})

cases(row.batch, [
  [
    "the payment's is the third log",
    { logs: [log({ to: thief }), log({ from: thief }), log()] },
    {},
    "verified at 2"
  ],
  ["twice the same transfer, none claimed", { logs: [log(), log()] }, {}, "verified at 0"],
  [
    "twice the same transfer, the first claimed",
    { logs: [log(), log()] },
    { excludeOrdinals: [0] },
    "verified at 1"
  ],
  [
    "twice the same transfer, both claimed",
    { logs: [log(), log()] },
    { excludeOrdinals: [0, 1] },
    "mismatch: already_used"
  ],
  [
    "other logs between",
    { logs: [{ address: usdc.toLowerCase(), topics: [], data: "0x" }, log()] },
    {},
    "verified at 1"
  ]
])
cases(row.oneForTwo, [
  ["the only transfer is claimed", {}, { excludeOrdinals: [0] }, "mismatch: already_used"],
  ["another log is claimed", {}, { excludeOrdinals: [1, 2, 3] }, "verified at 0"]
])
cases(row.twoPayments, [
  [
    "one transfer, the other payment claimed it",
    { logs: [log({ to: thief }), log()] },
    { excludeOrdinals: [0] },
    "mismatch: already_used"
  ]
])
cases("a height below which the transfer cannot be", [
  ["its own block", { blockNumber: 100n }, { sinceBlock: 100n }, "verified at 0"],
  ["a later block", { blockNumber: 101n, head: 103n }, { sinceBlock: 100n }, "verified at 0"],
  ["the block before", { blockNumber: 99n }, { sinceBlock: 100n }, "mismatch: too_old"],
  [
    "if the height is known, time does not matter, because the service's clock may be ahead",
    {},
    { sinceBlock: 100n, notBefore: new Date((Number(paidAt) + 3_600) * 1000) },
    "verified at 0"
  ],
  [
    "an old payment accepts no transfer from below it",
    { blockNumber: 99n },
    { sinceBlock: 100n, notBefore: new Date(0) },
    "mismatch: too_old"
  ]
])
cases(row.otherToken, [
  ["the same transfer by another contract", { logs: [log({ token: otherToken })] }, {}, "mismatch: token"],
  [
    "mainnet USDC on the test chain",
    { logs: [log({ token: networks.live.usdc.address })] },
    {},
    "mismatch: token"
  ],
  [
    "an address one digit off",
    { logs: [{ ...log(), address: usdc.toLowerCase().replace(/e$/, "f") }] },
    {},
    "mismatch: token"
  ],
  [
    "spoofed next to a smaller real one",
    { logs: [log({ token: otherToken }), log({ value: 1n })] },
    {},
    "mismatch: amount"
  ],
  ["spoofed next to the real one", { logs: [log({ token: otherToken }), log()] }, {}, "verified at 1"],
  ["test USDC for a live payment", {}, { env: "live" }, "mismatch: token"]
])
cases(row.oddLog, [
  [
    "four topics from the pinned token",
    { logs: [{ ...log(), topics: [...log().topics, log().topics[1] ?? ""] }] },
    {},
    "mismatch: no_transfer"
  ],
  ["anonymous log of the pinned token", { logs: [{ ...log(), topics: [] }] }, {}, "mismatch: no_transfer"],
  [
    "odd data of the pinned token",
    { logs: [{ ...log(), data: `${log().data}00` }] },
    {},
    "mismatch: no_transfer"
  ]
])
cases(row.reverted, [
  ["reverted", { status: "reverted", logs: [] }, {}, "mismatch: reverted"],
  ["reverted, but a node still shows logs", { status: "reverted" }, {}, "mismatch: reverted"],
  ["success that moved nothing", { logs: [] }, {}, "mismatch: no_transfer"],
  [
    "inner revert: only the outer contract's event",
    { logs: [{ address: otherToken, topics: [hash("77")], data: "0x" }] },
    {},
    "mismatch: no_transfer"
  ]
])
cases(row.receiver, [
  ["paid to somebody else", { logs: [log({ to: thief })] }, {}, "mismatch: receiver"],
  [
    "the merchant's new address is not the frozen one",
    { logs: [log({ to: bundler })] },
    {},
    "mismatch: receiver"
  ],
  ["paid to the token contract", { logs: [log({ to: usdc })] }, {}, "mismatch: receiver"],
  ["right receiver, by somebody else's allowance", { logs: [log({ from: thief })] }, {}, "mismatch: payer"]
])
cases(row.amount, [
  ["one unit less", { logs: [log({ value: amount - 1n })] }, {}, "mismatch: amount"],
  ["one unit more", { logs: [log({ value: amount + 1n })] }, {}, "mismatch: amount"],
  [
    "split in two halves",
    { logs: [log({ value: amount / 2n }), log({ value: amount / 2n })] },
    {},
    "mismatch: amount"
  ],
  ["the amount modulo 2^64", { logs: [log({ value: amount + 2n ** 64n })] }, {}, "mismatch: amount"],
  [
    "the amount shifted by 12 decimals",
    { logs: [log({ value: amount * 10n ** 12n })] },
    {},
    "mismatch: amount"
  ],
  ["the amount in cents", { logs: [log({ value: amount / 10_000n })] }, {}, "mismatch: amount"],
  [
    "underpaid, and declared as such",
    { logs: [log({ value: 1n })] },
    { tokenChanges: expectation({ amount: AtomicUsdc.make(1n) }).tokenChanges },
    "mismatch: amount"
  ]
])
const declared = expectation().tokenChanges[0] ?? {
  amountAtomic: "0",
  chainId: 0,
  receiver,
  tokenAddress: usdc
}
cases(`${row.amount}: declared changes are compared`, [
  ["no changes declared", {}, { tokenChanges: [] }, "mismatch: declared_changes"],
  ["declared twice", {}, { tokenChanges: [declared, declared] }, "mismatch: declared_changes"],
  [
    "another amount declared",
    {},
    { tokenChanges: [{ ...declared, amountAtomic: "1" }] },
    "mismatch: declared_changes"
  ],
  [
    "another chain declared",
    {},
    { tokenChanges: [{ ...declared, chainId: 1 }] },
    "mismatch: declared_changes"
  ],
  [
    "another receiver declared",
    {},
    { tokenChanges: [{ ...declared, receiver: thief }] },
    "mismatch: declared_changes"
  ],
  [
    "another token declared",
    {},
    { tokenChanges: [{ ...declared, tokenAddress: otherToken }] },
    "mismatch: declared_changes"
  ],
  [
    "one change too many declared",
    {},
    { tokenChanges: [declared, { ...declared, receiver: thief }] },
    "mismatch: declared_changes"
  ],
  [
    "declared in lower case",
    {},
    { tokenChanges: [{ ...declared, receiver: Address.make(`0x${receiver.slice(2).toLowerCase()}`) }] },
    "verified at 0"
  ]
])
cases(row.emptyMove, [
  ["zero value", { logs: [log({ value: 0n })] }, {}, "mismatch: no_transfer"],
  ["mint to the receiver", { logs: [log({ from: zero })] }, {}, "mismatch: no_transfer"],
  [
    "mint, and the thief claims the zero address",
    { logs: [log({ from: zero })] },
    { payer: zero },
    "mismatch: no_transfer"
  ],
  [
    "mint, and a person attaches it",
    { logs: [log({ from: zero })] },
    { payer: zero, byPerson: true },
    "verified at 0"
  ],
  ["burn", { logs: [log({ to: zero })] }, { receiver: zero }, "mismatch: no_transfer"],
  [
    "self transfer of the merchant",
    { logs: [log({ from: receiver })] },
    { payer: receiver },
    "mismatch: no_transfer"
  ]
])
cases(row.thief, [
  ["the payer of the log is not the reporter", {}, { payer: thief }, "mismatch: payer"],
  [
    "the thief's own small transfer next to it",
    { logs: [log(), log({ from: thief, value: 1n })] },
    { payer: thief },
    "mismatch: amount"
  ],
  [
    "the thief moved the victim's allowance",
    { logs: [log({ from: thief, to: bundler }), log()] },
    { payer: thief },
    "mismatch: payer"
  ]
])
cases(row.tooOld, [
  [
    "a minute and a second before",
    { blockTime: BigInt(paidAt) },
    { notBefore: new Date((paidAt + 61) * 1000) },
    "mismatch: too_old"
  ],
  [
    "a minute before",
    { blockTime: BigInt(paidAt) },
    { notBefore: new Date((paidAt + 60) * 1000) },
    "verified at 0"
  ],
  [
    "a minute before, and milliseconds",
    { blockTime: BigInt(paidAt) },
    { notBefore: new Date((paidAt + 60) * 1000 + 999) },
    "verified at 0"
  ],
  ["at the start of time", { blockTime: 0n }, {}, "mismatch: too_old"],
  ["after the payment", { blockTime: BigInt(paidAt + 3600) }, {}, "verified at 0"]
])
cases(row.reorganised, [
  ["another block is canonical at that height", { canonicalHash: hash("0c") }, {}, "pending: reorganised"],
  ["not canonical wins over a mismatch", { canonicalHash: hash("0c"), logs: [] }, {}, "pending: reorganised"],
  ["no block on top yet", { head: 100n }, {}, "pending: confirmations"],
  ["head behind the block", { head: 90n }, {}, "pending: confirmations"],
  ["one block on top", { head: 101n }, {}, "verified at 0"]
])
