// A hundred random lives of payments on a real database and anvil with the real
// USDC. `bun run test:long`
import { afterAll, expect, test } from "bun:test"
import { ManagedRuntime } from "effect"
import fc from "fast-check"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { localChain } from "../support/anvilSuite.ts"
import { testDatabase } from "../support/database.ts"
import { makeAnvilWorld } from "./anvilWorld.ts"
import { commands, Model, settlesInTheEnd } from "./paymentModel.ts"

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31)
const runs = Number(process.env["MODEL_RUNS"] ?? 100)
const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())

test(`${runs} random lives on Postgres and anvil agree with the model (MODEL_SEED=${seed})`, async () => {
  console.log(`model of payments on Postgres and anvil: MODEL_SEED=${seed}`)
  const chain = await runtime.runPromise(LocalChain)
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(fc.commands([...commands(false)], { maxCommands: 20, size: "max" }), async (steps) => {
      const world = await makeAnvilWorld(chain, testDatabase)
      const model = new Model()
      try {
        await fc.asyncModelRun(() => ({ model, real: world }), steps)
        await settlesInTheEnd(model, world)
      } finally {
        await world.close()
        for (const one of model.seen) seen.set(one, (seen.get(one) ?? 0) + 1)
      }
    }),
    { numRuns: runs, seed, endOnFailure: true }
  )
  console.log(Object.fromEntries(seen))
  expect(seen.get("Settled")).toBeGreaterThan(0)
}, 1_800_000)
