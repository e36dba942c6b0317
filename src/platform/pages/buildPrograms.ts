// Bundles the service's programs. With bytecode beside them, they start in two thirds of the time; another version of
// Bun reads the code instead.
import { join } from "node:path"
import type { BuildArtifact, BunPlugin } from "bun"
import { buildLazyLibraries, withLazyLibraries } from "./lazyLibraries.ts"

const sources = join(import.meta.dir, "../..")
const programs = join(sources, "app")

/** Removes Effect's read of `import.meta.env`, which is not valid in the CommonJS bundles. */
const withoutModuleEnvironment: BunPlugin = {
  name: "without import.meta.env",
  setup: (build) => {
    build.onLoad({ filter: /effect.dist.ConfigProvider\.js$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace("...import.meta?.env", ""),
      loader: "js"
    }))
  }
}

/**
 * Bundles the programs `compiled` (names in `src/app`) with bytecode, and the programs that start or help them, into
 * `outdir`.
 */
export const buildPrograms = async (
  outdir: string,
  compiled: ReadonlyArray<string>
): Promise<ReadonlyArray<BuildArtifact>> => {
  const settings = {
    target: "bun",
    outdir,
    // Readable names and lines instead of a source map, which the first stack trace would read: 8 MB and 0.1 s.
    minify: { syntax: true }
  } as const
  const built: Array<BuildArtifact> = []
  for (const [root, entry] of [
    [programs, "main.ts"],
    [sources, "chain/SignatureRecovery/recoverKeys.ts"]
  ] as const)
    built.push(...(await Bun.build({ ...settings, root, entrypoints: [join(root, entry)] })).outputs)
  await buildLazyLibraries(outdir)
  for (const program of compiled) {
    const { outputs } = await Bun.build({
      ...settings,
      root: programs,
      entrypoints: [join(programs, program)],
      format: "cjs",
      bytecode: true,
      // Otherwise Bun would write the source's path into such a file.
      define: { "import.meta.path": "Bun.main" },
      plugins: [withoutModuleEnvironment, withLazyLibraries(program)]
    })
    // Bun reports nothing if it cannot compile: a remaining `import.meta` is not valid in such a file.
    if (!outputs.some(({ kind }) => kind === "bytecode"))
      throw new Error(`Bun has not made bytecode of ${program}.`)
    built.push(...outputs)
  }
  return built
}
