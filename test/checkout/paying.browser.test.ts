// The checkout in real Chromium against the service, anvil and the real USDC: the way
// that money takes, on a phone's screen, in a page of another origin.
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test"
import { browserSuite, hasChromium } from "../support/browser.ts"
import {
  type CheckoutWorld,
  eventsOf,
  press,
  startCheckoutWorld,
  toReview,
  untilState
} from "./checkoutWorld.ts"

const browserTest = browserSuite()
let world: CheckoutWorld

beforeAll(async () => {
  if (hasChromium) world = await startCheckoutWorld()
}, 60_000)
afterAll(() => world?.close(), 30_000)
afterEach(() => {
  if (!hasChromium) return
  const { complaints } = world
  expect(complaints.splice(0)).toEqual([])
})

describe("Paying in a browser", () => {
  browserTest("a buyer pays on a 360 px screen; the shop gets its webhook", async () => {
    const wallet = await world.wallet()
    const { token, id } = await world.createIntent("10.00")
    const context = await world.context([wallet])
    const page = await world.open(context, token)
    await toReview(page)
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await world.payment(id)).toMatchObject({ status: "settled" })
    expect(await world.transfers(wallet)).toBe(1)
    const events = await eventsOf(page)
    expect(new Set(events.map((event) => event.paymentId))).toEqual(new Set([id]))
    expect(events.map(({ name }) => name).filter((name) => name !== "statechange")).toEqual([
      "ready",
      "opened",
      "settled"
    ])
    expect(events.filter(({ name }) => name === "statechange").map(({ state }) => state)).toEqual(
      expect.arrayContaining(["connect", "review", "awaiting-signature", "submitted", "settled"])
    )
    await page.getByRole("button", { name: "Done" }).click()
    expect((await eventsOf(page)).at(-1)?.name).toBe("closed")
    expect(await page.evaluate("window.violations")).toEqual([])
    while (world.delivered.length === 0) await Bun.sleep(50)
    expect(world.delivered[0]?.type).toBe("payment.settled")
    await context.close()
  })
})
