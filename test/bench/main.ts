// `bun run bench [part …]`: measures the named parts, or all. `--check` fails below the floors;
// `--publish` puts what was measured into results.data.json, docs/performance.md and the README.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { measureDrain } from "./drain/measureDrain.ts"
import { measureTorture } from "./drain/measureTorture.ts"
import { judge, type Results } from "./floors.ts"
import { measureGrowth } from "./growth.ts"
import { measureHttp } from "./http.ts"
import { measureFlood } from "./openLoop/measureFlood.ts"
import { measureOpenLoop } from "./openLoop/measureOpenLoop.ts"
import { measurePipeline } from "./pipeline.ts"
import { postgresVersion } from "./postgres.ts"
import { publish } from "./published.ts"
import { machineOf, markdown, verdicts } from "./report.ts"
import { settings } from "./settings.ts"
import { measureSettling } from "./settling/measureSettling.ts"
import { measureWeek } from "./settling/measureWeek.ts"
import { measureStartup } from "./startup.ts"
import { measureWatcher } from "./watcher.ts"
import { measureWorkers } from "./workers.ts"

const parts: { readonly [Part in keyof Results]-?: Effect.Effect<Results[Part], never, Scope.Scope> } = {
  http: measureHttp,
  openloop: measureOpenLoop,
  flood: measureFlood,
  drain: measureDrain,
  torture: measureTorture,
  pipeline: measurePipeline,
  settling: measureSettling,
  startup: measureStartup,
  growth: measureGrowth,
  week: measureWeek,
  watcher: measureWatcher,
  workers: measureWorkers
}
const isPart = (text: string): text is keyof Results => Object.hasOwn(parts, text)
const all = Object.keys(parts).filter(isPart)
const flags = ["--check", "--publish"]

const usage = (message: string): never => {
  console.error(`${message}\nbun run bench [${all.join(" | ")}] [${flags.join("] [")}]`)
  process.exit(2)
}

const words = process.argv.slice(2)
const unknown = words.find((word) => !isPart(word) && !flags.includes(word))
if (unknown !== undefined) usage(`Unknown: ${unknown}`)
const chosen = words.some(isPart) ? all.filter((part) => words.includes(part)) : all

const results: Results = {}
for (const part of chosen) {
  const begun = performance.now()
  const measure: Effect.Effect<unknown, never, Scope.Scope> = parts[part]
  Object.assign(results, { [part]: await Effect.runPromise(Effect.scoped(measure)) })
  console.log(`${part} took ${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
}

const machine = machineOf(postgresVersion())
const tables = markdown(machine, results)
const judged = judge(results)
console.log(`${tables}\n\n${verdicts(judged)}`)

const written = `${JSON.stringify({ machine, settings, ...results }, null, 2)}\n`
const file = join("bench-results", `${chosen.length === all.length ? "all" : chosen.join("-")}.json`)
mkdirSync("bench-results", { recursive: true })
writeFileSync(file, written)
console.log(`\nRaw results: ${file}`)
if (words.includes("--publish")) publish(machine, results)
process.exit(words.includes("--check") && judged.some(({ met }) => !met) ? 1 : 0)
