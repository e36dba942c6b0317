// Results as tables in Markdown.
import { cpus, totalmem } from "node:os"
import type { DrainResult } from "./drain/measureDrain.ts"
import type { Judged, Results } from "./floors.ts"
import type { GrowthResult } from "./growth.ts"
import { type HttpResult, sampleRatios } from "./http.ts"
import { postgresVersion } from "./postgres.ts"
import { serverNames } from "./servers.ts"
import type { StartupResult } from "./startup.ts"
import { median, ratios, type Spread } from "./statistics.ts"
import type { YearResult } from "./year.ts"

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const shown = ({ min, median: middle, max }: Spread, digits = 2) =>
  `${middle.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
const rate = (value: number) => Math.round(value).toLocaleString("en")
const megabytes = (value: number) => `${value.toFixed(0)} MB`

const httpTables = ({ idleMegabytes, loads }: HttpResult) => [
  table(
    ["request", "service", "÷ limit", "÷ peer", "p50, p99"],
    loads.map((load) => [
      load.name,
      rate(median(load.samples.service.map(({ perSecond }) => perSecond))),
      shown(sampleRatios(load, "limit", "perSecond")),
      shown(sampleRatios(load, "peer", "perSecond")),
      `${median(load.samples.service.map(({ p50 }) => p50)).toFixed(1)}, ${median(load.samples.service.map(({ p99 }) => p99)).toFixed(1)} ms`
    ])
  ),
  table(
    ["", ...serverNames],
    [{ name: "at rest", peakMegabytes: idleMegabytes }, ...loads].map(({ name, peakMegabytes }) => [
      name,
      ...serverNames.map((server) => megabytes(peakMegabytes[server]))
    ])
  )
]

const drainTable = (drain: DrainResult) =>
  table(
    ["", "deliveries a second", "service ÷ queue", "memory"],
    Object.entries(drain).map(([name, { perSecond, peakMegabytes }]) => [
      name,
      rate(median(perSecond)),
      name === "service" ? "" : shown(ratios(drain.service.perSecond, perSecond)),
      megabytes(peakMegabytes)
    ])
  )

const startupTable = ({ demoSeconds, embedded, postgres }: StartupResult) =>
  table(
    ["", "seconds", "at rest"],
    [
      ["start to ready on Postgres", shown(postgres.seconds), megabytes(postgres.idleMegabytes)],
      [
        "start to ready on the existing embedded Postgres",
        shown(embedded.seconds),
        megabytes(embedded.idleMegabytes)
      ],
      ["`bun run demo --once`, installed", `${demoSeconds.toFixed(1)}`, ""]
    ]
  )

const growthTable = ({ sizes, requests }: GrowthResult) =>
  table(
    ["request", ...sizes.map(rate), "ratio"],
    requests.map(({ name, millis, ratio }) => [
      name,
      ...millis.map((one) => `${one.toFixed(2)} ms`),
      shown(ratio)
    ])
  )

const yearTable = ({ neighbour, payments, reads }: YearResult) =>
  table(
    [`a year of ${rate(payments)} payments`, "first", "again"],
    [
      ...reads.map(({ again, first, name }) => [
        name,
        `${first.toFixed(2)} s`,
        `${(again * 1_000).toFixed(1)} ms`
      ]),
      [
        "a neighbour's p99, alone and beside",
        `${neighbour.alone.toFixed(1)} ms`,
        `${neighbour.beside.toFixed(1)} ms`
      ]
    ]
  )

/** Everything that a run measured. */
export const markdown = ({ drain, growth, http, startup, year }: Results): string =>
  [
    `${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Bun ${Bun.version}, ${postgresVersion()} with default settings, ${new Date().toISOString().slice(0, 10)}.`,
    ...(http === undefined ? [] : httpTables(http)),
    ...(drain === undefined ? [] : [drainTable(drain)]),
    ...(startup === undefined ? [] : [startupTable(startup)]),
    ...(growth === undefined ? [] : [growthTable(growth)]),
    ...(year === undefined ? [] : [yearTable(year)])
  ].join("\n\n")

/** One line for each floor. */
export const verdicts = (judged: ReadonlyArray<Judged>): string =>
  judged
    .map(
      ({ what, measured, floor, met }) =>
        `${met ? "ok   " : "BELOW"} ${what}: ${measured.toFixed(2)}, floor ${floor}`
    )
    .join("\n")
