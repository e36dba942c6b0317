// Results as tables in Markdown, ratios first.
import { cpus, totalmem } from "node:os"
import { Predicate } from "effect"
import type { DrainResult } from "./drain/measureDrain.ts"
import type { TortureResult } from "./drain/measureTorture.ts"
import { isAtLeast, type Judged, meetsAim, type Results } from "./floors.ts"
import type { GrowthResult } from "./growth.ts"
import { type HttpResult, type LoadResult, rateRatios } from "./http.ts"
import type { Arrivals } from "./openLoop/arrivals.ts"
import type { FloodResult } from "./openLoop/measureFlood.ts"
import { type OpenLoopResult, shares } from "./openLoop/measureOpenLoop.ts"
import type { PipelineResult } from "./pipeline.ts"
import { type ServerName, serverNames } from "./servers.ts"
import { hangingEndpoints } from "./settings.ts"
import type { SettlingResult } from "./settling/measureSettling.ts"
import type { WeekResult } from "./settling/measureWeek.ts"
import type { StartupResult } from "./startup.ts"
import { median, type Quantiles, ratios, type Spread } from "./statistics.ts"
import type { WatcherResult } from "./watcher.ts"
import type { WorkersResult } from "./workers.ts"

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
const millis = ({ p50, p99 }: Quantiles) => `${p50.toFixed(1)} ms (p99 ${p99.toFixed(1)} ms)`
const megabytes = (value: number) => `${value.toFixed(0)} MB`

