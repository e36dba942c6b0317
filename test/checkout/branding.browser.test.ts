// The merchant's branding in the checkout: set in the dashboard, visible to the buyer.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { Accounts } from "../../src/merchants/accounts/Accounts.ts"
import { Branding } from "../../src/merchants/Branding.ts"
import { expectNoAxeViolations, screenshot } from "../support/browser.ts"
import { testConfig } from "../support/memory.ts"
import { translatable, translatePage } from "../support/translatePage.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"

const { browserTest, world } = await checkoutSuite(
  {},
  { ONRAMP_URL: "https://buy.example.com/?to={address}&usd={amount}" }
)
const { baseUrl, context, createIntent, keys, merchantId, open, runIn, shopUrl, visit, wallet } = world

describe("The merchant's branding", () => {
  browserTest(
    "logo, colour and support address reach the checkout on the shop's page, within its policy",
    async () => {
      const password = "correct horse battery"
      await runIn(
        Effect.gen(function* () {
          const accounts = yield* Accounts
          const link = {
            email: "anna@example.com",
            merchantId: MerchantId.make(merchantId),
            role: "owner" as const,
            resetPassword: true,
            invitedBy: null,
            operator: false
          }
          yield* Effect.orDie(accounts.redeem(yield* accounts.createLink(link), password))
        }).pipe(Effect.provide(Accounts.layer), Effect.provide([SecureRandom.layerWebCrypto, testConfig()]))
      )
      const shop = await context([], { width: 1280 })
      const dashboard = await shop.newPage()
      await dashboard.goto(`${baseUrl}/dashboard/sign-in`)
      await dashboard.getByLabel("Email").fill("anna@example.com")
      await dashboard.getByLabel("Password").fill(password)
      await press(dashboard, "Sign in")
      await dashboard.getByRole("link", { name: "Settings" }).click()
      await dashboard.getByLabel("Logo", { exact: true }).setInputFiles({
        name: "logo.png",
        mimeType: "image/png",
        buffer: await dashboard.screenshot({ clip: { x: 0, y: 0, width: 60, height: 40 } })
      })
      await dashboard.getByRole("img", { name: "Your logo" }).waitFor()
      await dashboard.getByLabel("Use your brand colour for the main button").check()
      await dashboard.getByLabel("Colour", { exact: true }).fill("#ffe04a")
      await dashboard.getByLabel("Support contact").fill("help@demobooks.example")
      await dashboard
        .locator(".card", { hasText: "Support contact" })
        .getByRole("button", { name: "Save" })
        .click()
      await dashboard.getByText("Saved").waitFor()
      await dashboard.locator(".merchant img.logo").waitFor()
      await screenshot(dashboard, "dashboard-branding")
      await shop.close()

      const { page } = await visit()
      await toReview(page)
      const image = page.locator("quittance-checkout header img")
      const width = image.evaluate(async (one) => {
        if (!(one instanceof HTMLImageElement)) return 0
        await one.decode()
        return one.naturalWidth
      })
      expect(await width).toBe(128)
      await page.getByText("Questions? help@demobooks.example").waitFor()
      const pay = page.getByRole("button", { name: "Pay $10.00" })
      const colours = (one: Element) => [getComputedStyle(one).backgroundColor, getComputedStyle(one).color]
      expect(await pay.evaluate(colours)).toEqual(["rgb(255, 224, 74)", "rgb(0, 0, 0)"])
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        await expectNoAxeViolations(page)
        await screenshot(page, `branding-${colorScheme}-360`)
      }
    }
  )

  browserTest("a translated page still works: the buyer pays, and the time counts down", async () => {
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    await page.clock.install()
    const { token } = await createIntent()
    await page.goto((await open(browser, token)).url())
    await untilState(page, "connect")
    await translatePage(page, { all: true })
    await page.clock.fastForward("23:30:00")
    const left = () => page.getByRole("timer").textContent()
    const before = await left()
    await page.clock.fastForward("02:00")
    expect(await left()).not.toBe(before)
    const texts = await translatable(page)
    for (const data of ["$10.00", "PAY-", "27:"]) expect(texts).not.toContain(data)

    const paying = (await visit()).page
    await untilState(paying, "connect")
    await translatePage(paying, { all: true })
    await toReview(paying)
    await press(paying, "Pay $10.00")
    await untilState(paying, "settled")
    expect(await paying.locator("quittance-checkout h2").textContent()).toBe("Payment complete")
  })

  browserTest(
    "the description and the time limit are plain text; after the limit the page does not pay",
    async () => {
      const browser = await context([await wallet()])
      const page = await browser.newPage()
      await page.clock.install()
      await page.goto((await open(browser, (await createIntent()).token)).url())
      await page.evaluate(
        (text) => {
          document.querySelector("quittance-checkout")?.setAttribute("description", text)
        },
        `Two  books,\n<b>signed</b> ${"x".repeat(300)}`
      )
      const description = page.locator("quittance-checkout .description")
      expect(await description.textContent()).toMatch(/^Two books, <b>signed<\/b> x+…$/)
      expect((await description.textContent())?.length).toBe(200)
      await page
        .locator("quittance-checkout")
        .getByText(/^Open until /)
        .waitFor()
      await toReview(page)
      await page.clock.fastForward("23:30:00")
      const timer = page.getByRole("timer")
      expect(await timer.textContent()).toMatch(/^Time left to pay: (29|30):\d\d$/)
      await expectNoAxeViolations(page)
      await screenshot(page, "deadline-360")
      await page.clock.fastForward("31:00")
      await untilState(page, "expired")
      expect(await page.getByRole("button", { name: /^Pay/ }).count()).toBe(0)
    }
  )

  browserTest("too little USDC: the page shows the address to copy, and where to buy", async () => {
    const poor = await wallet({ usdc: 0n })
    const browser = await context([poor])
    const page = await open(browser, (await createIntent()).token)
    await press(page, "Test Wallet")
    await untilState(page, "needs-funds")
    await page.getByText(poor.account.address).waitFor()
    expect(await page.getByRole("link", { name: "Buy USDC" }).getAttribute("href")).toBe(
      `https://buy.example.com/?to=${poor.account.address}&usd=10.00`
    )
    await screenshot(page, "needs-funds-onramp-360")
  })

  browserTest(
    "a wrong key: the buyer reads a sentence, the developer the reason in the console",
    async () => {
      const browser = await context([])
      const page = await open(browser, (await createIntent()).token)
      const said: Array<string> = []
      page.on("console", (message) => {
        if (message.type() === "error") said.push(message.text())
      })
      await page.evaluate(
        `document.querySelector("quittance-checkout").setAttribute("publishable-key", "pk_test_wrong")`
      )
      await page.getByText("The shop’s checkout is not set up correctly.").first().waitFor()
      expect(said.join("\n")).toContain("<quittance-checkout> INVALID_API_KEY: The API key is missing")
    }
  )

  browserTest("a white button on the white card has an edge", async () => {
    const id = MerchantId.make(merchantId)
    await runIn(
      Effect.flatMap(Branding, (brandings) => brandings.change(id, { accentColor: "#ffffff", support: null }))
    )
    const browser = await context([await wallet()], { colorScheme: "light" })
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    const [edge, inside] = await page
      .getByRole("button", { name: /^Pay \$/ })
      .evaluate((button) => [
        getComputedStyle(button).borderTopColor,
        getComputedStyle(button).backgroundColor
      ])
    expect(inside).toBe("rgb(255, 255, 255)")
    expect(Number(/oklab\(([\d.]+)/.exec(edge ?? "")?.[1])).toBeLessThan(0.6)
    await runIn(
      Effect.flatMap(Branding, (brandings) => brandings.change(id, { accentColor: null, support: null }))
    )
  })

  browserTest("a missing key or token is reported after ten seconds; a late one is waited for", async () => {
    const { token } = await createIntent()
    const key = keys.test.publishable
    for (const [query, sentence, reason] of [
      [`token=${token}`, "The shop’s checkout is not set up correctly.", "publishable-key is empty."],
      [`key=${key}`, "This payment could not be opened.", "intent-token is empty."]
    ] as const) {
      const browser = await context([])
      const page = await browser.newPage()
      const said: Array<string> = []
      page.on("console", (message) => said.push(message.text()))
      await page.clock.install()
      await page.goto(`${shopUrl}/?${query}`)
      await page.clock.runFor(9_000)
      expect(await page.getByText(sentence).count()).toBe(0)
      await page.clock.runFor(2_000)
      await page.getByText(sentence).first().waitFor()
      expect(said.join("\n")).toContain(`<quittance-checkout> ${reason}`)
      await browser.close()
    }
    const browser = await context([])
    const page = await browser.newPage()
    await page.clock.install()
    await page.goto(`${shopUrl}/?key=${key}`)
    await page.clock.runFor(5_000)
    await page.evaluate(
      `document.querySelector("quittance-checkout").setAttribute("intent-token", "${token}")`
    )
    await page.getByText("Pay with your phone or a wallet").first().waitFor()
    await page.clock.runFor(10_000)
    expect(await page.getByText("Pay with your phone or a wallet").first().isVisible()).toBeTrue()
  })
})
