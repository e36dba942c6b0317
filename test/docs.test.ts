// Documents name only files that exist.
import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { Effect, Schema } from "effect"
import { AlertKind } from "../src/domain/AlertKind.ts"
import { attemptsInWords } from "../src/domain/attemptsInWords.ts"
import { errorCodes } from "../src/domain/ErrorCode.ts"
import { networks } from "../src/domain/networks.ts"
import { commands } from "../src/packages/cli/commands.ts"
import { listen } from "../src/packages/cli/listen.ts"
import { delaySeconds } from "../src/platform/workers/RetrySchedule.ts"
import { RetryPolicy } from "../src/webhooks/RetryPolicy.ts"

const root = join(import.meta.dir, "..")
const PackageJson = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ scripts: Schema.Record(Schema.String, Schema.String) }))
)

for (const file of ["README.md", ...new Glob("docs/**/*.md").scanSync(root)].toSorted()) {
  test(`${file} names only files that exist`, () => {
    const text = readFileSync(join(root, file), "utf8")
    const named = [...text.matchAll(/`((?:src|test|migrations|docs|ops)\/[\w/.-]+\.\w+)`/g)].map(
      ([, path = ""]) => path
    )
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const links = [...text.matchAll(/\]\(((?:docs\/|\.\/|\.\.\/)?[\w/.-]+\.(?:md|png))(?:#[\w-]+)?\)/g)].map(
      ([, path = ""]) => path
    )
    expect(links.filter((path) => !existsSync(join(root, file, "..", path)))).toEqual([])
  })
}

test("the README fits one screen, and its commands are scripts of the project", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const { scripts } = PackageJson(readFileSync(join(root, "package.json"), "utf8"))
  const shown = readme.split("<details>")[0] ?? ""
  expect(shown.split("\n").length).toBeLessThanOrEqual(31)
  const commands = [...shown.matchAll(/bun(?:@[\d.]+)? run (\w+)/g)].map(([, name = ""]) => name)
  expect(new Set(commands)).toEqual(new Set(["demo", "test", "start", "chain"]))
  expect(commands.filter((name) => !(name in scripts))).toEqual([])
})

test("the README's ratios are those in docs/performance.md", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const measured = readFileSync(join(root, "docs/performance.md"), "utf8")
  const ratio = (pattern: RegExp) => Number(pattern.exec(measured)?.[1]).toFixed(1)
  const range = (pattern: RegExp) => {
    const [, lowest, highest] = pattern.exec(measured) ?? []
    return [Number(lowest), Number(highest)] as const
  }
  const opened = ratio(/^\| open payment (?:\|[^|]*){2}\| ([\d.]+)/m)
  expect(ratio(/^\| retrieve (?:\|[^|]*){2}\| ([\d.]+)/m)).toBe(opened)
  const rounds = [
    ...range(/^\| open payment (?:\|[^|]*){2}\| [\d.]+ \(([\d.]+)–([\d.]+)\)/m),
    ...range(/^\| retrieve (?:\|[^|]*){2}\| [\d.]+ \(([\d.]+)–([\d.]+)\)/m)
  ]
  const words = (bounds: ReadonlyArray<number>) =>
    `${Math.min(...bounds).toFixed(1)} to ${Math.max(...bounds).toFixed(1)}`
  expect(readme).toContain(
    `opens and retrieves ${opened} times as many payments per second as a hand-written Hono server (${words(rounds)} over the rounds)`
  )
  const queue = (name: string) => ({
    ratio: ratio(new RegExp(`^\\| ${name} \\|[^|]*\\| ([\\d.]+)`, "m")),
    rounds: words(range(new RegExp(`^\\| ${name} \\|[^|]*\\| [\\d.]+ \\(([\\d.]+)–([\\d.]+)\\)`, "m")))
  })
  const [graphile, boss] = [queue("graphile-worker"), queue("pg-boss")]
  expect(readme).toContain(
    `delivers ${graphile.ratio} times as many webhooks per second as graphile-worker (${graphile.rounds}), and ${boss.ratio} times as many as pg-boss (${boss.rounds}).`
  )
})

