// Builds the service and what browsers load of it into `dist`.
import { join, relative } from "node:path"
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

const { outputs } = await Bun.build({
  entrypoints: ["main.ts", "service.ts", "chain/SignatureRecovery/recoverKeys.ts"].map((name) =>
    join(import.meta.dir, "..", name)
  ),
  target: "bun",
  outdir: out,
  // Readable, names and lines: a source map would be read with the first stack trace, 8 MB and 0.1 s of the start.
  minify: { syntax: true }
})
for (const { kind, path, size } of outputs) if (kind === "entry-point") report(path, size)
for (const [entry, constants] of Object.entries(entries)) {
  const code = await compile(entry, Object.fromEntries(constants.map((name) => [name, placeholder(name)])))
  const file = join(out, "browser", bundleName(entry))
  await Bun.write(file, code)
  report(file, code.length)
}
console.log("Start it with `bun dist/main.js`.")
