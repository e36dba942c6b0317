// What docs/performance.md shows: results.data.json, its tables, and the README's line of five numbers.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Results } from "./floors.ts"
import { type Machine, markdown } from "./report.ts"
import { replaceSection } from "./section.ts"
import { median } from "./statistics.ts"

const root = join(import.meta.dir, "../..")
const dataFile = join(root, "test/bench/results.data.json")
const tablesFile = join(root, "docs/performance.md")
const readmeFile = join(root, "README.md")

export interface Published extends Results {
  readonly machine: Machine
}

export const published = (): Published => JSON.parse(readFileSync(dataFile, "utf8"))

const rounded = (value: number, step: number) => (Math.round(value / step) * step).toLocaleString("en")

/** The README's line; undefined until each of its parts is published. */
export const headline = ({ machine, http, drain, settling, startup }: Published): string | undefined => {
  const opened = http?.loads.find(({ name }) => name === "open payment")?.samples.service
  const sent = drain?.contenders.find(({ name }) => name === "service")?.perSecond
  const first = settling?.at.find(({ perSecond }) => perSecond === 500)?.alone.p50
  if (opened === undefined || sent === undefined || first === undefined || startup === undefined)
    return undefined
  const perSecond = median(opened.map((sample) => sample.perSecond))
  return [
    `**Speed**, of one process on ${machine.cores} cores that Postgres and the load share:`,
    `${rounded(perSecond, 100)} payments opened and ${rounded(median(sent), 100)} webhooks delivered a second,`,
    `${first.toFixed(0)} ms from a settlement to its webhook's first byte at 500 a second,`,
    `ready ${startup.postgres.seconds.median.toFixed(1)} s after the start,`,
    `${startup.postgres.idleMegabytes.toFixed(0)} MB at rest. [All numbers](docs/performance.md).`
  ].join(" ")
}

const isSameMachine = (one: Machine, other: Machine) =>
  one.processor === other.processor &&
  one.cores === other.cores &&
  one.bun === other.bun &&
  one.postgres === other.postgres

/** Replaces the parts that were measured; those of another machine go. */
export const publish = (machine: Machine, results: Results): void => {
  const before = published()
  const now: Published = { ...(isSameMachine(before.machine, machine) ? before : {}), ...results, machine }
  writeFileSync(dataFile, `${JSON.stringify(now, null, 2)}\n`)
  writeFileSync(tablesFile, replaceSection(readFileSync(tablesFile, "utf8"), markdown(machine, now)))
  const line = headline(now)
  if (line !== undefined)
    writeFileSync(readmeFile, readFileSync(readmeFile, "utf8").replace(/^\*\*Speed\*\*.*$/m, line))
}
