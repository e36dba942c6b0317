// Every state of the checkout, light and dark, on a phone and on a desktop: no accessibility violation, nothing cut
// off, every target large enough. SCREENSHOTS=<directory> saves pictures.
import { describe, expect } from "bun:test"
import type { BrowserContext, Page } from "playwright-core"
import { expectNoAxeViolations, screenshot } from "../support/browser.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"
import { type Behaviour, makeTestWallet, type TestWallet } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite()
const { automine, chain, context, createIntent, open, wallet } = world
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
const never: Behaviour = () => new Promise(() => {})

interface Scene {
  readonly name: string
  readonly funds?: { readonly usdc?: bigint; readonly gas?: boolean }
  readonly noWallet?: true
  readonly amount?: string
  readonly query?: string
  readonly userAgent?: string
  /** True if the relayer wallet has gas. */
  readonly relayed?: true
  readonly stage: (page: Page, wallet: TestWallet, browser: BrowserContext) => Promise<void>
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor()

const toConfirming = async (page: Page) => {
  await toReview(page)
  await world.automine(false)
  await press(page, /^Pay [$]/)
  await untilState(page, "confirming")
}

/** The wallet pays the page's payment in another browser, whose prompt stays open. */
const announceElsewhere = async (page: Page, wallet: TestWallet) => {
  wallet.behave("eth_sendTransaction", never)
  const other = await world.context([wallet])
  const there = await other.newPage()
  await there.goto(page.url())
  await toReview(there)
  await press(there, /^Pay [$]/)
  await heading(there, "Approve the payment")
  while (wallet.count("eth_sendTransaction") === 0) await Bun.sleep(20)
  await other.close()
}

const scenes: ReadonlyArray<Scene> = [
  {
    name: "loading",
    stage: async (page, _wallet, browser) => {
      await browser.route("**/api/**", () => {})
      await page.reload()
      await heading(page, "Preparing your payment")
    }
  },
  { name: "connect", stage: (page) => page.getByRole("button", { name: "Test Wallet" }).waitFor() },
  {
    name: "connect-none",
    noWallet: true,
    stage: (page) => heading(page, "Pay with your phone or a wallet")
  },
  {
    name: "connect-none-phone",
    noWallet: true,
    userAgent: phone,
    stage: (page) => page.getByRole("link", { name: "MetaMask" }).waitFor()
  },
  {
    name: "by-phone",
    stage: async (page) => {
      await press(page, "Pay with a phone")
      await heading(page, "Pay with your phone")
    }
  },
  {
    name: "by-address",
    stage: async (page) => {
      await press(page, "Pay from an exchange")
      await page.getByRole("button", { name: "Copy: Address" }).waitFor()
    }
  },
  {
    name: "by-address-arabic",
    query: "&lang=ar",
    stage: async (page) => {
      await press(page, "ادفع من منصة تداول")
      await page.getByRole("button", { name: "نسخ: العنوان" }).waitFor()
    }
  },
  {
    name: "review-signature",
    relayed: true,
    stage: async (page) => {
      await toReview(page)
      await page.getByText("None: paid for you").waitFor()
    }
  },
  {
    name: "awaiting-signature-authorization",
    relayed: true,
    stage: async (page, wallet) => {
      wallet.behave("eth_signTypedData_v4", never)
      await toReview(page)
      await press(page, /^Pay [$]/)
      await heading(page, "Sign the payment")
    }
  },
  {
    name: "review-cannot-sign",
    relayed: true,
    stage: async (page, wallet) => {
      wallet.behave("eth_signTypedData_v4", async () => {
        throw { code: -32601, message: "no" }
      })
      await toReview(page)
      await press(page, /^Pay [$]/)
      await page.getByText("This wallet cannot pay by signature here.").last().waitFor()
    }
  },
  {
    name: "connect-waiting",
    stage: async (page, wallet) => {
      wallet.behave("eth_requestAccounts", never)
      await press(page, "Test Wallet")
      await page.getByRole("button", { name: "Stop waiting" }).waitFor()
    }
  },
  {
    name: "wrong-network",
    stage: async (page, wallet) => {
      wallet.chainId = 1
      await press(page, "Test Wallet")
      await untilState(page, "wrong-network")
    }
  },
  {
    name: "needs-funds",
    funds: { usdc: 0n, gas: false },
    stage: async (page) => {
      await press(page, "Test Wallet")
      await untilState(page, "needs-funds")
    }
  },
  { name: "review", stage: toReview },
  {
    name: "review-large-amount",
    amount: "99999999999999.999999",
    stage: async (page) => {
      await press(page, "Test Wallet")
      await untilState(page, "needs-funds")
    }
  },
  {
    name: "review-declined",
    stage: async (page, wallet) => {
      wallet.behave("personal_sign", async () => {
        throw { code: 4001, message: "no" }
      })
      await toReview(page)
      await press(page, /^Pay [$]/)
      await page.getByText("You declined the request in your wallet.").last().waitFor()
    }
  },
  {
    name: "review-arabic",
    query: "&lang=ar",
    stage: async (page) => {
      await press(page, "Test Wallet")
      await untilState(page, "review")
      await page.locator("quittance-checkout button.primary:not([aria-disabled])").waitFor()
    }
  },
  {
    name: "review-german",
    query: "&lang=de",
    stage: async (page) => {
      await press(page, "Test Wallet")
      await untilState(page, "review")
      await page.locator("quittance-checkout button.primary:not([aria-disabled])").waitFor()
    }
  },
  {
    name: "awaiting-signature-identity",
    stage: async (page, wallet) => {
      wallet.behave("personal_sign", never)
      await toReview(page)
      await press(page, /^Pay [$]/)
      await heading(page, "Confirm it is you")
    }
  },
  {
    name: "awaiting-signature-transfer",
    stage: async (page, wallet) => {
      wallet.behave("eth_sendTransaction", never)
      await toReview(page)
      await press(page, /^Pay [$]/)
      await heading(page, "Approve the payment")
    }
  },
  {
    name: "awaiting-signature-unsure",
    stage: async (page, wallet) => {
      wallet.behave("eth_sendTransaction", never)
      await toReview(page)
      await press(page, /^Pay [$]/)
      await heading(page, "Approve the payment")
      while (wallet.count("eth_sendTransaction") === 0) await Bun.sleep(20)
      await page.reload()
      await heading(page, "Did you approve the payment?")
    }
  },
  {
    name: "confirming-announced",
    stage: async (page, wallet) => {
      await announceElsewhere(page, wallet)
      await press(page, "Test Wallet")
      await heading(page, "Payment in progress")
    }
  },
  {
    name: "review-warned",
    stage: async (page) => {
      await announceElsewhere(page, await world.wallet())
      await toReview(page)
      await page
        .getByText(/Another wallet, .*, started this payment at/)
        .last()
        .waitFor()
    }
  },
  {
    name: "live",
    stage: async (page) => {
      await page.evaluate(
        `document.querySelector("quittance-checkout").setAttribute("publishable-key", "${world.keys.live.publishable}")`
      )
      await heading(page, "Payments are closed")
    }
  },
  {
    name: "submitted",
    stage: async (page, _wallet, browser) => {
      await browser.route("**/api/v1/payments/*", () => {})
      await toReview(page)
      await press(page, /^Pay [$]/)
      await untilState(page, "submitted")
    }
  },
  { name: "confirming", stage: toConfirming },
  {
    name: "confirming-offline",
    stage: async (page, _wallet, browser) => {
      await toConfirming(page)
      await browser.setOffline(true)
      await page.getByText("No connection.").last().waitFor()
    }
  },
  {
    name: "settled",
    stage: async (page) => {
      await toReview(page)
      await press(page, /^Pay [$]/)
      await untilState(page, "settled")
    }
  },
  {
    name: "failed",
    stage: async (page) => {
      await page.evaluate(
        `document.querySelector("quittance-checkout").setAttribute("publishable-key", "pk_test_wrong")`
      )
      await untilState(page, "failed")
    }
  },
  {
    name: "expired",
    stage: async (page) => {
      const token = await world.tokenEndingIn(-1)
      await page.evaluate(
        `document.querySelector("quittance-checkout").setAttribute("intent-token", "${token}")`
      )
      await untilState(page, "expired")
    }
  },
  {
    name: "cancelled",
    stage: async (page) => {
      await press(page, "Cancel")
      await untilState(page, "cancelled")
    }
  }
]

/** Buttons and links that are smaller than 44 pixels in either direction. */
const smallTargets = `[...document.querySelector("quittance-checkout").shadowRoot.querySelectorAll("button, a")]
  .map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }))
  .filter(({ box }) => box.width < 44 || box.height < 44).map(({ text }) => text)`

describe("Looks", () => {
  for (const scene of scenes) {
    browserTest(`${scene.name}: accessible and not cut off, light and dark, 320 to 1280 px`, async () => {
      const buyer = scene.noWallet === true ? makeTestWallet(chain.rpcUrl, 84532) : await wallet(scene.funds)
      await world.fundRelayer(scene.relayed === true ? 10n ** 20n : 0n)
      const browser = await context(
        scene.noWallet === true ? [] : [buyer],
        scene.userAgent === undefined ? {} : { userAgent: scene.userAgent }
      )
      const page = await open(browser, (await createIntent(scene.amount)).token, scene.query)
      await page.locator("quittance-checkout [data-state]").waitFor()
      await scene.stage(page, buyer, browser)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        for (const width of [320, 360, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
          if (width !== 320) await screenshot(page, `${scene.name}-${colorScheme}-${width}`)
        }
        await page.setViewportSize({ width: 360, height: 800 })
        await expectNoAxeViolations(page)
      }
      expect(await page.evaluate<ReadonlyArray<string>>(smallTargets)).toEqual([])
      await automine(true)
    })
  }
})
