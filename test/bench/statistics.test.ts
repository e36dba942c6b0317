// The numbers that benchmarks are told by.
import { describe, expect, test } from "bun:test"
import { entriesOf, indexNames, scannedTables } from "./plans.ts"
import { median, quantile, quantiles, ratios } from "./statistics.ts"

describe("statistics", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)

  test("quantiles are values of the sample, by nearest rank, in any order", () => {
    expect(quantiles(hundred)).toEqual({ p50: 50, p99: 99 })
    expect(quantile(hundred, 0)).toBe(1)
    expect(quantile(hundred, 1)).toBe(100)
    expect(quantile([7], 0.99)).toBe(7)
    expect(quantile([], 0.5)).toBeNaN()
  })

  test("the median of an even number is between the two in the middle", () => {
    expect(median([4, 1, 3])).toBe(3)
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(median([])).toBeNaN()
  })

  test("ratios are of the same round, and sorted only after that", () => {
    expect(ratios([10, 40, 30], [20, 20, 20])).toEqual({ min: 0.5, median: 1.5, max: 2 })
    expect(ratios([10, 1], [20, 4])).toEqual({ min: 0.25, median: 0.375, max: 0.5 })
    expect(() => ratios([1], [1, 2])).toThrow("1 rounds against 2")
  })
})

describe("plans", () => {
  const log = `growth2:LOG:  duration: 0.1 ms  plan:
\tQuery Text: SELECT 1
\tIndex Scan using payments_pkey on payments  (cost=0.42..8.44 rows=1 width=218)
growth0:LOG:  duration: 0.1 ms  plan:
\tSeq Scan on payments p  (cost=0.00..1.00)
growth2:LOG:  duration: 0.1 ms  plan:
\t->  Bitmap Index Scan on payments_transaction  (cost=0.00..1.00)
\t->  Seq Scan on payments_archive  (cost=0.00..1.00)
`
  test("one database's entries, whole", () => {
    const entries = entriesOf(log, "growth2")
    expect(indexNames(entries)).toEqual(["payments_pkey", "payments_transaction"])
    expect(scannedTables(entries, ["payments"])).toEqual([])
    expect(scannedTables(entriesOf(log, "growth0"), ["payments"])).toEqual(["payments"])
  })
})
