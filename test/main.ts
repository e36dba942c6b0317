// `bun run test`: the newcomer's suite, one process for each worker, on Node and npm only. `bun run test:rest`: tests
// that start the service, a chain or a browser, other databases and languages, the simulation. `bun run test:all`:
// both. `bun run test:live`: the tests that move money, on Mainnet's row of the table. Folders or files as arguments
// run only those. Prints failures as they happen, and a count at the end.
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Glob } from "bun"
import { buildPrograms } from "../src/platform/pages/buildPrograms.ts"
import { faultTable } from "./support/faultTable.ts"
import { makeReport } from "./support/makeReport.ts"
import { moneySuites } from "./support/moneySuites.ts"
import { scratchDirectory } from "./support/scratchDirectory.ts"
import { startsPrograms } from "./support/startsPrograms.ts"
import { joinTestPostgres } from "./support/testPostgres.ts"

const root = join(import.meta.dir, "..")
process.chdir(root)
process.env["TMPDIR"] = scratchDirectory()

/** Other languages, random requests, a simulated world, timings: minutes each. */
const long = [
  /\.(alone|after)\.test\.ts$/,
  /^test\/(bench|canary|examples|fuzz|packages|simulation)\//,
  /quickstart/
]
const isRest = (file: string) => long.some((pattern) => pattern.test(file)) || startsPrograms(file)

const args = process.argv.slice(2)
const isRestAsked = args.includes("--rest")
const given = args.includes("--money") ? moneySuites : args.filter((one) => one !== "--rest")
const files = [...new Glob("test/**/*.test.ts").scanSync(".")].toSorted()
const isGiven = (file: string) =>
  given.some((one) => {
    const path = one.replace(/^\.\//, "").replace(/\/$/, "")
    return file === path || file.startsWith(`${path}/`) || file.startsWith(`test/${path}/`)
  })
const chosen = given.length > 0 ? files.filter(isGiven) : files.filter((file) => isRest(file) === isRestAsked)
if (chosen.length === 0) {
  console.error(`No test file is at ${given.join(", ")}. Name a folder or file, such as test/payments.`)
  process.exit(2)
}

const url = process.env["TEST_DATABASE_URL"]
const postgres = url === undefined ? await joinTestPostgres() : { url, leave: async () => {} }
const shared = process.env["TEST_STATEMENTS"]
const statements = shared ?? mkdtempSync(join(tmpdir(), "quittance-statements-"))
const faults = `${statements}.faults`
const report = makeReport(chosen.length)

let running: Bun.Subprocess | undefined
let stopped = false
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    stopped = true
    running?.kill(signal)
  })

/** Nothing else runs after a signal. */
const run = async (which: ReadonlyArray<string>, ...flags: ReadonlyArray<string>): Promise<void> => {
  if (stopped || which.length === 0) return
  const child = Bun.spawn(
    [
      process.execPath,
      "test",
      // The limit for a test or hook that hangs. No test measures speed with it.
      "--timeout=180000",
      ...flags,
      ...which.map((file) => `./${file}`)
    ],
    {
      env: {
        ...process.env,
        TEST_DATABASE_URL: postgres.url,
        TEST_STATEMENTS: statements,
        TEST_FAULTS: faults,
        FORCE_COLOR: "0"
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe"
    }
  )
  running = child
  await Promise.all([report.read(child.stdout), report.read(child.stderr)])
  report.ended(await child.exited)
}

const runBuilder = (builder: string) => {
  if (Bun.spawnSync([process.execPath, builder], { stderr: "inherit" }).exitCode !== 0)
    throw new Error(`${builder} fails.`)
}
// Tests of a whole suite share the site and the packages; a site newer than its sources is not rebuilt.
if (given.length === 0) {
  report.say("Building the pages of /docs and the packages")
  runBuilder("src/app/guides/build.ts")
  runBuilder("src/app/packages/build.ts")
}

/** The service and its commands as the image has them: hundreds of tests start one, in less than half the time. */
const built = "dist-test"
if (isRestAsked && given.length === 0) {
  report.say("Building the service")
  await buildPrograms(join(root, built), ["service.ts", "cli/main.ts"])
  process.env["TEST_BUILT"] = built
  process.env["TEST_PACKAGES"] = "built"
}

const named = (suffix: string) => chosen.filter((file) => file.endsWith(`.${suffix}.test.ts`))
const beside = chosen.filter((file) => !/\.(alone|after)\.test\.ts$/.test(file))
if (beside.length === 1) await run(beside)
// The longest start first, so that no worker ends up with them. Tests that start programs fill two cores with three
// workers.
else
  await run(
    beside,
    `--parallel=${beside.some(isRest) ? 3 : 4}`,
    ...(existsSync("test/timings.json") ? ["--timings=test/timings.json"] : [])
  )
// These need the machine to themselves, and run from the sources, as developers start it.
delete process.env["TEST_BUILT"]
await run(named("alone"))
// These examine the statements that the earlier tests have sent to the database.
await run(named("after"))

await postgres.leave()
const table = faultTable(faults)
if (table !== "") console.log(`\nFaults, and what they cost:\n${table}\n`)
if (shared === undefined) rmSync(statements, { recursive: true })
rmSync(built, { recursive: true, force: true })
rmSync(faults, { force: true })
process.exit(report.end(url === undefined ? "the embedded Postgres" : "the Postgres of TEST_DATABASE_URL"))
