// USD amounts. USDC has six decimals, so one atomic unit is 0.000001 USD and
// every amount the interface allows (14 integer and 6 decimal digits) is exact.
import { Schema, SchemaGetter } from "effect"

/** Atomic USDC units (1 USD = 1,000,000), from 1 to 99,999,999,999,999,999,999. */
export const AtomicUsdc = Schema.BigInt.check(
  Schema.isGreaterThanOrEqualToBigInt(1n),
  Schema.isLessThanOrEqualToBigInt(99_999_999_999_999_999_999n)
).pipe(Schema.brand("AtomicUsdc"))
export type AtomicUsdc = typeof AtomicUsdc.Type

const unitsPerUsd = 1_000_000n
const zero = "0".charCodeAt(0)

/** Parses a decimal USD string that already has the form `^\d{1,14}(\.\d{1,6})?$`. */
const parse = (text: string): bigint => {
  const [integer = "0", fraction = ""] = text.split(".")
  return BigInt(integer) * unitsPerUsd + BigInt(fraction.padEnd(6, "0"))
}

/**
 * Decimal USD with at least two decimals; further trailing zeros are dropped.
 *
 * @example formatUsd(10_000_000n) // "10.00"
 * @example formatUsd(1n) // "0.000001"
 */
export const formatUsd = (atomic: bigint): string => {
  const digits = atomic.toString().padStart(7, "0")
  let end = digits.length
  while (end > digits.length - 4 && digits.charCodeAt(end - 1) === zero) end--
  return `${digits.slice(0, -6)}.${digits.slice(-6, end)}`
}

const isDecimal = Schema.isPattern(/^[0-9]{1,14}(\.[0-9]{1,6})?$/u, {
  message: 'an amount such as "10.00", with up to 14 integer digits and 6 decimals'
})

/** A USD limit, which may be 0: a decimal string on the wire, atomic USDC in memory. */
export const UsdLimit = Schema.String.check(isDecimal)
  .annotate({ description: "USD as a decimal string, which may be 0.", examples: ["100.00"] })
  .pipe(
    Schema.decodeTo(Schema.BigInt, {
      decode: SchemaGetter.transform(parse),
      encode: SchemaGetter.transform(formatUsd)
    })
  )

/**
 * A USD amount: a decimal string on the wire, atomic USDC in memory. docs/contract.md 4.1 and 8: up to 14 integer and
 * 6 decimal digits, greater than 0, ASCII digits only.
 */
export const UsdAmount = Schema.String.check(
  isDecimal.abort(),
  Schema.isPattern(/[1-9]/u, { message: "an amount greater than 0" })
)
  .annotate({
    description: "USD as a decimal string: up to 14 integer and 6 decimal digits, greater than 0.",
    examples: ["10.00"]
  })
  .pipe(
    Schema.decodeTo(AtomicUsdc, {
      decode: SchemaGetter.transform(parse),
      encode: SchemaGetter.transform(formatUsd)
    })
  )
