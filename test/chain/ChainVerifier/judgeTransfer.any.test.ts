// The other details of a verdict, and that the rules hold for any amounts and logs.
import { expect, test } from "bun:test"
import fc from "fast-check"
import { judgeTransfer, type TransactionFacts } from "../../../src/chain/ChainVerifier/judgeTransfer.ts"
import type { Expectation, Verification } from "../../../src/chain/Verification.ts"
import { AtomicUsdc, formatUsd } from "../../../src/domain/Money.ts"
import { row } from "../../support/attackRows.ts"
import {
  amount,
  expectation,
  facts,
  log,
  otherToken,
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

test(`${row.reorganised}: the transfer waits for its confirmations, 0 to 64`, () => {
  for (const [required, head] of [
    [64, 100n],
    [64, 163n],
    [3, 101n]
  ] as const) {
    expect<unknown>(judge({ head }, {}, required)).toEqual({ _tag: "Pending", reason: "confirmations" })
  }
  expect(verdict(judge({ head: 164n }, {}, 64))).toBe("verified at 0")
  expect(verdict(judge({ head: 100n }, {}, 0))).toBe("verified at 0")
})

test("a mismatch names the field, the expected value and the value that the chain shows", () => {
  expect(judge({ logs: [log({ value: 1n })] })).toMatchObject({
    reason: "amount",
    expected: String(amount),
    actual: "1"
  })
  expect(judge({ logs: [log({ to: thief })] })).toMatchObject({
    reason: "receiver",
    expected: receiver,
    actual: thief
  })
  expect(judge({}, { payer: thief })).toMatchObject({ reason: "payer", expected: thief, actual: payer })
  expect(judge({ logs: [log({ token: otherToken })] })).toMatchObject({
    reason: "token",
    expected: usdc,
    actual: otherToken
  })
})

test("a mismatch says whether a reorganisation can still change it", () => {
  expect(judge({ logs: [], head: 100n })).toMatchObject({ reason: "no_transfer", confirmed: false })
  expect(judge({ logs: [], head: 101n })).toMatchObject({ reason: "no_transfer", confirmed: true })
})

test("a block time beyond the calendar is reported without a crash", () => {
  const late = new Date(8_640_000_000_000_000)
  expect(judge({ blockTime: 2n ** 255n }, { notBefore: late })).toMatchObject({ _tag: "Verified" })
  expect(judge({ blockTime: -(2n ** 200n) })).toMatchObject({ reason: "too_old" })
})

test(`${row.decimals}: 14 and 6 digits are compared exactly`, () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 99_999_999_999_999_999_999n }),
      fc.bigInt({ min: -1n, max: 2n }),
      (due, off) => {
        const expected = { amount: AtomicUsdc.make(due) }
        const result = judge({ logs: [log({ value: due + off })] }, expected)
        expect(result._tag === "Verified").toBe(off === 0n)
        if (result._tag === "Verified") expect(formatUsd(result.value)).toBe(formatUsd(due))
      }
    )
  )
})

test("for any mixture of logs: verified exactly when an unclaimed exact transfer is among them", () => {
  const someLog = fc.record({
    from: fc.constantFrom(payer, thief, zero),
    to: fc.constantFrom(receiver, thief, zero),
    token: fc.constantFrom(usdc, otherToken),
    value: fc.constantFrom(amount, amount - 1n, 0n)
  })
  fc.assert(
    fc.property(
      fc.array(someLog, { maxLength: 6 }),
      fc.array(fc.nat({ max: 5 }), { maxLength: 3 }),
      (logs, excludeOrdinals) => {
        const equal = logs.flatMap((one, position) =>
          one.from === payer && one.to === receiver && one.token === usdc && one.value === amount
            ? [position]
            : []
        )
        const settles = equal.findIndex((_, ordinal) => !excludeOrdinals.includes(ordinal))
        const result = judge({ logs: logs.map(log) }, { excludeOrdinals })
        expect(result._tag === "Verified" ? [result.ordinal, result.logPosition] : [-1, -1]).toEqual([
          settles,
          equal[settles] ?? -1
        ])
      }
    ),
    { numRuns: 500 }
  )
})
