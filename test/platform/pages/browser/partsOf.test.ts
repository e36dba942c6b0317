import { expect, test } from "bun:test"
import { partsOf } from "../../../../src/platform/pages/browser/partsOf.ts"

for (const [text, data] of [
  ["You pay $10.00 in USDC on Base Sepolia.", ["$10.00"]],
  ["Sie zahlen 1.234,50 $", ["1.234,50"]],
  ["ستدفع ١٠٫٠٠ US$", ["١٠٫٠٠"]],
  ["Reference PAY-ABCDWXYZ", ["PAY-ABCDWXYZ"]],
  ["Paid by 0x12ab…89ef since 14:03", ["0x12ab…89ef", "14:03"]],
  ["12 payments of 4", ["12", "4"]],
  ["Waiting for your wallet", []]
] as const) {
  test(text, () => {
    const parts = partsOf(text)
    expect(parts.join("")).toBe(text)
    expect<ReadonlyArray<string>>(parts.filter((_, index) => index % 2 === 1)).toEqual(data)
  })
}
