// Documents name files that are there.
import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { Effect, Schema } from "effect"
import { attemptsInWords } from "../src/domain/attemptsInWords.ts"
import { networks } from "../src/domain/networks.ts"
import { delaySeconds } from "../src/platform/workers/RetrySchedule.ts"
import { RetryPolicy } from "../src/webhooks/RetryPolicy.ts"

const root = join(import.meta.dir, "..")
const PackageJson = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ scripts: Schema.Record(Schema.String, Schema.String) }))
)

for (const file of ["README.md", ...new Glob("docs/**/*.md").scanSync(root)].toSorted()) {
  test(`${file} names files that are there`, () => {
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

test("the README fits one screen, and its commands are the project's", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const { scripts } = PackageJson(readFileSync(join(root, "package.json"), "utf8"))
  const shown = readme.split("<details>")[0] ?? ""
  expect(shown.split("\n").length).toBeLessThanOrEqual(30)
  const commands = [...shown.matchAll(/bun(?:@[\d.]+)? run (\w+)/g)].map(([, name = ""]) => name)
  expect(new Set(commands)).toEqual(new Set(["demo", "test", "start"]))
  expect(commands.filter((name) => !(name in scripts))).toEqual([])
})

test("the README's ratios are those of docs/performance.md", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const measured = readFileSync(join(root, "docs/performance.md"), "utf8")
  const ratio = (pattern: RegExp) => Number(pattern.exec(measured)?.[1]).toFixed(1)
  const opened = ratio(/^\| open payment (?:\|[^|]*){2}\| ([\d.]+)/m)
  const bossRatio = ratio(/^\| pg-boss \|[^|]*\| ([\d.]+)/m)
  const graphileRatio = ratio(/^\| graphile-worker \|[^|]*\| ([\d.]+)/m)
  expect(ratio(/^\| retrieve (?:\|[^|]*){2}\| ([\d.]+)/m)).toBe(opened)
  expect(readme).toContain(`opens and retrieves ${opened} times as many payments a second`)
  expect(readme).toContain(
    `delivers ${bossRatio} times as many webhooks as pg-boss and ${graphileRatio} times as many as graphile-worker`
  )
})

test("the contract gives the attempts of the retry policy, and no other document counts them", () => {
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

test("sections that comments cite are there", () => {
  for (const document of ["contract", "threats"]) {
    const text = readFileSync(join(root, `docs/${document}.md`), "utf8")
    const sections = new Set([...text.matchAll(/^#{2,3} (\d(?:\.\d)?)/gm)].map(([, number = ""]) => number))
    // The items of a section without headings of its own.
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

test("going-live gives the levels of the table of networks: amount, finality, time", () => {
  const text = readFileSync(join(root, "docs/guides/going-live.md"), "utf8")
  const rows = [...text.matchAll(/^\| (up to \$([\d,]+)|above) \|(.*)\| (\d+) (seconds|minutes) \|$/gm)].map(
    ([, , limit, once = "", time, unit]) => ({
      limit: limit === undefined ? undefined : Number(limit.replaceAll(",", "")),
      once,
      seconds: Number(time) * (unit === "minutes" ? 60 : 1)
    })
  )
  const { settlesAt } = networks.live
  expect(rows.map(({ limit, seconds }) => ({ limit, seconds }))).toEqual(
    settlesAt.map(({ limit, seconds }) => ({ limit: limit?.default, seconds }))
  )
  for (const [index, { finality }] of settlesAt.entries())
    expect(rows[index]?.once).toContain(finality === "included" ? "every node" : `\`${finality}\``)
  const configuration = readFileSync(join(root, "docs/configuration.md"), "utf8")
  for (const { limit } of settlesAt)
    if (limit !== undefined) expect(configuration).toContain(`| \`${limit.setting}\` | ${limit.default} |`)
  expect(networks.test.watchedFor).toEqual({
    blocks: Number(/`FINALITY_DEPTH` \| (\d+)/.exec(configuration)?.[1])
  })
})
