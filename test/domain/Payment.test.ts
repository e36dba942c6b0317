// The state machine of docs/contract.md 3: what a report means for a payment, and
// when two reports are the same evidence.
import { describe, expect, test } from "bun:test"
import { Result, Schema } from "effect"
import { Address, type Env, TransactionHash } from "../../src/domain/Chain.ts"
import { networks } from "../../src/domain/networks.ts"
import { type Evidence, isSameEvidence, judgeReport, type Payment } from "../../src/domain/Payment.ts"
import { isSameTokenChanges, TokenChange } from "../../src/domain/TokenChange.ts"
import { aPayment } from "../support/aPayment.ts"
import { row } from "../support/attackRows.ts"
import { hash, payer, receiver, thief } from "../support/rawReceipts.ts"

const change = (changes: Partial<TokenChange> = {}): TokenChange => ({
  amountAtomic: "5",
  chainId: 84532,
  receiver,
  tokenAddress: networks.test.usdc.address,
  ...changes
})
const evidence: Evidence = { transactionId: hash("01"), payer, tokenChanges: [change()] }
const others: ReadonlyArray<readonly [string, Evidence]> = [
  ["another transaction", { ...evidence, transactionId: hash("02") }],
  ["another payer", { ...evidence, payer: thief }],
  ["other token changes", { ...evidence, tokenChanges: [change({ amountAtomic: "6" })] }],
  ["no token changes", { ...evidence, tokenChanges: [] }],
  ["a further token change", { ...evidence, tokenChanges: [change(), change()] }]
]
/** By the table only: nothing that is closed by default is open here. */
const executes = (env: Env) => networks[env].execution === "open"
const payment = (env: Env, status: Payment["status"], reported: Evidence | null): Payment =>
  aPayment({
    env,
    status,
    reported: reported === null ? null : { at: new Date(1), evidence: reported },
    settledAt: status === "settled" ? new Date(2) : null,
    failureReason: status === "failed" ? "expired" : null
  })

describe("the meaning of a report", () => {
  test("a pending test payment: verify it", () =>
    expect(judgeReport(payment("test", "pending", null), evidence, executes)).toBe("verify"))
  test("a pending live payment: record it, unverified", () =>
    expect(judgeReport(payment("live", "pending", null), evidence, executes)).toBe("record"))
  for (const env of ["test", "live"] as const) {
    test(`the same evidence for a settled ${env} payment: replayed`, () =>
      expect(judgeReport(payment(env, "settled", evidence), { ...evidence }, executes)).toBe("replay"))
    for (const [name, other] of others) {
      test(`other evidence for a settled ${env} payment: ${name} conflicts; ${row.replaced}`, () =>
        expect(judgeReport(payment(env, "settled", evidence), other, executes)).toBe("conflict"))
    }
  }
  test("a failed test payment: a transfer that is proven late still pays", () =>
    expect(judgeReport(payment("test", "failed", null), evidence, executes)).toBe("verify"))
  test("a live payment never locks in a first report", () =>
    expect(judgeReport(payment("live", "pending", evidence), evidence, executes)).toBe("record"))
})

describe("the same evidence", () => {
  test("is the same in every field", () => {
    expect(isSameEvidence(evidence, { ...evidence })).toBe(true)
    for (const [, other] of others) {
      expect(isSameEvidence(evidence, other)).toBe(false)
      expect(isSameEvidence(other, evidence)).toBe(false)
    }
  })
  test(`${row.spelling}: a hash with a capital letter is no transaction id, so one hash has one spelling`, () => {
    const is = Schema.is(TransactionHash)
    expect(is(`0x${"ab".repeat(32)}`)).toBe(true)
    for (const odd of [
      `0x${"AB".repeat(32)}`,
      "ab".repeat(32),
      `0x${"ab".repeat(31)}`,
      `0x${"ab".repeat(33)}`,
      `0X${"ab".repeat(32)}`
    ]) {
      expect(is(odd)).toBe(false)
    }
  })
})

describe("token changes", () => {
  const same = (left: ReadonlyArray<TokenChange>, right: ReadonlyArray<TokenChange>) =>
    isSameTokenChanges(left, right)
  test("compare without order and letter case", () => {
    const lower = change({
      receiver: Address.make(`0x${receiver.slice(2).toLowerCase()}`),
      tokenAddress: Address.make(`0x${networks.test.usdc.address.slice(2).toLowerCase()}`)
    })
    const two = change({ amountAtomic: "7" })
    expect(same([change()], [lower])).toBe(true)
    expect(same([lower], [change()])).toBe(true)
    expect(same([change(), two], [two, lower])).toBe(true)
    expect(same([two, change()], [lower, two])).toBe(true)
    expect(same([], [])).toBe(true)
  })
  for (const [name, other] of [
    ["amount", change({ amountAtomic: "6" })],
    ["chain", change({ chainId: 42161 })],
    ["receiver", change({ receiver: thief })],
    ["token", change({ tokenAddress: networks.live.usdc.address })]
  ] as const) {
    test(`another ${name} is another change`, () => {
      expect(same([change()], [other])).toBe(false)
      expect(same([change(), other], [change(), change()])).toBe(false)
    })
  }
  test("one token more or less is a different change", () => {
    expect(same([change()], [change(), change()])).toBe(false)
    expect(same([change(), change()], [change()])).toBe(false)
    expect(same([change()], [])).toBe(false)
    expect(same([], [change()])).toBe(false)
  })
  for (const amount of ["0", "1", "10", `1${"0".repeat(77)}`]) {
    test(`${amount} is an atomic amount`, () =>
      expect(
        Result.isSuccess(Schema.decodeUnknownResult(TokenChange)(change({ amountAtomic: amount })))
      ).toBe(true))
  }
  for (const amount of [
    "",
    "00",
    "01",
    "-1",
    "1.0",
    "1e3",
    "0x1",
    " 1",
    "1 ",
    "a1",
    "1a",
    `1${"0".repeat(78)}`
  ]) {
    test(`${Bun.inspect(amount)} is no atomic amount`, () =>
      expect(
        Result.isFailure(Schema.decodeUnknownResult(TokenChange)(change({ amountAtomic: amount })))
      ).toBe(true))
  }
})
