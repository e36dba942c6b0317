import { expect, test } from "bun:test"
import { typedAmount } from "../../../../src/checkout/pages/links/typedAmount.ts"

test("a decimal comma counts as a point, and a possible thousands separator is refused", () => {
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

test("digits and signs of other scripts, and invisible characters of a keyboard, are read as a decimal", () => {
  for (const [typed, amount] of [
    ["٧٫٥٠", "7.50"],
    ["\u200f۱۲٫۵\u200f", "12.5"],
    ["７．５", "7.5"],
    ["７，５", "7.5"],
    ["٧،٥", "7.5"],
    ["١٬٠٠٠", undefined],
    ["１，０００", undefined],
    ["5²", "5²"]
  ] as const)
    expect(typedAmount(typed)).toBe(amount)
})
