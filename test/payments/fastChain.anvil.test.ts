// Blocks of a quarter of a second, read in ranges: the requests to a node in a day, while a payment is expected and
// while none is, and an unreported transfer.
import { expect, setDefaultTimeout, test } from "bun:test"
import { networks } from "../../src/domain/networks.ts"
import { moneyWorld } from "./moneyWorld.ts"

setDefaultTimeout(180_000)

const world = await moneyWorld({}, networks.live)
const daySeconds = 86_400

test("at most 180,000 requests a day while a payment is expected, 40,000 while none is", async () => {
  let mines = true
  const mining = (async () => {
    while (mines) {
      await world.mine(1)
      await Bun.sleep(240)
    }
  })()
  const requestsOfADay = async (seconds: number) => {
    world.node.calls.length = 0
    await Bun.sleep(seconds * 1_000)
    return (world.node.calls.length / seconds) * daySeconds
  }
  const buyer = await world.buyer()
  const payment = await world.open("3")
  expect((await world.announce(buyer, payment.id)).status).toBe(201)
  await Bun.sleep(15_000)
  const expected = await requestsOfADay(25)
  await world.transfer(buyer, 3_000_000n)
  const sent = performance.now()
  expect((await world.settled(payment.id)).status).toBe("settled")
  const settledAfter = performance.now() - sent
  await Bun.sleep(15_000)
  const idle = await requestsOfADay(70)
  mines = false
  await mining
  console.log(
    `${Math.round(expected)} requests a day while a payment is expected, ${Math.round(idle)} while none is; settled ${(settledAfter / 1_000).toFixed(1)} s after it was sent`
  )
  expect(expected).toBeGreaterThan(0)
  expect(expected).toBeLessThanOrEqual(180_000)
  expect(idle).toBeGreaterThan(0)
  expect(idle).toBeLessThanOrEqual(40_000)
})
