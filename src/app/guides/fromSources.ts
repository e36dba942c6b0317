// Finds build outputs, which the image contains and a clone builds once it serves.
import { existsSync, statSync } from "node:fs"
import { dirname, join } from "node:path"

const directory = dirname(import.meta.path)
const root = join(directory, "../../..")
/** A built service is in `dist`, without a builder. */
export const isSource = existsSync(join(root, "src/app/guides/fromSources.ts"))

/** The location of the built `name`. */
export const builtPlace = (name: string): string =>
  isSource ? join(root, "dist", name) : join(directory, name)

let changedAt: number | undefined
const sourcesChangedAt = (): number => {
  changedAt ??= Math.max(
    ...["src", "docs/guides"].flatMap((place) =>
      [...new Bun.Glob("**/*").scanSync({ cwd: join(root, place), absolute: true })].map(
        (file) => statSync(file).mtimeMs
      )
    ),
    statSync(join(root, "package.json")).mtimeMs
  )
  return changedAt
}

/** True if `file` exists and no source is newer. */
export const isUpToDate = (file: string): boolean =>
  existsSync(file) && (!isSource || statSync(file).mtimeMs >= sourcesChangedAt())

const building = new Map<string, Promise<boolean>>()

/** Runs the program at this path under `src`; true if the build succeeded. Concurrent callers share one build. */
export const build = (program: string, ...args: ReadonlyArray<string>): Promise<boolean> => {
  if (!isSource) return Promise.resolve(false)
  const key = [program, ...args].join(" ")
  const begun = building.get(key)
  if (begun !== undefined) return begun
  const builder = Bun.spawn([process.execPath, join(root, "src", program), ...args], {
    stdout: "ignore",
    stderr: "pipe"
  })
  const ended = Promise.all([builder.exited, new Response(builder.stderr).text()])
    .then(([code, complaint]) => {
      if (code !== 0) console.error(complaint)
      return code === 0
    })
    .finally(() => building.delete(key))
  building.set(key, ended)
  return ended
}
