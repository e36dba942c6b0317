// A small disk of its own, to be filled up.
import { rmSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { temporaryDirectory } from "./process.ts"

/** Undefined if this machine may not mount one, as in some containers. Unmounted with the scope. */
export const smallDisk = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", directory])
  if (mounted.exitCode !== 0) return undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => Bun.spawnSync(["umount", "-l", directory])))
  const filler = join(directory, "fill")
  return {
    directory,
    fill: () => Bun.spawnSync(["dd", "if=/dev/zero", `of=${filler}`, "bs=4k"]),
    free: () => rmSync(filler)
  }
})
