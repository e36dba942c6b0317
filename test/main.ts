// `bun run test`: the whole suite in four workers on one Postgres; then, alone on the machine, what measures time;
// then what looks at all that was sent. With arguments, what `bun test` makes of them.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildPrograms } from "../src/platform/pages/buildPrograms.ts"
import { faultTable } from "./support/faultTable.ts"
import { scratchDirectory } from "./support/scratchDirectory.ts"
import { joinTestPostgres } from "./support/testPostgres.ts"

process.env["TMPDIR"] = scratchDirectory()
const given = process.env["TEST_DATABASE_URL"]
const postgres = given === undefined ? await joinTestPostgres() : { url: given, leave: async () => {} }
const began = Date.now()
const statements = mkdtempSync(join(tmpdir(), "quittance-statements-"))
const faults = `${statements}.faults`

let running: Bun.Subprocess | undefined
let stopped = false
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    stopped = true
    running?.kill(signal)
  })
/** A test or hook that hangs is given up after so many milliseconds. No test takes it for how fast anything is. */
const timeout = "--timeout=180000"

/** Nothing more runs after a signal. */
const run = async (...args: ReadonlyArray<string>): Promise<number> => {
  if (stopped) return 130
  running = Bun.spawn([process.execPath, "test", timeout, ...args], {
    env: {
      ...process.env,
      TEST_DATABASE_URL: postgres.url,
      TEST_STATEMENTS: statements,
      TEST_FAULTS: faults
    },
    stdio: ["inherit", "inherit", "inherit"]
  })
  return running.exited
}

const runFromSource = (...args: ReadonlyArray<string>) => {
  delete process.env["TEST_BUILT"]
  return run(...args)
}

/** How long each file took once: the longest begin first, so that no worker is left with them. */
const timings = "--timings=test/timings.json"

/** The service and its commands as the image has them: hundreds of tests start one, in less than half the time. */
const built = "dist-test"
const build = async () => {
  await buildPrograms(join(import.meta.dir, "..", built), ["service.ts", "cli/main.ts"])
  process.env["TEST_BUILT"] = built
  const packages = Bun.spawnSync([process.execPath, "src/app/packages/build.ts"], { stderr: "inherit" })
  if (packages.exitCode !== 0) throw new Error("The packages cannot be built.")
  process.env["TEST_PACKAGES"] = "built"
}

const args = process.argv.slice(2)
if (args.length === 0) await build()
const codes =
  args.length > 0
    ? [await run(...args)]
    : [
        await run("--parallel=4", timings, "--path-ignore-patterns", "**/*.{alone,after}.test.ts"),
        // From the sources, as people start it.
        await runFromSource(".alone.test.ts"),
        // What the ones before have sent to the database.
        await run(".after.test.ts")
      ]
await postgres.leave()
const table = faultTable(faults)
if (table !== "") console.log(`\nFaults, and what they cost:\n${table}\n`)
rmSync(statements, { recursive: true })
rmSync(built, { recursive: true, force: true })
rmSync(faults, { force: true })
const seconds = ((Date.now() - began) / 1000).toFixed(0)
console.log(
  `${seconds} s on ${given === undefined ? "the embedded Postgres" : "the Postgres of TEST_DATABASE_URL"}.`
)
process.exit(codes.find((code) => code !== 0) ?? 0)
