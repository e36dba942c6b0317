// Amounts as servers write them, and what becomes of them (docs/contract.md 4.1 and 8).

/** Those that are good, with the payment's amount as it is shown, and in atomic units. */
type Good = readonly [asked: string, shown: string, atomic: bigint]
export const goodAmounts: readonly [Good, ...ReadonlyArray<Good>] = [
  ["0.000001", "0.000001", 1n],
  ["0.00001", "0.00001", 10n],
  ["1", "1.00", 1_000_000n],
  ["1.1", "1.10", 1_100_000n],
  ["1.10", "1.10", 1_100_000n],
  ["0.5", "0.50", 500_000n],
  ["10.000", "10.00", 10_000_000n],
  ["12.345678", "12.345678", 12_345_678n],
  ["100.0101", "100.0101", 100_010_100n],
  ["007.25", "7.25", 7_250_000n],
  ["99999999999999.999999", "99999999999999.999999", 99_999_999_999_999_999_999n],
  ["10000000000000", "10000000000000.00", 10_000_000_000_000_000_000n]
]

export const badAmounts: readonly [string, ...ReadonlyArray<string>] = [
  "",
  ...["0", "0.00", "0.000000", ".5", "1.", "1.0000001", "1.2.3", "1,5", "1e3", "0x1"],
  ...["-1", "+1", " 1", "1 ", "1\n", "100000000000000", "x1", "1x", "1.5x", "１", "٣", "1/2", "1_000"]
]
