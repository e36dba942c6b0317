// A checkout world for a file of browser tests, held after each test against what no
// page may do: ask a third party, break the shop's CSP, throw.
import { afterAll, afterEach, beforeAll, expect } from "bun:test"
import type { NewMerchant } from "../../src/merchants/keys/KeyAuth.ts"
import type { Environment } from "../../src/platform/AppConfig.ts"
import { browserSuite, hasChromium } from "../support/browser.ts"
import { type CheckoutWorld, startCheckoutWorld } from "./checkoutWorld.ts"

/** Call once in a file; `world()` is there within tests. */
export const checkoutSuite = (merchant: Partial<NewMerchant> = {}, environment: Environment = {}) => {
  const browserTest = browserSuite()
  let started: CheckoutWorld | undefined
  const world = (): CheckoutWorld => {
    if (started === undefined) throw new Error("outside a test")
    return started
  }
  beforeAll(async () => {
    if (hasChromium) started = await startCheckoutWorld(merchant, environment)
  }, 120_000)
  afterAll(() => started?.close(), 120_000)
  afterEach(async () => {
    if (started === undefined) return
    await started.automine(true)
    started.node.behave(() => undefined)
    expect(started.complaints.splice(0)).toEqual([])
  })
  return { browserTest, world }
}
