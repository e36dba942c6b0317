// A checkout world for a file of browser tests. After each test it checks that no page contacted a third party, broke
// the shop's CSP or threw.
import { afterEach, expect } from "bun:test"
import type { NewMerchant } from "../../src/merchants/keys/KeyAuth.ts"
import type { Environment } from "../../src/platform/AppConfig.ts"
import { browserSuite, closeContexts } from "../support/browser.ts"
import { forFile } from "../support/forFile.ts"
import { makeCheckoutWorld } from "./checkoutWorld.ts"

/** Call this once in a file. */
export const checkoutSuite = async (merchant: Partial<NewMerchant> = {}, environment: Environment = {}) => {
  const browserTest = browserSuite()
  const world = await forFile(makeCheckoutWorld(merchant, environment))
  afterEach(async () => {
    await closeContexts()
    await world.automine(true)
    world.node.behave(() => undefined)
    expect(world.complaints.splice(0)).toEqual([])
  })
  return { browserTest, world }
}
