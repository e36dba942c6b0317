// `bun run simulate`: one seed and its story, or many seeds in several processes.
import { parseArgs } from "node:util"
import { summary, timeline } from "./explain.ts"
import { failureOf } from "./failureOf.ts"
import { linesOf } from "./linesOf.ts"
import { planOf } from "./Plan.ts"
import { runPlan } from "./runPlan.ts"
import { Tally, type Told, toldOf } from "./Tally.ts"

const usage = `bun run simulate                            2,000 seeds
bun run simulate --seed 7 [--explain]       one seed; with its story
bun run simulate --seeds 1000000 --from 1   so many seeds
bun run simulate --minutes 60 --jobs auto   for so long, in as many processes as there are cores
With --sql the store is SQL, on PGlite.`

const refuse = (message: string): never => {
  console.error(`${message}\n\n${usage}`)
  process.exit(2)
}

const parse = () => {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    // After its first sentence it advises what no option here takes.
    return refuse((error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "")
  }
}

const options = {
  seed: { type: "string" },
  explain: { type: "boolean", default: false },
  seeds: { type: "string" },
  from: { type: "string", default: "1" },
  minutes: { type: "string" },
  jobs: { type: "string", default: "1" },
  sql: { type: "boolean", default: false },
  /** Of a process that another one has started: every so many seeds, told in JSON. */
  every: { type: "string" },
  help: { type: "boolean", default: false }
} as const
const values = parse()
const store = values.sql ? "sql" : "memory"
const sql = values.sql ? " --sql" : ""

/** A whole number of at least one, which can be counted on from. */
const numberOf = (name: "seeds" | "from" | "jobs" | "minutes" | "every", value: string): number => {
  if (/^[1-9]\d{0,11}$/.test(value)) return Number(value)
  return refuse(`--${name} takes a whole number from 1 to 999999999999, not ${value}.`)
}
const from = numberOf("from", values.from)
if (values.seed === "") refuse("--seed takes a seed.")
if (values.seed !== undefined && (values.minutes ?? values.seeds) !== undefined)
  refuse("--seed is one seed: it takes neither --seeds nor --minutes.")
if (values.seed !== undefined && (values.jobs !== "1" || values.from !== "1" || values.every !== undefined))
  refuse("--seed is one seed: it takes neither --jobs nor --from nor --every.")
if (values.every !== undefined && values.jobs !== "1") refuse("--every is one process: it takes no --jobs.")
if (values.seed === undefined && values.explain) refuse("--explain tells of one seed: give it by --seed.")
if (values.seeds !== undefined && values.minutes !== undefined) refuse("Give --seeds or --minutes, not both.")

/** For so long the fewest faults of a failed seed are looked for. */
const shrinkMillis = 5 * 60_000
const progressMillis = 10_000

const one = async (seed: string) => {
  const outcome = await runPlan(planOf(seed, store), values.explain)
  if (outcome.broken === undefined) {
    if (values.explain) console.log(timeline(outcome))
    return console.log(summary(outcome))
  }
  console.log(`seed ${seed}  ${outcome.broken.invariant}: looking for the fewest of its faults that break it`)
  let toldAt = performance.now()
  const onRun = (runs: number, left: number) => {
    if (performance.now() < toldAt + progressMillis) return
    toldAt = performance.now()
    console.log(`${runs} runs · ${left} faults left`)
  }
  console.log(`\n${await failureOf(outcome, { withinMillis: shrinkMillis, isWhole: values.explain, onRun })}`)
  process.exitCode = 1
}

const end =
  values.minutes === undefined
    ? Number.POSITIVE_INFINITY
    : performance.now() + 60_000 * numberOf("minutes", values.minutes)
const last =
  values.minutes === undefined ? from + numberOf("seeds", values.seeds ?? "2000") : Number.POSITIVE_INFINITY

/** Runs its share of the seeds, and tells of each. Without the stacks of errors, which cost a twentieth of the time. */
const share = async (every: number) => {
  Error.stackTraceLimit = 0
  for (let seed = from; seed < last && performance.now() < end; seed += every)
    console.log(JSON.stringify(toldOf(await runPlan(planOf(String(seed), store)))))
}

const many = async () => {
  const asked = values.jobs === "auto" ? navigator.hardwareConcurrency : numberOf("jobs", values.jobs)
  const jobs = Math.min(asked, last - from)
  const tally = new Tally(store)
  /** Of each process. */
  const done = Array.from({ length: jobs }, () => 0)
  const progress = setInterval(() => console.log(tally.line), progressMillis)
  const argumentsOf = (job: number) => [
    ...["--from", String(from + job), "--every", String(jobs)],
    ...(values.minutes === undefined
      ? ["--seeds", String(last - from - job)]
      : ["--minutes", values.minutes]),
    ...(values.sql ? ["--sql"] : [])
  ]
  const children = Array.from({ length: jobs }, (_, job) =>
    Bun.spawn([process.execPath, import.meta.path, ...argumentsOf(job)], {
      stdout: "pipe",
      stderr: "inherit"
    })
  )
  // What has run is told, whoever stops it.
  let stopped = false
  const stop = (code: number) => () => {
    stopped = true
    process.exitCode = code
    for (const child of children) child.kill()
  }
  // As shells have it: 128 and the signal's number.
  process.on("SIGINT", stop(130))
  process.on("SIGTERM", stop(143))
  await Promise.all(
    children.map(async (child, job) => {
      for await (const line of linesOf(child.stdout)) {
        const told: Told = JSON.parse(line)
        tally.add(told)
        done[job] = (done[job] ?? 0) + 1
        if (told.broken !== undefined)
          console.log(`seed ${told.seed}  ${told.broken.invariant}: ${told.broken.detail}`)
      }
      if ((await child.exited) === 0 || child.killed || stopped) return
      console.error(`Process ${job + 1} of ${jobs} ended with ${child.exitCode}: all are stopped.`)
      process.exitCode = 1
      for (const other of children) other.kill()
    })
  )
  clearInterval(progress)
  console.log(tally.line)
  console.log(tally.coverage)
  const ran = done.reduce((sum, count) => sum + count, 0)
  // Shares differ by a seed where all have run; otherwise the slowest one tells where to go on.
  const next = ran === last - from ? last : from + jobs * Math.min(...done)
  console.log(`\nTo go on where this ended: bun run simulate --from ${next}${sql}`)
  if (tally.failed.length === 0) return
  process.exitCode = 1
  const kindOf = ({ broken }: Told) => broken?.invariant
  const firsts = tally.failed.filter(
    (told, index, all) => all.findIndex((other) => kindOf(other) === kindOf(told)) === index
  )
  console.log(
    `\nFailed seeds: ${tally.failed.length}. Invariants: ${firsts.length}, and the first seed of each:`
  )
  for (const { seed } of firsts) {
    console.log("")
    await one(seed)
  }
}

if (values.help) console.log(usage)
else if (values.seed !== undefined) await one(values.seed)
else if (values.every !== undefined) await share(numberOf("every", values.every))
else await many()
// PGlite keeps a process alive.
process.exit()
