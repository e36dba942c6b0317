// The files that a buyer's browser loads: everything in one script, at most 60 kB gzipped.
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { Effect } from "effect"
import { browserBundle } from "../../src/platform/pages/BrowserBundle.ts"

const built = (entry: string) =>
  Effect.runPromise(
    browserBundle(`checkout/${entry}`, {
      QUITTANCE_BASE_URL: "https://pay.example.com",
      QUITTANCE_WALLETCONNECT_INTEGRITY: ""
    })
  )

describe("Sizes", () => {
  test("/checkout.js, with styles and every language, is at most 60 kB gzipped", async () => {
    const { bytes, gzip, integrity } = await built("component/main.ts")
    console.log(`checkout.js: ${gzip.length} bytes gzipped, ${bytes.length} in all`)
    expect(gzip.length).toBeLessThanOrEqual(60_000)
    expect(await Bun.file(join(import.meta.dir, "../../docs/guides/checkout.md")).text()).toContain(
      "at most 60 kB gzipped"
    )
    expect(integrity).toMatch(/^sha384-[A-Za-z0-9+/]{64}$/)
    const text = new TextDecoder().decode(bytes)
    // The script makes no code or markup from strings, and loads nothing later.
    expect(text).not.toMatch(/\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write|import\(/)
    expect([...new Set([...text.matchAll(/https?:\/\/[a-z0-9.-]+/g)].map(([url]) => url))].sort()).toEqual([
      "http://www.w3.org",
      "https://arb1.arbitrum.io",
      // Explorers that a buyer may open.
      "https://arbiscan.io",
      "https://link.metamask.io",
      "https://pay.example.com",
      "https://sepolia.base.org",
      "https://sepolia.basescan.org"
    ])
  })

  test("the same source gives the same integrity", async () => {
    expect((await built("component/main.ts")).integrity).toBe((await built("component/main.ts")).integrity)
  })

  test("/pay.js is a few kB", async () => {
    expect((await built("pages/pay.ts")).gzip.length).toBeLessThan(3_000)
  })
})
