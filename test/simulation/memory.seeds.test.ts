// Replay, the kept seeds, and the seeds of every run of the suite.
import { beforeAll, describe, expect, test } from "bun:test"
import { expectWhole } from "./expectWhole.ts"
import { fixedHashes } from "./fixedHashes.ts"
import { kept } from "./kept.ts"
import { planOf } from "./Plan.ts"
import { runPlan } from "./runPlan.ts"

// What a run loads for the first time.
beforeAll(() => runPlan(planOf("warm")), 120_000)

const seeds = Number(process.env["SIMULATION_SEEDS"] ?? 2_000)

describe("replay", () => {
  for (const [seed, hash] of Object.entries(fixedHashes))
    test(`seed ${seed} replays bit by bit`, async () => {
      expect((await runPlan(planOf(seed))).hash).toBe(hash)
    })

  test("a seed gives the same run again, and no two seeds give the same", async () => {
    const hashes = new Set<string>()
    for (let seed = 0; seed < 12; seed++) {
      const plan = planOf(`replay ${seed}`)
      const { hash } = await runPlan(plan)
      expect((await runPlan(plan)).hash).toBe(hash)
      hashes.add(hash)
    }
    expect(hashes.size).toBe(12)
  }, 180_000)
})

describe("kept seeds", () => {
  for (const { found, seed } of kept)
    test(`${seed}: ${found}`, async () => {
      await expectWhole(await runPlan(planOf(seed)))
    }, 180_000)
})

test("after every step that changes a row the oracle looks", async () => {
  for (let seed = 1; seed <= 20; seed++) await expectWhole(await runPlan(planOf(String(seed)), false, true))
}, 180_000)

test(`${seeds} seeds`, async () => {
  for (let seed = 1; seed <= seeds; seed++) await expectWhole(await runPlan(planOf(String(seed))))
}, 600_000)
