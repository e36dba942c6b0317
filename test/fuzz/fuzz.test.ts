// A run of the fuzzer in every test run; `bun run fuzz` runs longer.
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { fuzz } from "./fuzz.ts"

const count = 21_000

test(`${count} random requests: no 5xx, no answer outside the contract, no hang`, async () => {
  const seed = Number(process.env["FUZZ_SEED"] ?? crypto.getRandomValues(new Uint32Array(1))[0])
  console.log(`fuzz: seed ${seed}`)
  const result = await Effect.runPromise(fuzz(count, seed))
  console.log(`fuzz: ${result.requests} requests answered`, JSON.stringify(result.statuses))
  expect(result.failures.slice(0, 3)).toEqual([])
  expect(result.requests).toBeGreaterThanOrEqual(20_000)
}, 600_000)
