// The check finds the results below the floors.
import { expect, test } from "bun:test"
import { judge, type Results } from "./floors.ts"
import { loadNames } from "./loads.ts"
import { median, ratios } from "./statistics.ts"

const http = (service: number, p99 = 2): NonNullable<Results["http"]> => ({
  idleMegabytes: { service: 1, limit: 1, peer: 1 },
  loads: loadNames.map((name) => ({
    name,
    samples: {
      service: [{ perSecond: service, p50: 1, p99 }],
      limit: [{ perSecond: 100, p50: 1, p99: 2 }],
      peer: [{ perSecond: 50, p50: 1, p99: 2 }]
    },
    peakMegabytes: { service: 150, limit: 1, peer: 1 }
  }))
})
const below = (results: Results) =>
  judge(results)
    .filter(({ met }) => !met)
    .map(({ what }) => what)

test("a rate at its floor passes, below it fails; a p99 is compared with the peer's", () => {
  expect(judge({})).toEqual([])
  expect(below({ http: http(72) })).toEqual([])
  expect(below({ http: http(71) })).toEqual(loadNames.map((name) => `${name}, of the limit`))
  expect(below({ http: http(100, 2.3) })).toEqual(loadNames.map((name) => `${name}, p99 of the peer's`))
  expect(below({ http: http(Number.NaN) }).length).toBe(10)
})

test("ratios are computed within a round, and sorted only afterwards", () => {
  expect(ratios([10, 40, 30], [20, 20, 20])).toEqual({ min: 0.5, median: 1.5, max: 2 })
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([])).toBeNaN()
})
