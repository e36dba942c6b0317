// A copy of the tree, in which sources may be changed.
import { cp, mkdtemp, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dir, "../..")

/** Its path; whoever has made it removes it. */
export const treeCopy = async (): Promise<string> => {
  const tree = await mkdtemp(join(tmpdir(), "quittance-bite-"))
  for (const part of ["src", "test", "docs", "migrations", "package.json", "tsconfig.json", "bunfig.toml"])
    await cp(join(root, part), join(tree, part), { recursive: true })
  await symlink(join(root, "node_modules"), join(tree, "node_modules"))
  return tree
}