const titles: Readonly<Record<ServerName, string>> = {
  service: "service",
  limit: "limit",
  peer: "peer",
  embedded: "service on its embedded Postgres"
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
    ["work", "of the limit", "of the peer", "embedded, of the service on Postgres"],
    http.loads.map((load) => [
      load.name,
      shownSpread(rateRatios(load, "service", "limit")),
      shownSpread(rateRatios(load, "service", "peer")),
      shownSpread(rateRatios(load, "embedded", "service"))
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

const openLoopTable = ({ seconds, loads }: OpenLoopResult) => [
  `Requests that arrive at random at a fixed rate, a part of the most that each server takes, for ${seconds} s: the times that half, 99 of 100 and 999 of 1,000 stay below, from the planned arrival to the end of the answer. The load's clock ticks once a millisecond.`,
  table(
    ["work", "server", "the most", ...shares.map((share) => `at ${100 * share} %`)],
    loads.flatMap(({ name, of }) =>
      of.map(({ server, maximum, arrivals }) => [
        name,
        server,
        `${rate(maximum)}/s`,
        ...arrivals.map(({ p50, p99, p999 }) => `${p50.toFixed(1)}, ${p99.toFixed(1)}, ${p999.toFixed(1)} ms`)
      ])
    )
  )
]

const floodTable = ({ rate: perSecond, reportRate, rounds, seconds }: FloodResult) => {
  const quiet = rounds.map((round) => round.quiet.p99)
  const most = median(rounds.map(({ reportsPerSecond }) => reportsPerSecond))
  const row = (beside: string, of: (round: FloodResult["rounds"][number]) => Arrivals) => {
    const p99 = rounds.map((round) => of(round).p99)
    return `| ${beside} | ${median(rounds.map((round) => of(round).p50)).toFixed(1)} ms | ${median(p99).toFixed(1)} ms | ${shownSpread(ratios(p99, quiet))} |`
  }
  return [
    `${perSecond} retrieves a second for ${seconds} s, quiet and beside reports, each under a token whose signer is not known:`,
    [
      "| reports a second | median | p99 | of the quiet p99 |",
      "| --- | --- | --- | --- |",
      row("none", ({ quiet: one }) => one),
      row(`${rate(reportRate)}, arriving`, ({ arriving }) => arriving),
      row(`${rate(most)}, as many as 32 connections bring`, ({ flooded }) => flooded)
    ].join("\n")
  ]
}

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

const tortureRow = (name: string, pairs: TortureResult["besideHanging"]) => {
  const beside = pairs.map((pair) => pair.beside)
  const alone = pairs.map((pair) => pair.alone)
  return [name, rate(median(beside)), rate(median(alone)), shownSpread(ratios(beside, alone))]
}

const tortureTable = ({ deliveries, openSeconds, besideHanging, besideTransaction }: TortureResult) => [
  `The service's drain of ${rate(deliveries)} again, over and over without emptying the tables, in turn with another instance on a database of its own where nothing disturbs: beside ${hangingEndpoints} endpoints that hang, each with 200 deliveries due; and in the last third of a transaction that stays open for ${openSeconds} s, in which vacuum removes nothing:`,
  table(
    ["", "deliveries a second", "undisturbed", "ratio"],
    [
      tortureRow(`beside ${hangingEndpoints} that hang`, besideHanging),
      tortureRow("beside the open transaction", besideTransaction)
    ]
  )
]

const settlingTable = ({ seconds, at }: SettlingResult) => [
  `From a committed settlement to the first byte at the receiver, of ${seconds} s at each rate, alone and beside ${hangingEndpoints} endpoints that hang, each with 200 deliveries due. Payments settle in the service's process, without reports:`,
  table(
    ["settlements a second", "alone", `beside ${hangingEndpoints} that hang`],
    at.map(({ perSecond, alone, besideHanging }) => [rate(perSecond), millis(alone), millis(besideHanging)])
  )
]

const workersTable = ({ counts, idleMegabytes, loads, rounds, seconds }: WorkersResult) => {
  const perSecond = (samples: ReadonlyArray<{ readonly perSecond: number }> = []) =>
    samples.map((sample) => sample.perSecond)
  return [
    `Requests a second by WORKERS, and of one process in the same round (${rounds} rounds of ${seconds} s). Processes, Postgres and load share the cores: what a second process adds here is what the others leave.`,
    table(
      ["work", ...counts.map((count) => (count === 1 ? "1 process" : `${count} processes, of one`))],
      [
        ...loads.map(({ name, samples }) => [
          name,
          ...samples.map((one, index) =>
            index === 0
              ? rate(median(perSecond(one)))
              : `${rate(median(perSecond(one)))}, ${shownSpread(ratios(perSecond(one), perSecond(samples[0])))}`
          )
        ]),
        ["at rest, all processes", ...idleMegabytes.map(megabytes)]
      ]
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

const weekTable = ({ payments, minutes, tables }: WeekResult) => [
  `A week of ten payments a minute (${rate(payments)}), opened, settled and delivered in ${minutes.toFixed(0)} minutes beside autovacuum as it is by default; a minute later:`,
  table(
    ["table", "rows", "dead", "with its indexes", "of the least", "autovacuums"],
    tables.map(({ name, rows, dead, megabytes: size, leastMegabytes, vacuums }) => [
      name,
      rate(rows),
      rate(dead),
      megabytes(size),
      (size / leastMegabytes).toFixed(2),
      String(vacuums)
    ])
  )
]

const watcherTable = ({ blockSeconds, at }: WatcherResult) => [
  `What a block costs the service, one every ${blockSeconds} s, by how many addresses wait to be paid, less what it takes while no block comes:`,
  table(
    ["addresses", "its processor", "requests to the node", "transactions"],
    at.map(({ addresses, cpuMillis, requests, transactions }) => [
      rate(addresses),
      `${cpuMillis.toFixed(1)} ms`,
      requests.toFixed(1),
      transactions.toFixed(1)
    ])
  )
]

const otherTable = (pipeline: PipelineResult | undefined, startup: StartupResult | undefined) => {
  const rows: Array<ReadonlyArray<string>> = []
  if (pipeline !== undefined) {
    rows.push(
      ["report to settled, against anvil, at 50 a second", millis(pipeline.reportToSettled)],
      ["settlement to first byte at the receiver", millis(pipeline.settledToFirstByte)]
    )
  }
  if (startup !== undefined) {
    const { postgres, embedded, demoSeconds } = startup
    rows.push(
      [
        "start to ready on Postgres",
        `${shownSpread(postgres.seconds)} s, ${megabytes(postgres.idleMegabytes)} at rest`
      ],
      [
        "start to ready on the existing embedded Postgres",
        `${shownSpread(embedded.seconds)} s, ${megabytes(embedded.idleMegabytes)} at rest`
      ],
      ["`bun run demo --once`, installed", `${shownSpread(demoSeconds, 1)} s`]
    )
  }
  return rows.length === 0 ? [] : [table(["", ""], rows)]
}

/** The whole of what a run measured. */
export const markdown = (
  machine: Machine,
  {
    http,
    openloop,
    flood,
    drain,
    torture,
    pipeline,
    settling,
    startup,
    growth,
    week,
    workers,
    watcher
  }: Results
): string =>
  [
    `${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, Bun ${machine.bun}, ${machine.postgres} with default settings (autovacuum by hand), ${machine.day}. Servers, Postgres and load share the cores.`,
    ...(http === undefined ? [] : httpTables(http)),
    ...(openloop === undefined ? [] : openLoopTable(openloop)),
    ...(flood === undefined ? [] : floodTable(flood)),
    ...(drain === undefined ? [] : drainTable(drain)),
    ...(torture === undefined ? [] : tortureTable(torture)),
    ...otherTable(pipeline, startup),
    ...(settling === undefined ? [] : settlingTable(settling)),
    ...(growth === undefined ? [] : growthTable(growth)),
    ...(week === undefined ? [] : weekTable(week)),
    ...(watcher === undefined ? [] : watcherTable(watcher)),
    ...(workers === undefined ? [] : workersTable(workers))
  ].join("\n\n")

const number = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2))

/** Each aim beside what was measured on each machine. */
export const aimsTable = (
  machines: ReadonlyArray<{ readonly machine: Machine; readonly judged: ReadonlyArray<Judged> }>
): string => {
  const whats = new Set(machines.flatMap(({ judged }) => judged.map(({ what }) => what)))
  return table(
    ["", "aim", ...machines.map(({ machine }) => machine.processor)],
    [...whats].map((what) => {
      const found = machines.map(({ judged }) => judged.find((one) => one.what === what))
      const rule = found.find(Predicate.isNotUndefined)
      const aim =
        rule === undefined ? "" : `${isAtLeast(rule) ? "at least" : "at most"} ${rule.aim} ${rule.unit}`
      return [
        what,
        aim.trimEnd(),
        ...found.map((one) =>
          one === undefined
            ? ""
            : `${`${number(one.measured)} ${one.unit}`.trimEnd()}${meetsAim(one) ? "" : ", missed"}`
        )
      ]
    })
  )
}

/** One line for each floor. */
export const verdicts = (judged: ReadonlyArray<Judged>): string =>
  judged
    .map(({ what, measured, floor, aim, unit, met }) =>
      `${met ? "ok   " : "BELOW"} ${what.padEnd(36)} ${number(measured).padStart(8)} ${unit.padEnd(2)} floor ${floor}, aim ${aim}`.trimEnd()
    )
    .join("\n")
