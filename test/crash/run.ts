// `bun run test:crash [seed]`: the full run. Exits 1 if an invariant is broken.
import { postgresPrograms } from "./cluster.ts"
import { crashRun } from "./crashRun.ts"
import { describeRun } from "./describeRun.ts"

const programs = postgresPrograms()
if (programs === undefined) {
  console.error(
    "The crash test starts a Postgres of its own, and none is installed (apt install postgresql)."
  )
  process.exit(1)
}
const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31))
const started = Date.now()
const log = (line: string) =>
  console.log(`${((Date.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`)
log(`seed ${seed}`)
const summary = await crashRun({
  kills: 110,
  deliveries: 6_000,
  perSecond: 30,
  freezes: 2,
  restarts: 4,
  migrations: 6,
  calms: 3,
  refusals: true,
  seed,
  programs,
  log
})
for (const line of describeRun(summary)) console.log(line)
console.log(`seed ${seed}, ${((Date.now() - started) / 1000).toFixed(0)} s`)
process.exit(summary.violations.length === 0 ? 0 : 1)
