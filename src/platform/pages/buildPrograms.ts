// Bundles the service's programs. Those with bytecode beside them start in two thirds of the time; another version of
// Bun reads the code instead.
import { join } from "node:path"
import type { BuildArtifact, BunPlugin } from "bun"
import { buildLateLibraries, withLateLibraries } from "./lateLibraries.ts"

const sources = join(import.meta.dir, "../..")
const programs = join(sources, "app")

/** Only modules have `import.meta`, which Effect also reads the environment from. */
const withoutModuleEnvironment: BunPlugin = {
  name: "without import.meta.env",
  setup: (build) => {
    build.onLoad({ filter: /effect.dist.ConfigProvider\.js$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace("...import.meta?.env", ""),
      loader: "js"
    }))
  }
}

/** The programs of `compiled`, by their names in `src/app`, with bytecode, and those that start or help them, into `outdir`. */
export const buildPrograms = async (
  outdir: string,
  compiled: ReadonlyArray<string>
): Promise<ReadonlyArray<BuildArtifact>> => {
  const settings = {
    target: "bun",
    outdir,
    // Readable, names and lines: a source map would be read with the first stack trace, 8 MB and 0.1 s of the start.
    minify: { syntax: true }
  } as const
  const built: Array<BuildArtifact> = []
  for (const [root, entry] of [
    [programs, "main.ts"],
    [sources, "chain/SignatureRecovery/recoverKeys.ts"]
  ] as const)
    built.push(...(await Bun.build({ ...settings, root, entrypoints: [join(root, entry)] })).outputs)
  await buildLateLibraries(outdir)
  for (const program of compiled) {
    const { outputs } = await Bun.build({
      ...settings,
      root: programs,
      entrypoints: [join(programs, program)],
      format: "cjs",
      bytecode: true,
      // Of such a file Bun would write down where its source lay.
      define: { "import.meta.path": "Bun.main" },
      plugins: [withoutModuleEnvironment, withLateLibraries(program)]
    })
    // Bun says nothing where it can't compile: an `import.meta` that is left is no syntax of such a file.
    if (!outputs.some(({ kind }) => kind === "bytecode"))
      throw new Error(`Bun has not made bytecode of ${program}.`)
    built.push(...outputs)
  }
  return built
}
