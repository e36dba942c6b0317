// `bun run packages [NAME …]`: builds all or these packages into dist/packages, and prints their sizes.
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join, relative } from "node:path"
import { Schema } from "effect"
import { errorCodes } from "../../domain/ErrorCode.ts"
import { wheelName } from "./wheelName.ts"

const packages = join(import.meta.dir, "../../packages")
const root = join(packages, "../..")
const out = join(root, "dist/packages")
/** The work in progress, hidden from readers of `out`. */
const work = join(out, `.${process.pid}`)
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The fields of a package's package.json that the build uses; the others are published unchanged. */
const Manifest = Schema.Struct({
  /** By path; each value is a source file of the folder. */
  exports: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** A command for Node and Bun, by name. */
  bin: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  peerDependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
const decodeManifest = Schema.decodeUnknownSync(Manifest)

const stem = (source: string) => source.replace(/^\.\//, "").replace(/\.ts$/, "")
const run = (command: ReadonlyArray<string>, cwd: string) => Bun.spawnSync([...command], { cwd })

const bundle = async (
  source: string,
  options: Pick<Bun.BuildConfig, "format" | "target" | "external" | "minify">
) => {
  const { outputs } = await Bun.build({ entrypoints: [source], ...options })
  const [output] = outputs
  if (output === undefined) throw new Error(`${source} gives no bundle`)
  return output.text()
}

/** Writes declarations of all that `sources` import below `rooms`, without the contract's inferred types. */
const declare = (sources: ReadonlyArray<string>, rooms: ReadonlyArray<string>) => {
  const raw = join(work, "declarations")
  const flags =
    "--ignoreConfig --declaration --emitDeclarationOnly --noCheck --allowImportingTsExtensions --target esnext --module preserve --moduleResolution bundler --strict --skipLibCheck --exactOptionalPropertyTypes --lib esnext,dom,dom.iterable"
  run(
    [
      ...[
        join(root, "node_modules/.bin/tsc"),
        ...flags.split(" "),
        "--types",
        "",
        "--rootDir",
        join(root, "src")
      ],
      ...["--outDir", raw, ...sources]
    ],
    root
  )
  const copied = new Set<string>()
  const copy = (path: string) => {
    if (copied.has(path)) return
    copied.add(path)
    // Only the codes: the catalogue's sentences are in the documentation.
    const text =
      path === "domain/ErrorCode.d.ts"
        ? `export type ErrorCode = ${Object.keys(errorCodes)
            .map((code) => JSON.stringify(code))
            .join(" | ")}\n`
        : readFileSync(join(raw, path), "utf8")
    for (const [, target = ""] of text.matchAll(/from "(\.[^"]+)\.ts"/g))
      copy(join(dirname(path), `${target}.d.ts`))
    for (const room of rooms) write(join(room, path), text.replaceAll(/(from "\.[^"]+)\.ts"/g, '$1.js"'))
  }
  for (const source of sources) copy(`${stem(relative(join(root, "src"), source))}.d.ts`)
  rmSync(raw, { recursive: true })
}

/** `at` is the source's path below `src`, which the types' layout follows. */
const entryOf = (source: string, at: string) => ({
  import: { types: `./types/${stem(at)}.d.ts`, default: `./${stem(source)}.js` },
  require: { types: `./cjs/types/${stem(at)}.d.ts`, default: `./cjs/${stem(source)}.js` }
})

const build = async (folder: string): Promise<void> => {
  const source = join(packages, folder)
  const text = JSON.parse(readFileSync(join(source, "package.json"), "utf8"))
  const { bin = {}, exports = {}, peerDependencies = {} } = decodeManifest(text)
  const to = join(work, "package")
  const external = Object.keys(peerDependencies)
  const sources = Object.values(exports)
  for (const entry of sources) {
    const target = "browser"
    // Names are not minified, because they appear in stack traces.
    const minify = { whitespace: true, syntax: true }
    const from = join(source, entry)
    write(join(to, `${stem(entry)}.js`), await bundle(from, { format: "esm", target, external, minify }))
    write(join(to, `cjs/${stem(entry)}.js`), await bundle(from, { format: "cjs", target, external, minify }))
  }
  if (sources.length > 0) {
    const from = sources.map((entry) => join(source, entry))
    declare(from, [join(to, "types"), join(to, "cjs/types")])
    write(join(to, "cjs/package.json"), '{ "type": "commonjs" }\n')
  }
  for (const entry of Object.values(bin)) {
    const code = await bundle(join(source, entry), { format: "esm", target: "node", external })
    write(join(to, "bin.js"), `#!/usr/bin/env node\n${code.replace(/^#!.*\n/, "")}`)
  }
  const at = (entry: string) => join("packages", folder, entry)
  const [main] = sources
  const { private: _, ...published } = text
  const manifest = {
    ...published,
    version,
    engines: { node: ">=20" },
    ...(Object.keys(bin).length === 0
      ? {}
      : { bin: Object.fromEntries(Object.keys(bin).map((command) => [command, "./bin.js"])) }),
    ...(main === undefined
      ? {}
      : {
          main: `./cjs/${stem(main)}.js`,
          types: `./types/${stem(at(main))}.d.ts`,
          exports: Object.fromEntries(
            Object.entries(exports).map(([path, entry]) => [path, entryOf(entry, at(entry))])
          )
        }),
    sideEffects: false
  }
  write(join(to, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`)
  copyFileSync(join(source, "README.md"), join(to, "README.md"))
  copyFileSync(join(root, "LICENSE"), join(to, "LICENSE"))
  const packed = run([process.execPath, "pm", "pack", "--destination", work, "--quiet"], to)
  if (!packed.success) throw new Error(packed.stderr.toString())
  for (const archive of new Bun.Glob("*.tgz").scanSync(work)) {
    renameSync(join(work, archive), join(out, archive))
    console.log(`${archive.padEnd(36)}${kilobytes(sizeOf(to))} unpacked`)
  }
}

const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0)

const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1).padStart(7)} kB`

const folders = [...new Bun.Glob("*/package.json").scanSync(packages)].map(dirname).toSorted()
const generatedNames = [wheelName, "php.zip", "woocommerce.zip"]
const all = [...folders, ...generatedNames]

const requested = process.argv.slice(2)
const unknown = requested.find((name) => !all.includes(name))
if (unknown !== undefined) {
  console.error(`There is no package ${unknown}. There are ${all.join(", ")}.`)
  process.exit(2)
}
const isRequested = (name: string) => requested.length === 0 || requested.includes(name)
const clear = () => {
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
}
try {
  for (const folder of folders.filter(isRequested)) {
    clear()
    await build(folder)
  }
  if (generatedNames.some(isRequested)) {
    // Loads the API, which the other packages do not need.
    const { generated } = await import("./generate/generated.ts")
    for (const [name, make] of Object.entries(generated).filter(([name]) => isRequested(name))) {
      clear()
      const bytes = make()
      writeFileSync(join(work, name), bytes)
      renameSync(join(work, name), join(out, name))
      console.log(`${name.padEnd(36)}${kilobytes(bytes.length)}`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