test("the contract states the retry policy's number of attempts, and no other document repeats it", () => {
  const attempts = attemptsInWords(Effect.runSync(Effect.flatMap(RetryPolicy, delaySeconds)))
  const sentence = `a delivery makes ${attempts}.`
  const counted = ["README.md", ...new Glob("docs/**/*.md").scanSync(root)].flatMap((file) =>
    [
      ...readFileSync(join(root, file), "utf8").matchAll(
        /a delivery makes \d[^.]*\.|\b(?:\d+|two|three|four|five|six|second|third|fourth|fifth)\b(?: failed)? attempts?\b/g
      )
    ].map(([text]) => `${file}: ${text}`)
  )
  expect(counted).toEqual([`docs/contract.md: ${sentence}`])
})

test("the runbook describes every kind of alert once", () => {
  const text = readFileSync(join(root, "docs/runbook.md"), "utf8")
  const section = /^## Alerts$([\s\S]*?)^## /m.exec(text)?.[1] ?? ""
  const cells = [...section.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = ""]) => cell)
  const kinds = cells.flatMap((cell) => cell.split(", ").map((name) => name.replaceAll("`", "")))
  expect(kinds.toSorted()).toEqual([...AlertKind.literals].toSorted())
})

test("docs/x402.md lists every code of the agent proxy that the API does not have", () => {
  const text = readFileSync(join(root, "docs/x402.md"), "utf8")
  const documented = [...text.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, code = ""]) => code)
  const codes = ["Proxy", "PayingFetch", "Mcp"].flatMap((file) =>
    [
      ...readFileSync(join(root, `src/packages/agent-proxy/${file}.ts`), "utf8").matchAll(
        /"([A-Z0-9]+_[A-Z0-9_]+)"/g
      )
    ].map(([, code = ""]) => code)
  )
  expect(new Set(codes.filter((code) => !Object.hasOwn(errorCodes, code)))).toEqual(new Set(documented))
})

test("sections that comments cite exist", () => {
  for (const document of ["contract", "threats"]) {
    const text = readFileSync(join(root, `docs/${document}.md`), "utf8")
    const sections = new Set([...text.matchAll(/^#{2,3} (\d(?:\.\d)?)/gm)].map(([, number = ""]) => number))
    // Numbered items of a section without headings of its own.
    for (const [, head = "", body = ""] of text.matchAll(/^## (\d)[^\n]*\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm))
      for (const [, item = ""] of body.matchAll(/^(\d)\. /gm)) sections.add(`${head}.${item}`)
    const cited = [...new Glob("{src,test}/**/*.{ts,tsx}").scanSync(root)].flatMap((file) =>
      [
        ...readFileSync(join(root, file), "utf8").matchAll(
          new RegExp(`docs/${document}\\.md ((?:\\d(?:\\.\\d)?(?:, | and )?)+)`, "g")
        )
      ].flatMap(([, list = ""]) => list.match(/\d(?:\.\d)?/g) ?? [])
    )
    expect(cited.length).toBeGreaterThan(5)
    expect(cited.filter((section) => !sections.has(section))).toEqual([])
  }
})

test("going-live gives the levels in the table of networks: amount, finality, time", () => {
  const text = readFileSync(join(root, "docs/guides/going-live.md"), "utf8")
  const rows = [...text.matchAll(/^\| (up to \$([\d,]+)|above) \|(.*)\| (\d+) (seconds|minutes) \|$/gm)].map(
    ([, , limit, once = "", time, unit]) => ({
      limit: limit === undefined ? undefined : Number(limit.replaceAll(",", "")),
      once,
      seconds: Number(time) * (unit === "minutes" ? 60 : 1)
    })
  )
  const { finalityLevels } = networks.live
  expect(rows.map(({ limit, seconds }) => ({ limit, seconds }))).toEqual(
    finalityLevels.map(({ limit, seconds }) => ({ limit: limit?.default, seconds }))
  )
  for (const [index, { finality }] of finalityLevels.entries())
    expect(rows[index]?.once).toContain(finality === "included" ? "every node" : `\`${finality}\``)
  const configuration = readFileSync(join(root, "docs/configuration.md"), "utf8")
  for (const { limit } of finalityLevels)
    if (limit !== undefined) expect(configuration).toContain(`| \`${limit.setting}\` | ${limit.default} |`)
  expect(networks.test.finalityRule).toEqual({
    blocks: Number(/`FINALITY_DEPTH` \| (\d+)/.exec(configuration)?.[1])
  })
})

test("the guide of the clients lists every command of the shop's command line", () => {
  const text = readFileSync(join(root, "docs/guides/clients.md"), "utf8")
  for (const [name, { summary }] of Object.entries({ ...commands, listen }))
    expect(text).toContain(`| \`${name}\` | ${summary} |`)
})
