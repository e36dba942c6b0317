// The seeds of every run of the suite, replay, and that planted defects are found.
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { defects } from "./defects.ts"
import { findDefects, sourceWith } from "./findDefects.ts"
import { planOf } from "./Plan.ts"
import { describeOutcome, simulate } from "./simulate.ts"

const seeds = Number(process.env["SIMULATION_SEEDS"] ?? 10)
/** The first run creates a database, which it keeps with the system's temporary files. */
const timeout = 180_000

describe("every invariant holds", () => {
  for (let seed = 1; seed <= seeds; seed++)
    test(
      `in seed ${seed}`,
      async () => {
        const outcome = await simulate(planOf(String(seed)))
        if (outcome.broken !== undefined)
          throw new Error(`${describeOutcome(outcome, false)}\nbun run simulate --seed ${seed} --explain`)
      },
      timeout
    )
})

test(
  "a seed replays bit by bit in another process, with another time zone, locale and mode",
  async () => {
    const { hash } = await simulate(planOf("3"))
    const environment = { TZ: "Pacific/Apia", LC_ALL: "tr_TR.UTF-8", NODE_ENV: "production" }
    const child = Bun.spawn(
      [process.execPath, "--smol", join(import.meta.dir, "main.ts"), "--seed", "3", "--explain"],
      {
        env: {
          PATH: "/nowhere",
          TMPDIR: process.env["TMPDIR"] ?? "/tmp",
          MONEY_NETWORK: process.env["MONEY_NETWORK"] ?? "",
          ...environment
        },
        stdout: "pipe"
      }
    )
    const told = await new Response(child.stdout).text()
    expect(/trace ([0-9a-f]{16})/.exec(told)?.[1]).toBe(hash)
  },
  timeout
)

test("each planted defect's text is in the sources exactly once", async () => {
  for (const defect of defects) await sourceWith(defect)
})

test(
  "a planted defect is found",
  async () => {
    expect(await findDefects("a settlement queues no webhook")).toBe(true)
  },
  timeout
)
