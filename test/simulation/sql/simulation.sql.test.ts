// Replay and the seeds of every run of the suite, with the repositories' own SQL on PGlite.
import { beforeAll, expect, test } from "bun:test"
import { summary } from "../explain.ts"
import { planOf } from "../Plan.ts"
import { simulate } from "../simulate.ts"
import { warmUp } from "../warmUp.ts"

const seeds = Number(process.env["SIMULATION_SQL_SEEDS"] ?? 100)

// The first time it makes a database, which it keeps beside the system's temporary files.
beforeAll(() => warmUp("sql"), 120_000)

test("a seed replays bit by bit on SQL", () => {
  const plan = planOf("first", "sql")
  const { hash } = simulate(plan)
  expect(hash).toBe("142eb0f781f375d6")
  expect(simulate(plan).hash).toBe(hash)
}, 60_000)

/** Seeds that have found something, and what. */
const kept = {
  "233":
    "a wallet's transactions that left their blocks while no instance ran for longer than half an hour were never sent again",
  "887":
    "a settlement whose own transaction a node had called moved, and which was reverted, did not look at what had used its authorization"
}
for (const [seed, found] of Object.entries(kept))
  test(`${seed}: ${found}`, () => {
    const outcome = simulate(planOf(seed, "sql"))
    if (outcome.broken !== undefined) throw new Error(summary(outcome))
  }, 60_000)

test(`${seeds} seeds on SQL`, () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const outcome = simulate(planOf(String(seed), "sql"))
    if (outcome.broken !== undefined) throw new Error(summary(outcome))
  }
}, 600_000)
