// Which results are below the floors.
import { describe, expect, test } from "bun:test"
import { judge, type Results } from "./floors.ts"
import { type LoadName, loadNames } from "./loads.ts"

const sample = (perSecond: number, p99 = 2) => ({ perSecond, p50: 1, p99 })
const load = (name: LoadName, service: number, limit: number, peer: number, p99: number) => ({
  name,
  samples: {
    service: [sample(service, p99)],
    limit: [sample(limit)],
    peer: [sample(peer)]
  },
  peakMegabytes: { service: 150, limit: 1, peer: 1 }
})
const http = (service: number, p99 = 2): NonNullable<Results["http"]> => ({
  rounds: 1,
  seconds: 1,
  connections: 1,
  idleMegabytes: { service: 1, limit: 1, peer: 1 },
  loads: loadNames.map((name) => load(name, service, 100, 50, p99))
})
const spread = (value: number) => ({ min: value, median: value, max: value })

const below = (results: Results) =>
  judge(results)
    .filter(({ met }) => !met)
    .map(({ what }) => what)

describe("floors", () => {
  test("are asked of the parts that ran alone", () => {
    expect(judge({})).toEqual([])
    expect(judge({ http: http(100) }).length).toBe(17)
  })

  test("a rate at its floor is met, below it is not", () => {
    expect(below({ http: http(72) })).toEqual([])
    expect(below({ http: http(71) })).toEqual(loadNames.map((name) => `${name}, of the limit`))
    expect(below({ http: http(20) }).length).toBe(10)
  })

  test("a p99 is held against the peer's", () => {
    expect(below({ http: http(100, 2.2) })).toEqual([])
    expect(below({ http: http(100, 2.3) })).toEqual(loadNames.map((name) => `${name}, p99 of the peer's`))
  })

  test("a time above its floor is not met, nor is what is no number", () => {
    const startup = (seconds: number): NonNullable<Results["startup"]> => ({
      starts: 1,
      postgres: { seconds: spread(seconds), idleMegabytes: 1 },
      embedded: { seconds: spread(0.5), idleMegabytes: 1 },
      demoSeconds: spread(1)
    })
    expect(below({ startup: startup(0.5) })).toEqual([])
    expect(below({ startup: startup(0.51) })).toEqual(["start on Postgres"])
    expect(below({ startup: startup(Number.NaN) })).toEqual(["start on Postgres"])
  })

  test("a drain is held against each of the queues, in its own rounds", () => {
    const contender = (name: "service" | "graphile-worker" | "pg-boss", ...perSecond: Array<number>) => ({
      name,
      settings: {},
      perSecond,
      peakMegabytes: 1
    })
    const contenders = [
      contender("service", 10, 20, 30),
      contender("graphile-worker", 5, 30, 10),
      contender("pg-boss", 30, 60, 90)
    ]
    expect(below({ drain: { deliveries: 1, contenders } })).toEqual(["drain, of pg-boss"])
  })

  test("growth is judged by the largest table", () => {
    const request = (name: string, ratio: number) => ({
      name,
      millis: [],
      ratios: [spread(1), spread(2), spread(ratio)],
      indexes: []
    })
    const requests = [
      request("retrieve", 1.1),
      request("list of 20", 1.2),
      request("dashboard: overview", 1.3)
    ]
    expect(below({ growth: { sizes: [], requests } })).toEqual(["list of 20, growth of its time"])
  })
})
