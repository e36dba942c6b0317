// Random lives of payments on a chain that is reorganised again and again, down to the block that it calls final. At the
// end the books equal the chain to the atomic unit. `LIVES` sets the number of lives; `SEED` repeats a plan.
import { expect, setDefaultTimeout, test } from "bun:test"
import type { Draw } from "../simulation/Draw.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { readBooks } from "./randomLives/bookFacts.ts"
import { readChain } from "./randomLives/chainFacts.ts"
import { violations } from "./randomLives/checks.ts"
import { livesWorld } from "./randomLives/livesWorld.ts"
import { makeLiving } from "./randomLives/living.ts"
import { planOf } from "./randomLives/plan.ts"
import { makeRecord } from "./randomLives/record.ts"
import { untilAtRest } from "./randomLives/rest.ts"

const count = Number(process.env["LIVES"] ?? 24)
const seed = process.env["SEED"] ?? crypto.randomUUID().slice(0, 8)
const atOnce = 25

setDefaultTimeout(120_000 + count * 5_000)

const plan = planOf(seed, count)
const lives = await livesWorld(plan)

/** Moments in which the nodes do not answer, or not all methods. */
const upsetNodes = (draw: Draw) => {
  let isUpset = true
  const silent = () => ({ raw: new Response(null, { status: 503 }) })
  const running = (async () => {
    while (isUpset) {
      await Bun.sleep(draw.between(3_000, 9_000))
      if (!isUpset) return
      const method = draw.pick([undefined, undefined, "eth_getLogs", "eth_sendRawTransaction"])
      lives.world.node.behave((called) => (method === undefined || method === called ? silent() : undefined))
      await Bun.sleep(draw.between(200, 1_500))
      lives.world.node.behave(() => undefined)
    }
  })()
  return async () => {
    isUpset = false
    await running
  }
}

test(`${count} lives on ${moneyNetwork.name}: the books add up to the chain (SEED=${seed})`, async () => {
  console.log(`SEED=${seed} LIVES=${count} MONEY_NETWORK=${moneyNetwork.env}`)
  const began = performance.now()
  const record = makeRecord()
  const live = makeLiving(lives, record)
  const blocks = await lives.livesChain.begin()
  const calmNodes = upsetNodes(plan.draw.of("nodes"))
  const waiting = [...plan.lives]
  const worker = async () => {
    for (let life = waiting.shift(); life !== undefined; life = waiting.shift()) {
      await Bun.sleep(life.draw.between(0, 5_000))
      await live(life)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  await calmNodes()
  await blocks.calm()
  const left = await untilAtRest(lives, record, blocks.mine)
  if (left !== undefined) record.wrong.push(left)
  await blocks.end()
  const [books, chain] = [await readBooks(lives), await readChain(lives)]
  const { reorganisations } = lives.livesChain
  const settled = books.merchants.flatMap(({ payments }) =>
    payments.filter(({ status }) => status === "settled")
  )
  const figures = {
    payments: record.purchases.length,
    settled: settled.length,
    lost: books.claims.filter(({ isDropped, paymentId }) => isDropped && paymentId !== undefined).length,
    refunds: books.merchants.flatMap(({ refunds }) => refunds.filter(({ status }) => status === "proven"))
      .length,
    reorganisations: reorganisations.length,
    deepest: Math.max(0, ...reorganisations),
    dropped: lives.livesChain.dropped.size,
    seconds: Math.round((performance.now() - began) / 1_000)
  }
  console.log(JSON.stringify(figures))
  expect(await violations({ books, chain, lives, record })).toEqual([])
})
