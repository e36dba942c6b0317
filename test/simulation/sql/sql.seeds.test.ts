// Replay and the seeds of every run of the suite, with the repositories' own SQL on PGlite.
import { beforeAll, expect, test } from "bun:test"
import { expectWhole } from "../expectWhole.ts"
import { fixedSqlHash } from "../fixedHashes.ts"
import { type Plan, planOf } from "../Plan.ts"
import { runPlan } from "../runPlan.ts"

const seeds = Number(process.env["SIMULATION_SQL_SEEDS"] ?? 100)

// The first time it makes a database, which it keeps beside the system's temporary files.
beforeAll(() => runPlan(planOf("first", "sql")), 120_000)

test("a seed replays bit by bit on SQL", async () => {
  const plan = planOf("first", "sql")
  const { hash } = await runPlan(plan)
  expect(hash).toBe(fixedSqlHash)
  expect((await runPlan(plan)).hash).toBe(hash)
}, 180_000)

test("a seed replays bit by bit where an operator goes back a release", async () => {
  const plan: Plan = { ...planOf("first", "sql"), upkeep: "rollback" }
  const { broken, hash } = await runPlan(plan)
  expect(broken).toBeUndefined()
  expect((await runPlan(plan)).hash).toBe(hash)
}, 180_000)

/** Seeds that have found something, and what. */
const kept = {
  "8": "a signature that others had used in time was refused as over where its buyer handed it in later, and its payment expired",
  "233":
    "a wallet's transactions that left their blocks while no instance ran for longer than half an hour were never sent again",
  "887":
    "a settlement whose own transaction a node had called moved, and which was reverted, did not look at what had used its authorization",
  "198270463":
    "what a stranger had used an authorization by left the chain, and its time was over: the payment, which the service had reported itself, was held to expire before its day"
}
for (const [seed, found] of Object.entries(kept))
  test(`${seed}: ${found}`, async () => {
    await expectWhole(await runPlan(planOf(seed, "sql")))
  }, 180_000)

test("after every step that changes a row the oracle looks, on SQL as well", async () => {
  for (const seed of ["3", "5", "7"]) await expectWhole(await runPlan(planOf(seed, "sql"), false, true))
}, 180_000)

test(`${seeds} seeds on SQL, the first of which come to the same after the last`, async () => {
  const hashes: Array<string> = []
  for (let seed = 1; seed <= seeds; seed++) {
    const outcome = await runPlan(planOf(String(seed), "sql"))
    await expectWhole(outcome)
    hashes[seed] = outcome.hash
  }
  for (const seed of [5, 12, 2].filter((one) => one <= seeds)) {
    const { hash } = await runPlan(planOf(String(seed), "sql"))
    expect(hash).toBe(hashes[seed] ?? "")
  }
}, 600_000)
