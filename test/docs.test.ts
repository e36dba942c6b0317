// Documents name files that are there.
import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { Effect, Schema } from "effect"
import { attemptsInWords } from "../src/domain/attemptsInWords.ts"
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

test("documents give the attempts of the retry policy", () => {
  const attempts = attemptsInWords(Effect.runSync(Effect.flatMap(RetryPolicy, delaySeconds)))
  for (const document of ["docs/contract.md", "docs/guides/webhooks.md"])
    expect(readFileSync(join(root, document), "utf8")).toContain(`a delivery makes ${attempts}`)
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
