// A mismatch names the field in which the nearest transfer differs, the expected value and the value on the chain.
import { describe, expect, test } from "bun:test"
import { judgeTransfer, type TransactionFacts } from "../../../src/chain/ChainVerifier/judgeTransfer.ts"
import { row } from "../../support/attackRows.ts"
import {
  amount,
  bundler,
  expectation,
  facts,
  log,
  otherToken,
  paidAt,
  payer,
  receiver,
  thief,
  usdc
} from "../../support/rawReceipts.ts"

const told = (chain: Partial<TransactionFacts>) => {
  const { _tag, ...rest } = judgeTransfer(facts(chain), expectation(), {
    finality: "confirmed",
    confirmations: 1
  })
  expect<string>(_tag).toBe("Mismatch")
  const { confirmed: _, ...finding } = { confirmed: true, ...rest }
  return expect<unknown>(finding)
}

describe(row.amount, () => {
  test("for a transfer from buyer to merchant a mismatch names the amount, whatever else was moved", () =>
    told({
      logs: [log({ from: thief, to: receiver }), log({ from: payer, to: thief }), log({ value: 7n })]
    }).toEqual({
      reason: "amount",
      expected: String(amount),
      actual: "7"
    }))
})
describe(row.thief, () => {
  test("the exact amount by somebody else is nearer than another amount", () =>
    told({ logs: [log({ from: bundler, value: 3n }), log({ from: thief })] }).toEqual({
      reason: "payer",
      expected: payer,
      actual: thief
    }))
  test("another amount by somebody else is nearer than a transfer to another receiver", () =>
    told({ logs: [log({ to: thief }), log({ from: bundler, value: 3n })] }).toEqual({
      reason: "payer",
      expected: payer,
      actual: bundler
    }))
})
describe(row.receiver, () => {
  test("the exact amount to somebody else is nearer than another amount", () =>
    told({ logs: [log({ to: bundler, value: 3n }), log({ to: thief })] }).toEqual({
      reason: "receiver",
      expected: receiver,
      actual: thief
    }))
  test("another amount to somebody else is still the buyer's transfer", () =>
    told({ logs: [log({ to: bundler, value: 3n }), log({ from: thief, to: bundler })] }).toEqual({
      reason: "receiver",
      expected: receiver,
      actual: bundler
    }))
  test("the exact amount between strangers matches nobody here", () =>
    told({ logs: [log({ from: thief, to: bundler })] }).toEqual({ reason: "no_transfer" }))
})
describe(row.otherToken, () => {
  test("another token from the buyer to the merchant names the token", () =>
    told({ logs: [log({ token: otherToken })] }).toEqual({
      reason: "token",
      expected: usdc,
      actual: otherToken
    }))
  for (const [name, stranger] of [
    ["by somebody else", { from: thief }],
    ["to somebody else", { to: thief }]
  ] as const) {
    test(`another token ${name} matches nobody here`, () =>
      told({ logs: [log({ token: otherToken, ...stranger })] }).toEqual({ reason: "no_transfer" }))
  }
})
describe(row.tooOld, () => {
  test("the mismatch names the earliest time allowed and the block's time", () =>
    told({ blockTime: BigInt(paidAt - 71) }).toEqual({
      reason: "too_old",
      expected: `a block at or after ${new Date((paidAt - 70) * 1000).toISOString()}`,
      actual: new Date((paidAt - 71) * 1000).toISOString()
    }))
  test("a block time beyond the calendar is reported in seconds", () =>
    told({ blockTime: -(10n ** 20n) }).toEqual({
      reason: "too_old",
      expected: `a block at or after ${new Date((paidAt - 70) * 1000).toISOString()}`,
      actual: "-100000000000000000000 s"
    }))
})
