// Builds the service and what browsers load of it into `dist`.
import { join, relative } from "node:path"
import type { BunPlugin } from "bun"
import { bundleName, compile, placeholder } from "./compile.ts"

const out = join(import.meta.dir, "../../dist")

/** What is served, with the constants that each service writes for itself. */
const entries: Readonly<Record<string, ReadonlyArray<string>>> = {
  "checkout/component/main.ts": ["QUITTANCE_BASE_URL", "QUITTANCE_WALLETCONNECT_INTEGRITY"],
  "checkout/walletconnect/main.ts": [],
  "checkout/pages/pay.ts": ["QUITTANCE_BASE_URL"],
  "checkout/pages/playground.ts": ["QUITTANCE_BASE_URL"],
  "links/pages/link.ts": [],
  "links/pages/poster.ts": [],
  "links/pages/counter.ts": ["QUITTANCE_BASE_URL"],
  "receipts/pages/receipt.ts": [],
  "receipts/pages/verify.ts": [],
  "dashboard/browser/main.tsx": [],
  "dashboard/browser/dashboard.css": []
}

const report = (path: string, size: number) =>
  console.log(`${relative(".", path)}  ${(size / 1024).toFixed(0)} kB`)

const entriesOf = (...names: ReadonlyArray<string>) => names.map((name) => join(import.meta.dir, "..", name))

const settings = {
  target: "bun",
  outdir: out,
  // Readable, names and lines: a source map would be read with the first stack trace, 8 MB and 0.1 s of the start.
  minify: { syntax: true }
} as const

/** Modules alone have `import.meta`; Effect asks it for what the environment holds as well. */
const withoutModuleEnvironment: BunPlugin = {
  name: "without import.meta.env",
  setup: (build) => {
    build.onLoad({ filter: /effect.dist.ConfigProvider\.js$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace("...import.meta?.env", ""),
      loader: "js"
    }))
  }
}

const { outputs: programs } = await Bun.build({
  ...settings,
  entrypoints: entriesOf("main.ts", "chain/SignatureRecovery/recoverKeys.ts")
})
// Its bytecode lies beside it, which spares a third of the start. Another version of Bun reads the code instead.
const { outputs: service } = await Bun.build({
  ...settings,
  entrypoints: entriesOf("service.ts"),
  format: "cjs",
  bytecode: true,
  // Of such a file Bun would write down where its source lay.
  define: { "import.meta.path": "Bun.main" },
  plugins: [withoutModuleEnvironment]
})
for (const { kind, path, size } of [...programs, ...service])
  if (kind === "entry-point" || kind === "bytecode") report(path, size)
// Bun says nothing where it can't compile: an `import.meta` that is left is no syntax of such a file.
if (!service.some(({ kind }) => kind === "bytecode"))
  throw new Error("Bun has made no bytecode of dist/service.js.")
const root = join(import.meta.dir, "../..")
const built = await Bun.file(join(out, "service.js")).text()
for (const place of ["src", "node_modules"])
  if (built.includes(`"${join(root, place)}/`))
    throw new Error(`dist/service.js names files of ${place} by their place on this machine.`)
for (const [entry, constants] of Object.entries(entries)) {
  const code = await compile(entry, Object.fromEntries(constants.map((name) => [name, placeholder(name)])))
  const file = join(out, "browser", bundleName(entry))
  await Bun.write(file, code)
  report(file, code.length)
}
console.log("Start it with `bun dist/main.js`.")
