// Amounts: decimal text and atomic units are the same number, to the last digit.
import { describe, expect, test } from "bun:test"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { AtomicUsdc, formatUsd, UsdAmount } from "../../src/domain/Money.ts"
import { row } from "../support/attackRows.ts"

const decode = Schema.decodeUnknownResult(UsdAmount)
const encode = Schema.encodeSync(UsdAmount)
const atomicOf = (text: unknown) => {
  const decoded = decode(text)
  return Result.isSuccess(decoded) ? BigInt(decoded.success) : undefined
}

describe(row.decimals, () => {
  for (const [text, atomic, shown] of [
    ["10", 10_000_000n, "10.00"],
    ["0.000001", 1n, "0.000001"],
    ["0.1", 100_000n, "0.10"],
    ["0.10", 100_000n, "0.10"],
    ["1.5", 1_500_000n, "1.50"],
    ["1.050", 1_050_000n, "1.05"],
    ["1.123", 1_123_000n, "1.123"],
    ["1.100001", 1_100_001n, "1.100001"],
    ["00010.00", 10_000_000n, "10.00"],
    ["100.00", 100_000_000n, "100.00"],
    ["99999999999999.999999", 99_999_999_999_999_999_999n, "99999999999999.999999"]
  ] as const) {
    test(`${text} is ${atomic} units and is shown as ${shown}`, () => {
      expect(atomicOf(text)).toBe(atomic)
      expect(encode(AtomicUsdc.make(atomic))).toBe(shown)
      expect(formatUsd(atomic)).toBe(shown)
    })
  }
  for (const text of [
    "0",
    "0.0",
    "0.000000",
    "",
    ".5",
    "5.",
    "1.0000001",
    "100000000000000",
    "1e2",
    "+1",
    "-1",
    " 1",
    "1 ",
    "1,5",
    "１",
    "0x10",
    "1_0",
    "1\n",
    "NaN",
    1,
    1n,
    null,
    undefined,
    ["1"]
  ]) {
    test(`${typeof text} ${Bun.inspect(text)} is no valid amount`, () =>
      expect(atomicOf(text)).toBeUndefined())
  }
  test("10,000 amounts of up to 14 and 6 digits survive a round trip", () => {
    const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`))
    fc.assert(
      fc.property(digits(14), fc.option(digits(6)), (integer, fraction) => {
        const text = fraction === null ? integer : `${integer}.${fraction}`
        const atomic = atomicOf(text)
        const plain = BigInt(integer + (fraction ?? "").padEnd(6, "0"))
        expect(atomic).toBe(plain === 0n ? undefined : plain)
        if (atomic !== undefined) expect(atomicOf(formatUsd(atomic))).toBe(atomic)
      }),
      { numRuns: 10_000 }
    )
  })
  test("atomic amounts are from 1 to 20 nines", () => {
    const is = Schema.is(AtomicUsdc)
    expect([0n, -1n, 1n, 10n ** 20n - 1n, 10n ** 20n].map((one) => is(one))).toEqual([
      false,
      false,
      true,
      true,
      false
    ])
  })
})
