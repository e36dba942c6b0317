// Results as tables in Markdown, ratios first.
import { cpus, totalmem } from "node:os"
import type { DrainResult } from "./drain/measureDrain.ts"
import type { Judged, Results } from "./floors.ts"
import type { GrowthResult } from "./growth.ts"
import { type HttpResult, type LoadResult, rateRatios } from "./http.ts"
import { type ServerName, serverNames } from "./servers.ts"
import type { StartupResult } from "./startup.ts"
import { median, ratios, type Spread } from "./statistics.ts"

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGiB: number
  readonly bun: string
  readonly postgres: string
  readonly day: string
}

export const machineOf = (postgres: string): Machine => ({
  processor: cpus()[0]?.model.trim() ?? "unknown",
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  bun: Bun.version,
  postgres,
  day: new Date().toISOString().slice(0, 10)
})

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const shownSpread = ({ min, median: middle, max }: Spread, digits = 2) =>
  `${middle.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
const rate = (value: number) => Math.round(value).toLocaleString("en")
const megabytes = (value: number) => `${value.toFixed(0)} MB`

const titles: Readonly<Record<ServerName, string>> = {
  service: "service",
  limit: "limit",
  peer: "peer"
}

const middleSample = ({ samples }: LoadResult, name: ServerName) => {
  const all = samples[name]
  return {
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    p50: median(all.map(({ p50 }) => p50)),
    p99: median(all.map(({ p99 }) => p99))
  }
}

const httpTables = (http: HttpResult) => [
  `Requests a second, as ratios of the same round: the median of ${http.rounds} rounds of ${http.seconds} s, least to most in brackets.`,
  table(
    ["work", "of the limit", "of the peer"],
    http.loads.map((load) => [
      load.name,
      shownSpread(rateRatios(load, "service", "limit")),
      shownSpread(rateRatios(load, "service", "peer"))
    ])
  ),
  `Requests a second at ${http.connections} connections, with the times that half and 99 of 100 stay below:`,
  table(
    ["work", ...serverNames.map((name) => titles[name])],
    http.loads.map((load) => [
      load.name,
      ...serverNames.map((name) => {
        const { perSecond, p50, p99 } = middleSample(load, name)
        return `${rate(perSecond)} (${p50.toFixed(1)}, ${p99.toFixed(1)} ms)`
      })
    ])
  ),
  "Memory, at rest after the start and the most under each load:",
  table(
    ["", ...serverNames.map((name) => titles[name])],
    [
      ["at rest", ...serverNames.map((name) => megabytes(http.idleMegabytes[name]))],
      ...http.loads.map((load) => [
        load.name,
        ...serverNames.map((name) => megabytes(load.peakMegabytes[name]))
      ])
    ]
  )
]

const drainTable = ({ deliveries, contenders }: DrainResult) => {
  const own = contenders.find(({ name }) => name === "service")?.perSecond ?? []
  return [
    `Draining ${rate(deliveries)} due deliveries to one local receiver, each sent and its outcome recorded:`,
    table(
      ["", "service, of it", "deliveries a second", "memory", "settings"],
      contenders.map(({ name, perSecond, peakMegabytes, settings }) => [
        name,
        name === "service" ? "" : shownSpread(ratios(own, perSecond)),
        rate(median(perSecond)),
        megabytes(peakMegabytes),
        Object.entries(settings)
          .map(([key, value]) => `${key} ${value}`)
          .join(", ")
      ])
    )
  ]
}

const growthTable = ({ sizes, requests }: GrowthResult) => [
  "One request at a time, median, by the number of payments over 200 merchants, and the ratio of the largest to the smallest:",
  table(
    ["request", "ratio", ...sizes.map(rate)],
    requests.map(({ name, millis: bySize, ratios: toSmallest }) => [
      name,
      shownSpread(toSmallest.at(-1) ?? { min: Number.NaN, median: Number.NaN, max: Number.NaN }),
      ...bySize.map((rounds) => `${median(rounds).toFixed(2)} ms`)
    ])
  )
]

const startupTable = ({ demoSeconds, embedded, postgres }: StartupResult) => [
  table(
    ["", "seconds", "at rest"],
    [
      ["start to ready on Postgres", shownSpread(postgres.seconds), megabytes(postgres.idleMegabytes)],
      [
        "start to ready on the existing embedded Postgres",
        shownSpread(embedded.seconds),
        megabytes(embedded.idleMegabytes)
      ],
      ["`bun run demo --once`, installed", shownSpread(demoSeconds, 1), ""]
    ]
  )
]

/** The whole of what a run measured. */
export const markdown = (machine: Machine, { drain, growth, http, startup }: Results): string =>
  [
    `${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, Bun ${machine.bun}, ${machine.postgres} with default settings (autovacuum by hand), ${machine.day}. Servers, Postgres and load share the cores.`,
    ...(http === undefined ? [] : httpTables(http)),
    ...(drain === undefined ? [] : drainTable(drain)),
    ...(startup === undefined ? [] : startupTable(startup)),
    ...(growth === undefined ? [] : growthTable(growth))
  ].join("\n\n")

const number = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2))

/** One line for each floor. */
export const verdicts = (judged: ReadonlyArray<Judged>): string =>
  judged
    .map(({ what, measured, floor, aim, unit, met }) =>
      `${met ? "ok   " : "BELOW"} ${what.padEnd(36)} ${number(measured).padStart(8)} ${unit.padEnd(2)} floor ${floor}, aim ${aim}`.trimEnd()
    )
    .join("\n")
