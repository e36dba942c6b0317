// Documents name files that are there.
import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "..")

for (const file of ["README.md", ...new Glob("docs/**/*.md").scanSync(root)].toSorted()) {
  test(`${file} names files that are there`, () => {
    const text = readFileSync(join(root, file), "utf8")
    const named = [...text.matchAll(/`((?:src|test|migrations|docs|ops)\/[\w/.-]+\.\w+)`/g)].map(
      ([, path = ""]) => path
    )
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const links = [...text.matchAll(/\]\(((?:docs\/|\.\/|\.\.\/)?[\w/.-]+\.md)(?:#[\w-]+)?\)/g)].map(
      ([, path = ""]) => path
    )
    expect(links.filter((path) => !existsSync(join(root, file, "..", path)))).toEqual([])
  })
}
