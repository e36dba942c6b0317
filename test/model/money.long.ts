// Five hundred random lives of four payments each, on Postgres and anvil with the real USDC.
import { expect, test } from "bun:test"
import { runMoneyLives } from "./moneyLives.ts"

const seed = Number(process.env["LIVES_SEED"] ?? Date.now() % 2 ** 31)
const lives = Number(process.env["LIVES"] ?? 500)

test(`in ${lives} random lives of 4 payments the books balance to the atomic unit (LIVES_SEED=${seed})`, async () => {
  console.log(`lives of payments: LIVES_SEED=${seed}`)
  const seen = await runMoneyLives(lives, seed)
  console.log(seen)
  expect(seen["lives"]).toBeGreaterThanOrEqual(lives)
}, 3_600_000)
