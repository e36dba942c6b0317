// A merchant's limits make levels stricter, never looser.
import { expect, test } from "bun:test"
import { finalityFor, stricterLevels } from "../../src/domain/Finality.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { networks, settlementLevelsOf } from "../../src/domain/networks.ts"

const usd = 1_000_000n
const operators = settlementLevelsOf(networks.live)
const limitsWith = (limits: Parameters<typeof stricterLevels>[1]) =>
  stricterLevels(operators, limits).map(({ upTo }) => (upTo === null ? null : Number(upTo / usd)))

test("own limits replace the operator's only if they are lower", () => {
  expect(limitsWith({})).toEqual([100, 10_000, null])
  expect(limitsWith({ included: 20n * usd })).toEqual([20, 10_000, null])
  expect(limitsWith({ included: 0n, safe: 500n * usd })).toEqual([0, 500, null])
  expect(limitsWith({ included: 500n * usd, safe: 50_000n * usd, finalized: 1n })).toEqual([
    100,
    10_000,
    null
  ])
})

test("a limit of zero for `safe` leaves only `finalized`", () => {
  expect(limitsWith({ safe: 50n * usd })).toEqual([50, 50, null])
  const levels = stricterLevels(operators, { safe: 0n })
  expect(finalityFor(AtomicUsdc.make(1n), levels)).toBe("finalized")
})

test("a network with one level has no limit to make stricter", () => {
  const levels = settlementLevelsOf(networks.test)
  expect(stricterLevels(levels, { confirmed: 1n, safe: 1n })).toEqual([...levels])
})
