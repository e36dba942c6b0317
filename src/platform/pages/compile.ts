// Bundles of browser code: how they are built, and where the build puts them.
import { basename, dirname, join, resolve } from "node:path"

const directory = dirname(import.meta.path)
const isSource = basename(directory) === "pages"

/** A source by its path under `src`, from the sources and from the built service in `dist` alike. */
const sourceFile = (entry: string): string => resolve(directory, isSource ? "../.." : "../src", entry)

/** The name of an entry point's bundle. */
export const bundleName = (entry: string): string => entry.replaceAll("/", ".").replace(/\.tsx?$/, ".js")

/** The path of an entry point's bundle in the built service. */
export const builtFile = (entry: string): string => join(directory, "browser", bundleName(entry))

/** The placeholder in a built bundle for a constant that the service fills in. */
export const placeholder = (name: string): string => `__${name}__`

/**
 * The entry point as one file without imports or exports, valid as a classic script and as a module; or a style sheet.
 */
export const compile = async (
  entry: string,
  constants: Readonly<Record<string, string>> = {}
): Promise<Uint8Array<ArrayBuffer>> => {
  const { outputs } = await Bun.build({
    entrypoints: [sourceFile(entry)],
    target: "browser",
    format: "iife",
    minify: true,
    define: {
      "process.env.NODE_ENV": '"production"',
      ...Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]))
    }
  })
  const output = outputs.find(({ kind }) => kind === "entry-point") ?? outputs[0]
  if (output === undefined) throw new Error("no output")
  return new Uint8Array(await output.arrayBuffer())
}
