// Libraries that the service needs only with its first email, passkey or signature, and some services never. They are
// files beside the programs, which do not contain their code or bytecode.
import { dirname, join, relative } from "node:path"
import type { BunPlugin } from "bun"

const directory = "libraries"
/** The file of each library, by its import name. */
const files: ReadonlyMap<string, string> = new Map([
  ["nodemailer", "nodemailer.js"],
  ["@simplewebauthn/server", "simplewebauthn.js"],
  ["tiny-secp256k1", "secp256k1.js"]
])
/** Files that a library reads besides its own. */
const assets: ReadonlyMap<string, string> = new Map([["tiny-secp256k1", "secp256k1.wasm"]])

/** For the bundle of the program at this path below `outdir`: imports the libraries from their files. */
export const withLazyLibraries = (program: string): BunPlugin => ({
  name: "lazy libraries",
  setup: (build) => {
    build.onResolve({ filter: /^[\w@]/ }, ({ path }) => {
      const file = files.get(path)
      if (file === undefined) return undefined
      const relativePath = relative(dirname(program), join(directory, file))
      return { path: relativePath.startsWith(".") ? relativePath : `./${relativePath}`, external: true }
    })
  }
})

/** Bundles each library into `outdir`. */
export const buildLazyLibraries = async (outdir: string): Promise<void> => {
  for (const [library, file] of files) {
    const entry = Bun.resolveSync(library, import.meta.dir)
    await Bun.build({
      target: "bun",
      entrypoints: [entry],
      outdir: join(outdir, directory),
      naming: file,
      minify: { syntax: true }
    })
    const asset = assets.get(library)
    if (asset !== undefined)
      await Bun.write(join(outdir, directory, asset), Bun.file(join(dirname(entry), asset)))
  }
}
