// `bun run bench [part …]`: measures the named parts, or all, and prints their tables. `--check` fails below the floors.
import { Effect, type Scope } from "effect"
import { measureDrain } from "./drain/measureDrain.ts"
import { judge, type Results } from "./floors.ts"
import { measureGrowth } from "./growth.ts"
import { measureHttp } from "./http.ts"
import { markdown, verdicts } from "./report.ts"
import { measureStartup } from "./startup.ts"
import { measureYear } from "./year.ts"

const parts: { readonly [Part in keyof Results]-?: Effect.Effect<Results[Part], never, Scope.Scope> } = {
  http: measureHttp,
  drain: measureDrain,
  startup: measureStartup,
  growth: measureGrowth,
  year: measureYear
}
const isPart = (text: string): text is keyof Results => Object.hasOwn(parts, text)
const all = Object.keys(parts).filter(isPart)

const words = process.argv.slice(2)
if (words.some((word) => !isPart(word) && word !== "--check")) {
  console.error(`bun run bench [${all.join(" | ")}] [--check]`)
  process.exit(2)
}

const results: Results = {}
for (const part of words.some(isPart) ? all.filter((one) => words.includes(one)) : all) {
  const measure: Effect.Effect<unknown, never, Scope.Scope> = parts[part]
  Object.assign(results, { [part]: await Effect.runPromise(Effect.scoped(measure)) })
}

const judged = judge(results)
console.log(`\n${markdown(results)}\n\n${verdicts(judged)}`)
process.exit(words.includes("--check") && judged.some(({ met }) => !met) ? 1 : 0)
