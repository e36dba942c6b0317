// `bun run bench [part …]`: measures the named parts, or all, and prints their tables. `--check` fails below the floors.
import { Effect, type Scope } from "effect"
import { measureDrain } from "./drain/measureDrain.ts"
import { judge, type Results } from "./floors.ts"
import { measureGrowth } from "./growth.ts"
import { measureHttp } from "./http.ts"
import { postgresVersion } from "./postgres.ts"
import { machineOf, markdown, verdicts } from "./report.ts"
import { measureStartup } from "./startup.ts"

const parts: { readonly [Part in keyof Results]-?: Effect.Effect<Results[Part], never, Scope.Scope> } = {
  http: measureHttp,
  drain: measureDrain,
  startup: measureStartup,
  growth: measureGrowth
}
const isPart = (text: string): text is keyof Results => Object.hasOwn(parts, text)
const all = Object.keys(parts).filter(isPart)
const flags = ["--check"]

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

const judged = judge(results)
console.log(`${markdown(machineOf(postgresVersion()), results)}\n\n${verdicts(judged)}`)
process.exit(words.includes("--check") && judged.some(({ met }) => !met) ? 1 : 0)
