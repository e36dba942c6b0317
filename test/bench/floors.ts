// The floors below which `--check` fails, and the aims beside them.
import type { DrainResult } from "./drain/measureDrain.ts"
import type { GrowthResult } from "./growth.ts"
import { type HttpResult, rateRatios } from "./http.ts"
import type { LoadName } from "./loads.ts"
import type { StartupResult } from "./startup.ts"
import { ratios } from "./statistics.ts"

/** What a run measured; a run of some parts has those. */
export interface Results {
  readonly http?: HttpResult
  readonly drain?: DrainResult
  readonly startup?: StartupResult
  readonly growth?: GrowthResult
}

export interface Judged {
  readonly what: string
  readonly measured: number
  readonly floor: number
  readonly aim: number
  readonly unit: string
  readonly met: boolean
}

type Rule = Omit<Judged, "met">

const atLeast = (rule: Rule): Judged => ({ ...rule, met: rule.measured >= rule.floor })
const atMost = (rule: Rule): Judged => ({ ...rule, met: rule.measured <= rule.floor })

interface HttpFloors {
  /** Of their requests a second. */
  readonly limit: number
  readonly peer: number
  /** Of the peer's. */
  readonly p99: number
}

/** Aims that are met on each processor, less a tenth; where one is not, what would be a clear fall. */
const httpFloors: Readonly<Record<LoadName, HttpFloors>> = {
  "create intent": { limit: 0.72, peer: 1.25, p99: 1.1 },
  retrieve: { limit: 0.72, peer: 1.35, p99: 1.1 },
  "list of 20": { limit: 0.72, peer: 1.35, p99: 1.1 },
  "report, replayed": { limit: 0.72, peer: 1.35, p99: 1.1 },
  "open payment": { limit: 0.72, peer: 1.35, p99: 1.1 }
}

const judgeHttp = (http: HttpResult): ReadonlyArray<Judged> => [
  ...http.loads.flatMap((load) => [
    atLeast({
      what: `${load.name}, of the limit`,
      measured: rateRatios(load, "service", "limit").median,
      floor: httpFloors[load.name].limit,
      aim: 0.9,
      unit: ""
    }),
    atLeast({
      what: `${load.name}, of the peer`,
      measured: rateRatios(load, "service", "peer").median,
      floor: httpFloors[load.name].peer,
      aim: 1.8,
      unit: ""
    }),
    atMost({
      what: `${load.name}, p99 of the peer's`,
      measured: ratios(
        load.samples.service.map(({ p99 }) => p99),
        load.samples.peer.map(({ p99 }) => p99)
      ).median,
      floor: httpFloors[load.name].p99,
      aim: 1,
      unit: ""
    })
  ]),
  atMost({ what: "memory at rest", measured: http.idleMegabytes.service, floor: 110, aim: 80, unit: "MB" }),
  atMost({
    what: "memory under load",
    measured: Math.max(...http.loads.map(({ peakMegabytes }) => peakMegabytes.service)),
    floor: 230,
    aim: 150,
    unit: "MB"
  })
]

/** The overview grows with a merchant's day; all else takes the same time however many payments there are. */
const judgeGrowth = ({ requests }: GrowthResult): ReadonlyArray<Judged> =>
  requests.map((request) =>
    atMost({
      what: `${request.name}, growth of its time`,
      measured: request.ratios.at(-1)?.median ?? Number.NaN,
      floor: ["retrieve", "list of 20"].includes(request.name) ? 1.1 : 1.32,
      aim: 1,
      unit: ""
    })
  )

type Peer = Exclude<DrainResult["contenders"][number]["name"], "service">

/** As `httpFloors`. */
const drainFloors: Readonly<Record<Peer, { readonly floor: number; readonly aim: number }>> = {
  "graphile-worker": { floor: 2, aim: 2 },
  "pg-boss": { floor: 1.1, aim: 2 }
}

const judgeDrain = ({ contenders }: DrainResult): ReadonlyArray<Judged> => {
  const own = contenders.find(({ name }) => name === "service")?.perSecond ?? []
  return contenders.flatMap(({ name, perSecond }) =>
    name === "service"
      ? []
      : atLeast({
          ...drainFloors[name],
          what: `drain, of ${name}`,
          measured: ratios(own, perSecond).median,
          unit: ""
        })
  )
}

const judgeStartup = ({ postgres, embedded }: StartupResult): ReadonlyArray<Judged> => [
  atMost({ what: "start on Postgres", measured: postgres.seconds.median, floor: 0.5, aim: 0.25, unit: "s" }),
  atMost({
    what: "start on the embedded Postgres",
    measured: embedded.seconds.median,
    floor: 0.5,
    aim: 0.25,
    unit: "s"
  })
]

/** Each floor of what was measured. What is not a number is not met. */
export const judge = (results: Results): ReadonlyArray<Judged> => [
  ...(results.http === undefined ? [] : judgeHttp(results.http)),
  ...(results.drain === undefined ? [] : judgeDrain(results.drain)),
  ...(results.startup === undefined ? [] : judgeStartup(results.startup)),
  ...(results.growth === undefined ? [] : judgeGrowth(results.growth))
]
