// The test files that start programs, a chain or a browser, found from their imports in any number of steps.
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const starters = new Set([
  "test/support/process.ts",
  "test/support/browser.ts",
  "test/support/nginx.ts",
  "src/app/dev/Anvil.ts"
])
const imported = /^(?:import|export)(?! type )[^"']*?from\s+"(\.[^"]+)"|import\("(\.[^"]+)"\)/gm
const known = new Map<string, ReadonlyArray<string>>()

const importsOf = (file: string): ReadonlyArray<string> => {
  const read =
    known.get(file) ??
    [...readFileSync(file, "utf8").matchAll(imported)]
      .map(([, from, dynamic]) => join(dirname(file), from ?? dynamic ?? ""))
      .filter((target) => /\.tsx?$/.test(target) && existsSync(target))
  known.set(file, read)
  return read
}

/** `file`: relative to the project's root. */
export const startsPrograms = (file: string): boolean => {
  const seen = new Set<string>()
  const reaches = (at: string): boolean => {
    if (starters.has(at)) return true
    if (seen.has(at)) return false
    seen.add(at)
    return importsOf(at).some(reaches)
  }
  return reaches(file)
}
