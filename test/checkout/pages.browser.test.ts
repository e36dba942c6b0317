// The hosted pages in real Chromium: /pay for merchants who link, /playground for trying.
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { expectNoAxeViolations, screenshot, untilOn } from "../support/browser.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"

const { browserTest, world } = await checkoutSuite()
const { baseUrl, complaints, context, createIntent, keys, open, pages, shopUrl, tokenEndingIn, wallet } =
  world

describe("/pay", () => {
  browserTest("pays from a link, and leads back to the shop", async () => {
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    const asked: Array<string> = []
    page.on("request", (request) => asked.push(request.url()))
    const { token } = await createIntent()
    await page.goto(`${baseUrl}/pay#token=${token}&key=${keys.test.publishable}`)
    await toReview(page)
    const shop = shopUrl.replace("127.0.0.1", "localhost")
    expect(await page.getByRole("link", { name: "Return to" }).getAttribute("href")).toBe(`${shop}/thanks`)
    await expectNoAxeViolations(page)
    await screenshot(page, "pay-light-360")
    await page.reload()
    await untilState(page, "review")
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    // No URL that a server sees contains the token.
    expect(asked.filter((url) => url.includes(token.slice(0, 40)) && !url.includes("#"))).toEqual([])
    await browser.route(`${shop}/**`, (route) => route.fulfill({ body: "Thank you" }))
    await press(page, "Done")
    await page.waitForURL(`${shop}/thanks`)
    world.complaints.splice(0)
  })

  browserTest("leads back to the page that the buyer came from, if it knows no shop", async () => {
    const browser = await context([])
    const page = await browser.newPage()
    await page.goto(`${shopUrl}/cart`)
    await page.goto(`${baseUrl}/pay#token=${await tokenEndingIn(-1)}&key=${keys.test.publishable}`)
    await untilState(page, "expired")
    await press(page, "Close")
    await page.waitForURL(`${shopUrl}/cart`)
  })

  browserTest("says what to do if there is neither a shop nor a page to go back to", async () => {
    const browser = await context([])
    const from = await browser.newPage()
    await from.goto(shopUrl)
    const opened = browser.waitForEvent("page")
    const url = `${baseUrl}/pay#token=${await tokenEndingIn(-1)}&key=${keys.test.publishable}`
    await from.evaluate(`window.open(${JSON.stringify(url)}, "_blank", "noopener")`)
    const page = await opened
    await untilState(page, "expired")
    await press(page, "Close")
    await page.getByText("You can close this page.").waitFor()
  })

  browserTest("makes no link of an address that must not be followed", async () => {
    const browser = await context([])
    await browser.route("**/api/v1/payments", async (route) => {
      if (route.request().method() !== "POST") return route.fallback()
      const answer = await route.fetch()
      const { payment } = await answer.json()
      return route.fulfill({
        response: answer,
        json: { payment: { ...payment, intentUrl: "javascript:alert(1)" } }
      })
    })
    const page = await browser.newPage()
    await page.goto(`${baseUrl}/pay#token=${(await createIntent()).token}&key=${keys.test.publishable}`)
    await untilState(page, "connect")
    expect(await page.getByRole("link").count()).toBe(0)
  })

  browserTest("offers and loads nothing of WalletConnect without a project", async () => {
    const browser = await context([await wallet()])
    const asked: Array<string> = []
    browser.on("request", (request) => asked.push(request.url()))
    const page = await browser.newPage()
    await page.goto(`${baseUrl}/pay#token=${(await createIntent()).token}&key=${keys.test.publishable}`)
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    await page.waitForLoadState("networkidle")
    expect(await page.getByRole("button", { name: "WalletConnect" }).count()).toBe(0)
    expect(asked.filter((url) => /walletconnect/i.test(url))).toEqual([])
  })

  browserTest("says that a link is incomplete", async () => {
    const browser = await context([])
    const page = await browser.newPage()
    await page.goto(`${baseUrl}/pay#token=abc`)
    await page.getByText("The address of this payment page is incomplete.").waitFor()
    await page.goto(`${baseUrl}/pay#token=abc&key=`)
    await page.getByText("The address of this payment page is incomplete.").waitFor()
    await expectNoAxeViolations(page)
  })

  browserTest("and /playground cannot be framed", async () => {
    const browser = await context([])
    await browser.route(`${shopUrl}/frames`, (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<iframe src="${baseUrl}/pay"></iframe><iframe src="${baseUrl}/playground"></iframe>`
      })
    )
    const page = await browser.newPage()
    await page.goto(`${shopUrl}/frames`, { waitUntil: "load" })
    const inside = await Promise.all(
      page
        .frames()
        .slice(1)
        .map((frame) => frame.locator("main").count())
    )
    expect(inside).toEqual([0, 0])
    world.complaints.splice(0)
  })
})

describe("/playground", () => {
  browserTest("uses the key in its field, and says what is wrong with a bad one", async () => {
    const browser = await context([])
    const page = await browser.newPage()
    await page.goto(`${baseUrl}/playground`)
    await page.getByLabel("Test publishable key").fill("pk_test_wrong")
    await press(page, "New payment")
    await page.getByText("The API key is missing, malformed, unknown or revoked.").waitFor()
    await page.getByLabel("Test publishable key").fill(keys.live.publishable)
    await press(page, "New payment")
    await page.getByText("The playground is available on Testnet only.").waitFor()
    await page.getByLabel("Test publishable key").fill(keys.test.publishable)
    await page.getByText("5.00").click()
    await press(page, "New payment")
    await untilState(page, "connect")
    expect(await page.locator("quittance-checkout .amount").textContent()).toContain("$5.00")
    await expectNoAxeViolations(page)
    complaints.splice(0)
  })
})

describe("The page of docs/guides/checkout.md", () => {
  const example = (name: string) => Bun.file(join(import.meta.dir, "../examples", name)).text()
  const guideText = () => Bun.file(join(import.meta.dir, "../../docs/guides/checkout.md")).text()

  test("is shown as it runs", async () => {
    const guide = (await guideText()).replaceAll("{base_url}", "https://pay.example.com")
    expect(guide).toContain((await example("order.js")).trim())
    const [, shown = ""] = /^```html\n([\s\S]*?)^```$/m.exec(guide) ?? []
    expect(shown).toContain("<quittance-checkout ")
    const page = (await example("checkout.html")).split("\n").map((line) => line.trim())
    expect(page).toEqual(expect.arrayContaining(shown.trim().split("\n")))
  })

  browserTest("embeds the checkout, under the policy of the guide and its integrity", async () => {
    const { token } = await createIntent()
    const integrity = (await (await fetch(`${baseUrl}/checkout.js.integrity`)).text()).trim()
    const html = (await example("checkout.html"))
      .replace("eyJ…", token)
      .replace("pk_test_…", keys.test.publishable)
      .replace('src="https://pay.example.com', `integrity="${integrity}" src="${baseUrl}`)
    const policy = /^script-src 'self' \{base_url\}.*$/m.exec(await guideText())?.[0] ?? ""
    const browser = await context([await wallet()])
    const headers = {
      "content-type": "text/html",
      "content-security-policy": `default-src 'none'; ${policy.replaceAll("{base_url}", baseUrl)}`
    }
    pages.set("/order", { headers, body: html })
    pages.set("/order.js", {
      headers: { "content-type": "text/javascript" },
      body: await example("order.js")
    })
    const page = await browser.newPage()
    await page.goto(`${shopUrl}/order`)
    await toReview(page)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    await untilOn(page, "document.title.startsWith('Paid: PAY-')")
    await press(page, "Done")
    await page.waitForURL(`${shopUrl}/orders/1042`)
  })

  browserTest("is themed by custom properties and parts", async () => {
    const browser = await context([await wallet()])
    const page = await open(browser, (await createIntent()).token, "&theme=dark")
    await toReview(page)
    await page.evaluate(`{
      const sheet = new CSSStyleSheet()
      sheet.replaceSync("quittance-checkout { --quittance-accent: rgb(1, 2, 3) } quittance-checkout::part(amount) { color: rgb(4, 5, 6) }")
      document.adoptedStyleSheets = [sheet]
    }`)
    const style = (selector: string, property: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector("quittance-checkout").shadowRoot.querySelector("${selector}"))["${property}"]`
      )
    expect(await style("button.primary", "backgroundColor")).toBe("rgb(1, 2, 3)")
    expect(await style(".amount", "color")).toBe("rgb(4, 5, 6)")
    // The page is light; the theme belongs to the element.
    expect(await style(".card", "backgroundColor")).toBe("rgb(22, 24, 29)")
  })
})
