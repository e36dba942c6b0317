// A short run of random lives; the long one is `bun run test:long`.
import { describe, expect, test } from "bun:test"
import { runMoneyLives } from "./moneyLives.ts"

const seed = Number(process.env["LIVES_SEED"] ?? Date.now() % 2 ** 31)

describe("money", () => {
  test(`in 6 random lives of 4 payments the books balance to the atomic unit (LIVES_SEED=${seed})`, async () => {
    console.log(`lives of payments: LIVES_SEED=${seed}`)
    const seen = await runMoneyLives(6, seed)
    console.log(seen)
    expect(seen["lives"]).toBe(6)
    expect(seen["payments settled"]).toBeGreaterThan(0)
  }, 240_000)
})
