// `bun run packages`: the packages as archives in dist/packages, and their sizes.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { Effect } from "effect"
import { errorCodes } from "../../domain/ErrorCode.ts"
import { openApiDocument } from "../openapi/Documents.ts"
import { composerZipOf, type Files, pluginZipOf, wheelOf } from "./generate/archives.ts"
import { operationsOf } from "./generate/operationsOf.ts"
import { phpClient } from "./generate/phpClient.ts"
import { pythonClient } from "./generate/pythonClient.ts"
import { type PackagePlan, packages } from "./packages.ts"
import { wheelName } from "./wheelName.ts"

const room = join(import.meta.dir, "../../packages")
const root = join(room, "../..")
const out = join(root, "dist/packages")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const stem = (source: string) => source.replace(/\.ts$/, "")
const run = (command: ReadonlyArray<string>, cwd: string) => Bun.spawnSync([...command], { cwd })

const bundle = async (
  source: string,
  options: Pick<Bun.BuildConfig, "format" | "target" | "external" | "minify">
) => {
  const { outputs } = await Bun.build({ entrypoints: [join(room, source)], ...options })
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
      ...["--outDir", raw, ...sources.map((source) => join(room, source))]
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
  for (const source of sources) copy(`packages/${stem(source)}.d.ts`)
  rmSync(raw, { recursive: true })
}

const entryOf = (source: string) => ({
  import: { types: `./types/packages/${stem(source)}.d.ts`, default: `./${stem(source)}.js` },
  require: { types: `./cjs/types/packages/${stem(source)}.d.ts`, default: `./cjs/${stem(source)}.js` }
})

const manifestOf = ({ name, description, exports, bin, manifest }: PackagePlan) => {
  const [main] = Object.values(exports)
  return {
    name,
    version,
    description,
    license: "MIT",
    type: "module",
    ...(bin === undefined ? {} : { bin: { [bin.name]: "./bin.js" } }),
    engines: { node: ">=20" },
    ...(main === undefined
      ? {}
      : {
          main: `./cjs/${stem(main)}.js`,
          types: `./types/packages/${stem(main)}.d.ts`,
          exports: Object.fromEntries(
            Object.entries(exports).map(([path, source]) => [path, entryOf(source)])
          )
        }),
    sideEffects: false,
    ...manifest
  }
}

const build = async (plan: PackagePlan): Promise<string> => {
  const to = join(out, plan.name.replace("@quittance/", ""))
  const external = [...(plan.external ?? [])]
  const sources = Object.values(plan.exports)
  for (const source of sources) {
    const target = "browser"
    // Names stay: they stand in stack traces.
    const minify = { whitespace: true, syntax: true }
    write(join(to, `${stem(source)}.js`), await bundle(source, { format: "esm", target, external, minify }))
    write(
      join(to, `cjs/${stem(source)}.js`),
      await bundle(source, { format: "cjs", target, external, minify })
    )
  }
  if (sources.length > 0) {
    declare(sources, join(to, "types"))
    declare(sources, join(to, "cjs/types"))
    write(join(to, "cjs/package.json"), '{ "type": "commonjs" }\n')
  }
  if (plan.bin !== undefined) {
    const code = await bundle(plan.bin.source, { format: "esm", target: "node", external })
    write(join(to, "bin.js"), `#!/usr/bin/env node\n${code.replace(/^#!.*\n/, "")}`)
  }
  write(join(to, "package.json"), `${JSON.stringify(manifestOf(plan), undefined, 2)}\n`)
  write(join(to, "README.md"), plan.readme)
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
for (const plan of packages) {
  const directory = await build(plan)
  const kilobytes = (sizeOf(directory) / 1024).toFixed(1).padStart(7)
  console.log(`${plan.name.padEnd(24)}${kilobytes} kB unpacked  ${relative(root, directory)}`)
}

const document = Effect.runSync(openApiDocument("https://pay.example.com"))
const operations = operationsOf(document)
const licence = readFileSync(join(root, "LICENSE"), "utf8")
const written = (language: string, ending: string): Files =>
  Object.fromEntries(
    readdirSync(join(room, language))
      .filter((name) => name.endsWith(ending))
      .map((name) => [name, readFileSync(join(room, language, name), "utf8")])
  )
const readme = (language: string) => readFileSync(join(room, language, "README.md"), "utf8")
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
      { ...JSON.parse(readFileSync(join(room, "php/composer.json"), "utf8")), version },
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
