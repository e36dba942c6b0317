// The floors below which `--check` fails.
import type { DrainResult } from "./drain/measureDrain.ts"
import type { GrowthResult } from "./growth.ts"
import { type HttpResult, type LoadResult, sampleRatios } from "./http.ts"
import type { StartupResult } from "./startup.ts"
import { ratios } from "./statistics.ts"
import type { YearResult } from "./year.ts"

/** The measurements of a run; a run of some parts has only theirs. */
export interface Results {
  readonly http?: HttpResult
  readonly drain?: DrainResult
  readonly startup?: StartupResult
  readonly growth?: GrowthResult
  readonly year?: YearResult
}

export interface Judged {
  readonly what: string
  readonly measured: number
  readonly floor: number
  readonly met: boolean
}

/** A measurement that is not a number fails. */
const atLeast = (what: string, measured: number, floor: number): Judged => ({
  what,
  measured,
  floor,
  met: measured >= floor
})
const atMost = (what: string, measured: number, floor: number): Judged => ({
  what,
  measured,
  floor,
  met: measured <= floor
})

/** The values reached on each processor, less a tenth. */
const judgeLoad = (load: LoadResult): ReadonlyArray<Judged> => [
  atLeast(`${load.name}, of the limit`, sampleRatios(load, "limit", "perSecond").median, 0.72),
  atLeast(
    `${load.name}, of the peer`,
    sampleRatios(load, "peer", "perSecond").median,
    load.name === "create intent" ? 1.25 : 1.35
  ),
  atMost(`${load.name}, p99 of the peer's`, sampleRatios(load, "peer", "p99").median, 1.1)
]

const judgeHttp = ({ idleMegabytes, loads }: HttpResult): ReadonlyArray<Judged> => [
  ...loads.flatMap(judgeLoad),
  atMost("memory at rest, MB", idleMegabytes.service, 110),
  atMost("memory under load, MB", Math.max(...loads.map((load) => load.peakMegabytes.service)), 230)
]

const judgeDrain = (drain: DrainResult): ReadonlyArray<Judged> =>
  [["graphile-worker", 2] as const, ["pg-boss", 1.1] as const].map(([name, floor]) =>
    atLeast(`drain, of ${name}`, ratios(drain.service.perSecond, drain[name].perSecond).median, floor)
  )

const judgeStartup = ({ postgres, embedded }: StartupResult): ReadonlyArray<Judged> => [
  atMost("start on Postgres, s", postgres.seconds.median, 0.5),
  atMost("start on the embedded Postgres, s", embedded.seconds.median, 0.5)
]

/** The overview grows with a merchant's day; everything else takes the same time however many payments there are. */
const judgeGrowth = ({ requests }: GrowthResult): ReadonlyArray<Judged> =>
  requests.map(({ name, ratio }) =>
    atMost(
      `${name}, growth of its time`,
      ratio.median,
      ["retrieve", "list of 20"].includes(name) ? 1.1 : 1.32
    )
  )

const judgeYear = ({ neighbour, payments, reads }: YearResult): ReadonlyArray<Judged> => [
  ...reads.map(({ again, name }) => atMost(`${name} of a year, ${payments} payments, s`, again, 0.5)),
  atMost("a neighbour's p99 beside reads of a year", neighbour.ratio, 1.2),
  atMost("a neighbour's openings that failed", neighbour.failed, 0)
]

/** Each measurement's floor. */
export const judge = ({ drain, growth, http, startup, year }: Results): ReadonlyArray<Judged> => [
  ...(http === undefined ? [] : judgeHttp(http)),
  ...(drain === undefined ? [] : judgeDrain(drain)),
  ...(startup === undefined ? [] : judgeStartup(startup)),
  ...(growth === undefined ? [] : judgeGrowth(growth)),
  ...(year === undefined ? [] : judgeYear(year))
]
