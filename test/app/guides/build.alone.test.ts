// The time to build the site from nothing, as a ratio to the packages' build in the same run: machines differ by more
// than a change of the site does. The target of 10 s is printed next to it.
import { afterAll, expect, test } from "bun:test"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dir, "../../..")
const directory = join(root, "dist/docs-timed")
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const secondsOf = async (...command: ReadonlyArray<string>) => {
  const start = performance.now()
  const builder = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    stdout: "ignore",
    stderr: "inherit"
  })
  expect(await builder.exited).toBe(0)
  return (performance.now() - start) / 1_000
}

test("the site builds from nothing in less than 2.5 times the packages' time", async () => {
  const packages = await secondsOf("src/app/packages/build.ts")
  const site = await secondsOf("src/app/guides/build.ts", directory)
  expect(existsSync(join(directory, "docs.html"))).toBe(true)
  console.log(`The site took ${site.toFixed(1)} s (aim: 10), the packages ${packages.toFixed(1)} s.`)
  expect(site / packages).toBeLessThan(2.5)
}, 600_000)
