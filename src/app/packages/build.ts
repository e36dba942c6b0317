// `bun run packages`: the packages as archives in dist/packages, and their sizes.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { Glob } from "bun"
import { Effect, Schema } from "effect"
import { errorCodes } from "../../domain/ErrorCode.ts"
import { openApiDocument } from "../openapi/Documents.ts"
import { composerZipOf, type Files, pluginZipOf, wheelOf } from "./generate/archives.ts"
import { operationsOf } from "./generate/operationsOf.ts"
import { phpClient } from "./generate/phpClient.ts"
import { pythonClient } from "./generate/pythonClient.ts"
import { wheelName } from "./wheelName.ts"

const packages = join(import.meta.dir, "../../packages")
const root = join(packages, "../..")
const out = join(root, "dist/packages")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** What build needs of the package.json in a package's folder; the rest is published as it is. */
const Manifest = Schema.Struct({
  name: Schema.String,
  /** By path, each a source of the folder. */
  exports: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** A command for Node and Bun, by its name. */
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

/** Declarations of everything that `source` reaches, below `to`. What the contract infers is left out. */
const declare = (sources: ReadonlyArray<string>, to: string) => {
  const raw = join(out, ".declarations")
  rmSync(raw, { recursive: true, force: true })
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
    // The codes alone: the catalogue's sentences are in the documents.
    const text =
      path === "domain/ErrorCode.d.ts"
        ? `export type ErrorCode = ${Object.keys(errorCodes)
            .map((code) => JSON.stringify(code))
            .join(" | ")}\n`
        : readFileSync(join(raw, path), "utf8")
    for (const [, target = ""] of text.matchAll(/from "(\.[^"]+)\.ts"/g))
      copy(join(dirname(path), `${target}.d.ts`))
    write(join(to, path), text.replaceAll(/(from "\.[^"]+)\.ts"/g, '$1.js"'))
  }
  for (const source of sources) copy(`${stem(relative(join(root, "src"), source))}.d.ts`)
  rmSync(raw, { recursive: true })
}

/** `at`: the source below `src`, as its types are laid out. */
const entryOf = (source: string, at: string) => ({
  import: { types: `./types/${stem(at)}.d.ts`, default: `./${stem(source)}.js` },
  require: { types: `./cjs/types/${stem(at)}.d.ts`, default: `./cjs/${stem(source)}.js` }
})

const build = async (folder: string): Promise<string> => {
  const source = join(packages, folder)
  const text = JSON.parse(readFileSync(join(source, "package.json"), "utf8"))
  const { bin = {}, exports = {}, name, peerDependencies = {} } = decodeManifest(text)
  const to = join(out, name.replace("@quittance/", ""))
  const external = Object.keys(peerDependencies)
  const sources = Object.values(exports)
  for (const entry of sources) {
    const target = "browser"
    // Names stay: they stand in stack traces.
    const minify = { whitespace: true, syntax: true }
    const from = join(source, entry)
    write(join(to, `${stem(entry)}.js`), await bundle(from, { format: "esm", target, external, minify }))
    write(join(to, `cjs/${stem(entry)}.js`), await bundle(from, { format: "cjs", target, external, minify }))
  }
  if (sources.length > 0) {
    const from = sources.map((entry) => join(source, entry))
    declare(from, join(to, "types"))
    declare(from, join(to, "cjs/types"))
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
  const packed = run([process.execPath, "pm", "pack", "--destination", out, "--quiet"], to)
  if (!packed.success) throw new Error(packed.stderr.toString())
  return to
}

const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)

rmSync(out, { recursive: true, force: true })
for (const manifest of [...new Glob("*/package.json").scanSync(packages)].toSorted()) {
  const directory = await build(dirname(manifest))
  const kilobytes = (sizeOf(directory) / 1024).toFixed(1).padStart(7)
  console.log(`${dirname(manifest).padEnd(24)}${kilobytes} kB unpacked  ${relative(root, directory)}`)
}

const document = Effect.runSync(openApiDocument("https://pay.example.com"))
const operations = operationsOf(document)
const licence = readFileSync(join(root, "LICENSE"), "utf8")
const written = (language: string, ending: string): Files =>
  Object.fromEntries(
    readdirSync(join(packages, language))
      .filter((name) => name.endsWith(ending))
      .map((name) => [name, readFileSync(join(packages, language, name), "utf8")])
  )
const readme = (language: string) => readFileSync(join(packages, language, "README.md"), "utf8")
const phpSources = { ...written("php", ".php"), ...phpClient(document, operations) }
const archives: Readonly<Record<string, Uint8Array>> = {
  [wheelName]: wheelOf(
    version,
    { ...written("python", ".py"), ...pythonClient(document, operations) },
    readme("python"),
    licence
  ),
  "php.zip": composerZipOf(
    JSON.stringify(
      { ...JSON.parse(readFileSync(join(packages, "php/composer.json"), "utf8")), version },
      undefined,
      2
    ),
    phpSources,
    readme("php"),
    licence
  ),
  "woocommerce.zip": pluginZipOf(
    version,
    { ...written("woocommerce", ".php"), ...written("woocommerce", ".js") },
    phpSources,
    licence
  )
}
for (const [name, bytes] of Object.entries(archives)) {
  writeFileSync(join(out, name), bytes)
  console.log(`${name.padEnd(32)}${(bytes.length / 1024).toFixed(1).padStart(7)} kB`)
}
