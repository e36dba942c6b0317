// What docs/performance.md shows: results.data.json, a section of tables for each machine in it, and the README's
// line of five numbers, of the machine that was measured last.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { judge, type Results } from "./floors.ts"
import { aimsTable, type Machine, markdown } from "./report.ts"
import { replaceSection } from "./section.ts"
import { median } from "./statistics.ts"

const root = join(import.meta.dir, "../..")
const dataFile = join(root, "test/bench/results.data.json")
const tablesFile = join(root, "docs/performance.md")
const readmeFile = join(root, "README.md")

export interface Published extends Results {
  readonly machine: Machine
}

/** The machine that was measured last comes first. */
export const published = (): ReadonlyArray<Published> => JSON.parse(readFileSync(dataFile, "utf8"))

export const sections = (machines: ReadonlyArray<Published>): string =>
  [
    ...machines.map(
      (one) => `### ${one.machine.processor}, ${one.machine.cores} cores\n\n${markdown(one.machine, one)}`
    ),
    `### Aims\n\n${aimsTable(machines.map((one) => ({ machine: one.machine, judged: judge(one) })))}`
  ].join("\n\n")

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

/** Replaces the parts that were measured; those of another machine stay beside them. */
export const publish = (machine: Machine, results: Results): void => {
  const all = published()
  const before = all.find((one) => isSameMachine(one.machine, machine))
  const now: Published = { ...before, ...results, machine }
  const machines = [now, ...all.filter((one) => one !== before)]
  writeFileSync(dataFile, `${JSON.stringify(machines, null, 2)}\n`)
  writeFileSync(tablesFile, replaceSection(readFileSync(tablesFile, "utf8"), sections(machines)))
  const line = headline(now)
  if (line !== undefined)
    writeFileSync(readmeFile, readFileSync(readmeFile, "utf8").replace(/^\*\*Speed\*\*.*$/m, line))
}
