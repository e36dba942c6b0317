import { expect, test } from "bun:test"
import { typedAmount } from "../../../src/links/pages/typedAmount.ts"

test("a decimal comma is a point, and a sign that may part thousands is refused", () => {
  for (const [typed, amount] of [
    ["7.5", "7.5"],
    [" 7,50 ", "7.50"],
    ["1000", "1000"],
    ["7.123456", "7.123456"],
    ["1,000", undefined],
    ["1.000", undefined],
    ["1,000.50", undefined],
    ["1 000", undefined],
    ["1’000,5", undefined],
    ["12.345.678", undefined]
  ] as const)
    expect(typedAmount(typed)).toBe(amount)
})
