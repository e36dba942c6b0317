// `bun run simulate`: one seed and its story, many seeds, or the planted defects.
import { parseArgs } from "node:util"
import { findDefects } from "./findDefects.ts"
import { planOf } from "./Plan.ts"
import { describeOutcome, simulate } from "./simulate.ts"
import { Tally } from "./Tally.ts"

const usage = `bun run simulate                         100 seeds
bun run simulate --seeds 1000 --from 1   that many seeds, from this one on
bun run simulate --minutes 60            as many seeds as fit
bun run simulate --seed 7 [--explain]    one seed, with its story
bun run simulate --defects [--only NAME] whether each planted defect is found`

const refuse = (message: string): never => {
  console.error(`${message}\n\n${usage}`)
  process.exit(2)
}

const parse = () => {
  try {
    return parseArgs({
      options: {
        seed: { type: "string" },
        explain: { type: "boolean", default: false },
        seeds: { type: "string", default: "100" },
        from: { type: "string", default: "1" },
        minutes: { type: "string" },
        defects: { type: "boolean", default: false },
        only: { type: "string", default: "" },
        help: { type: "boolean", default: false }
      }
    }).values
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}
const values = parse()

const numberOf = (name: string, value: string): number =>
  /^[1-9]\d{0,11}$/.test(value) ? Number(value) : refuse(`--${name} takes a whole number, not ${value}.`)

const progressMillis = 10_000

const many = async (): Promise<void> => {
  const from = numberOf("from", values.from)
  const minutes = values.minutes === undefined ? undefined : numberOf("minutes", values.minutes)
  const last = minutes === undefined ? from + numberOf("seeds", values.seeds) : Number.POSITIVE_INFINITY
  const end = performance.now() + 60_000 * (minutes ?? Number.POSITIVE_INFINITY)
  // Errors without stacks save a twentieth of the time.
  Error.stackTraceLimit = 0
  const tally = new Tally()
  let isStopped = false
  process.once("SIGINT", () => {
    isStopped = true
  })
  let [seed, shownAt] = [from, performance.now()]
  for (; seed < last && performance.now() < end && !isStopped; seed++) {
    const outcome = await simulate(planOf(String(seed)))
    tally.add(outcome)
    const { broken } = outcome
    if (broken !== undefined) console.log(`seed ${seed}  ${broken.invariant}: ${broken.detail}`)
    if (performance.now() < shownAt + progressMillis) continue
    shownAt = performance.now()
    console.log(tally.line)
    // Signals are handled between turns of the event loop.
    await Bun.sleep(0)
  }
  console.log(`${tally.coverage}\n\n${tally.line}\nThe next seed: bun run simulate --from ${seed}`)
  const [failed] = tally.failed
  if (failed === undefined) return
  console.log(`Failed: ${tally.failed.join(" ")}\nbun run simulate --seed ${failed} --explain`)
  process.exitCode = 1
}

const one = async (seed: string): Promise<void> => {
  const outcome = await simulate(planOf(seed), values.explain)
  console.log(describeOutcome(outcome, values.explain))
  if (outcome.broken !== undefined) process.exitCode = 1
}

if (values.help) console.log(usage)
else if (values.defects) process.exitCode = (await findDefects(values.only)) ? 0 : 1
else if (values.seed !== undefined) await one(values.seed)
else await many()
// PGlite keeps the process alive.
process.exit()
