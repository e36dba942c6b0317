// No page, document or command line makes anybody run a package by a name that somebody else could register.
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { testDatabase } from "../../support/database.ts"
import { startService } from "../../support/service.ts"

const root = join(import.meta.dir, "../../..")

/** Commands that fetch and run, or install, the package in the words that follow. */
const runs =
  /\b(?:npx|bunx|pnpx|pnpm dlx|yarn dlx|npm (?:install|i|add|exec)|bun (?:add|x)|pnpm add|yarn add|pipx? install|uvx|composer require)((?:[ \t]+[^\s`'"<>|;&)]+)*)/g

/** An address, a file, or Bun itself, which its own authors publish. */
const isOurs = (word: string) =>
  /^(?:https?:\/\/|\$\{|\{base_url\}|BASE_URL\/|\.\/|\.$|dist\/packages\/|bun@(?:1\.4\.5|\$\{Bun\.version\})$)/.test(
    word
  )

const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(runs)].flatMap(([command, words = ""]) => {
    const first = words.split(/\s+/).find((word) => word !== "" && !word.startsWith("-"))
    return first === undefined || isOurs(first) ? [] : [command]
  })

test("every served page names packages by their addresses", async () => {
  const scope = Effect.runSync(Scope.make())
  const { baseUrl } = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  const read = async (path: string) => (await fetch(`${baseUrl}${path}`)).text()
  const listed = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, path = ""]) => path)
  const guides = listed(await read("/llms.txt"), /\]\(https?:\/\/[^/)]+(\/docs\/[^)\s]*)\)/g)
  expect(guides.length).toBeGreaterThan(6)
  const pages = [
    ...["/", "/docs", "/llms.txt", "/openapi.json", "/checkout.js", "/pay", "/playground", "/dashboard"],
    ...guides,
    ...guides.map((path) => path.replace(/\.md$/, ""))
  ]
  const scripts = (await Promise.all(pages.map(read))).flatMap((text) => listed(text, /src="(\/[^"]+\.js)"/g))
  const all = [...new Set([...pages, ...scripts])]
  const named = await Promise.all(
    all.map(async (path) => namesIn(await read(path)).map((one) => `${path}: ${one}`))
  )
  await Effect.runPromise(Scope.close(scope, Exit.void))
  expect(named.flat()).toEqual([])
}, 120_000)

test("the packages, the command lines and the documents name packages by their addresses", () => {
  const files = [
    ...new Bun.Glob("{src,docs}/**/*.{ts,tsx,md,py,php}").scanSync(root),
    "README.md",
    "SECURITY.md",
    "CHANGELOG.md"
  ]
  expect(
    files.flatMap((file) =>
      namesIn(readFileSync(join(root, file), "utf8")).map((one) => `${file}: ${one.slice(0, 120)}`)
    )
  ).toEqual([])
})
