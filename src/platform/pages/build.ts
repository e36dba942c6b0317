// Builds the service and its browser code into `dist`.
import { join, relative } from "node:path"
import { buildPrograms } from "./buildPrograms.ts"
import { bundleName, compile, placeholder } from "./compile.ts"

const out = join(import.meta.dir, "../../../dist")

/** The served entry points, with the constants that each service fills in. */
const entries: Readonly<Record<string, ReadonlyArray<string>>> = {
  "checkout/component/main.ts": ["QUITTANCE_BASE_URL", "QUITTANCE_WALLETCONNECT_INTEGRITY"],
  "checkout/walletconnect/main.ts": [],
  "checkout/testwallet/main.ts": ["QUITTANCE_TEST_CHAINS"],
  "checkout/pages/pay.ts": ["QUITTANCE_BASE_URL"],
  "checkout/pages/playground.ts": ["QUITTANCE_BASE_URL"],
  "checkout/pages/links/link.ts": [],
  "checkout/pages/links/poster.ts": [],
  "checkout/pages/links/counter.ts": ["QUITTANCE_BASE_URL"],
  "checkout/pages/receipts/receipt.ts": [],
  "checkout/pages/receipts/verify.ts": [],
  "dashboard/browser/main.tsx": [],
  "dashboard/browser/dashboard.css": []
}

const report = (path: string, size: number) =>
  console.log(`${relative(".", path)}  ${(size / 1024).toFixed(0)} kB`)

for (const { kind, path, size } of await buildPrograms(out, ["service.ts"]))
  if (kind === "entry-point" || kind === "bytecode") report(path, size)
const root = join(import.meta.dir, "../../..")
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
