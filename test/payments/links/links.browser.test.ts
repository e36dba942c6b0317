// Payment links and the counter, end to end in Chromium on anvil.
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { checkoutSuite } from "../../checkout/browserWorld.ts"
import { press, toReview, untilState } from "../../checkout/checkoutWorld.ts"
import { expectNoAxeViolations, screenshot, untilOn } from "../../support/browser.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"

const { browserTest, world } = await checkoutSuite()
const { automine, baseUrl, context, keys, mine, runIn, transfers, wallet } = world

interface Made {
  readonly id: string
  readonly url: string
  readonly posterUrl: string
  readonly state: string
}

const ask = async (method: string, path: string, body?: object, key = world.keys[moneyNetwork.env].secret) =>
  fetch(`${world.baseUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const newLink = async (body: object): Promise<Made> => {
  const answer = await ask("POST", "/payment-links", { description: "Chess lesson", ...body })
  expect(answer.status).toBe(201)
  return (await answer.json()).link
}

const looks = async (page: Page, name: string) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
      await screenshot(page, `${name}-${colorScheme}-${width}`)
    }
    await expectNoAxeViolations(page)
  }
}

const saysMode = (page: Page) =>
  page
    .getByText("Test mode: no real money moves.")
    .waitFor({ state: moneyNetwork.isTest ? "visible" : "hidden" })

const payOn = async (page: Page, amount: string) => {
  await toReview(page)
  await press(page, `Pay ${amount}`)
  await untilState(page, "settled")
}

describe("Payment links", () => {
  browserTest("paid once: everybody gets the same payment, until it is paid", async () => {
    const link = await newLink({ amount: "10.00", once: true })
    const [one, other] = [await wallet(), await wallet()]
    const browsers = [await context([one]), await context([other])]
    const pages = await Promise.all(
      browsers.map(async (browser) => {
        const page = await browser.newPage()
        await page.goto(link.url)
        await page.getByRole("heading", { name: "Chess lesson" }).waitFor()
        await page.getByRole("button", { name: "Test Wallet" }).waitFor()
        return page
      })
    )
    const [first, second] = pages
    if (first === undefined || second === undefined) throw new Error("two pages")
    const reference = (page: Page) => page.locator("quittance-checkout footer").textContent()
    expect(await reference(first)).toBe(await reference(second))
    await payOn(first, "$10.00")
    await second.reload()
    await second.getByText("This payment link has been paid.").waitFor()
    for (const page of pages) expect(await page.getByLabel("Amount in USD").isVisible()).toBeFalse()
    await looks(second, "link-paid")
    expect((await transfers(one)) + (await transfers(other))).toBe(1)
    const again = await fetch(`${world.baseUrl}/api/v1/links/${link.id}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}"
    })
    expect(again.status).toBe(409)
    expect((await again.json()).error).toMatchObject({ code: "PAYMENT_LINK_CLOSED", reason: "paid" })
    await Promise.all(browsers.map((browser) => browser.close()))
  })

  browserTest("the buyer chooses an amount within bounds; a reload shows the same payment", async () => {
    const link = await newLink({ minAmount: "2", maxAmount: "20" })
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    await page.goto(link.url)
    await page.getByLabel("Amount in USD").fill("50")
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("alert").getByText("Enter an amount from $2.00 to $20.00.").waitFor()
    // The amounts are no text that page translation may rewrite.
    expect(await page.locator("#problem [translate=no]").allTextContents()).toEqual(["$2.00", "$20.00."])
    await looks(page, "link-choose")
    await page.getByLabel("Amount in USD").fill("7.5")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    const reference = () => page.locator("quittance-checkout footer").textContent()
    const before = await reference()
    await page.reload()
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    expect(await reference()).toBe(before)
    await payOn(page, "$7.50")
  })

  browserTest("a mistyped amount can be corrected; an ambiguous one is refused", async () => {
    const link = await newLink({ minAmount: "2", maxAmount: "1000" })
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    await page.goto(link.url)
    const field = page.getByLabel("Amount in USD")
    await field.fill("1,000")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").getByText("without thousands separators").waitFor()
    await field.fill("750")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    await press(page, "Cancel")
    await looks(page, "link-cancelled")
    await press(page, "Start again")
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    expect(await field.isVisible()).toBeFalse()
    await press(page, "Cancel")
    await field.fill("7.50")
    await page.keyboard.press("Enter")
    await payOn(page, "$7.50")
    await press(page, "Done")
    await page.getByText("You can close this page.").waitFor()
    await page.getByRole("heading", { name: "Payment complete" }).waitFor()
  })

  browserTest("a link can be paid by keyboard only", async () => {
    const link = await newLink({ minAmount: "2", maxAmount: "20" })
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    await page.goto(link.url)
    const field = page.getByLabel("Amount in USD")
    await field.waitFor()
    for (let tabs = 0; tabs < 5 && !(await field.evaluate((at) => at.matches(":focus"))); tabs++)
      await page.keyboard.press("Tab")
    await page.keyboard.type("7.5")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    const focused = () =>
      page.evaluate("document.querySelector('quittance-checkout').shadowRoot.activeElement?.textContent")
    const reach = async (text: string) => {
      for (let tabs = 0; tabs < 8 && (await focused()) !== text; tabs++) await page.keyboard.press("Tab")
      expect(await focused()).toBe(text)
      await page.keyboard.press("Enter")
    }
    await reach("Test Wallet")
    await untilState(page, "review")
    await page.getByRole("button", { name: /^Pay/ }).waitFor()
    await reach("Pay $7.50")
    await untilState(page, "settled")
  })

  browserTest("closed and expired links open nothing; a poster prints the QR code", async () => {
    const link = await newLink({ amount: "3.00" })
    const browser = await context([])
    const poster = await browser.newPage()
    await poster.goto(link.posterUrl)
    await poster.getByRole("img", { name: "QR code of the payment link" }).waitFor()
    await poster.getByText(link.url).waitFor()
    await saysMode(poster)
    await looks(poster, "poster")
    expect((await ask("DELETE", `/payment-links/${link.id}`)).status).toBe(204)
    const page = await browser.newPage()
    await page.goto(link.url)
    await page.getByText("This payment link is closed.").waitFor()
    const past = await ask("POST", "/payment-links", {
      description: "x",
      amount: "1",
      expiresAt: "2020-01-01T00:00:00Z"
    })
    expect(past.status).toBe(400)
    const both = await ask("POST", "/payment-links", { description: "x", amount: "1", minAmount: "1" })
    expect(both.status).toBe(400)
    if (moneyNetwork.isTest) {
      const live = await ask("POST", "/payment-links", { description: "x", amount: "1" }, keys.live.secret)
      expect(live.status).toBe(403)
    }
    expect(
      (
        await ask(
          "POST",
          "/payment-links",
          { description: "x", amount: "1" },
          keys[moneyNetwork.env].publishable
        )
      ).status
    ).toBe(403)
    const { links } = await (await ask("GET", "/payment-links")).json()
    expect(links[0]).toMatchObject({ id: link.id, state: "closed" })
    const older = await (await ask("GET", `/payment-links?limit=2&startingAfter=${links[1].id}`)).json()
    expect(older).toEqual({ links: links.slice(2, 4), hasMore: links.length > 4 })
    expect((await ask("GET", `/payment-links?startingAfter=${"a".repeat(24)}`)).status).toBe(400)
    await page.goto(`${baseUrl}/link/${"a".repeat(24)}`)
    await page.getByText("There is no payment link at this address.").waitFor()
  })

  browserTest(
    "another sale's code in the same tab shows that sale, and so does another counter",
    async () => {
      const link = await newLink({ minAmount: "1", maxAmount: "20" })
      const browser = await context([])
      const page = await browser.newPage()
      for (const amount of ["3", "4"]) {
        const opened = await (await ask("POST", `/links/${link.id}`, { amount })).json()
        const { intentToken } = opened
        const { payment } = await (
          await ask("POST", "/payments", { intentToken }, opened.publishableKey)
        ).json()
        await page.goto(`${link.url}#payment=${payment.id}`)
        await page.locator("quittance-checkout").getByText(`$${amount}.00`).first().waitFor()
      }
      const other = await newLink({ minAmount: "1", maxAmount: "20" })
      for (const { id } of [link, other]) {
        const asked = page.waitForRequest((request) => request.url().endsWith(`/links/${id}`))
        await page.goto(`${baseUrl}/counter#link=${id}`)
        await asked
      }
    }
  )

  browserTest("a payment continues although the shop's key was rotated since it was opened", async () => {
    const link = await newLink({ amount: "3.00" })
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    await page.goto(link.url)
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    const reference = () => page.locator("quittance-checkout footer bdi").first().textContent()
    const before = await reference()
    const rotated = `${keys[moneyNetwork.env].publishable.slice(0, -1)}${keys[moneyNetwork.env].publishable.endsWith("A") ? "B" : "A"}`
    await page.evaluate(
      `for (const [name, kept] of Object.entries(sessionStorage)) if (name.startsWith("quittance-link:"))
        sessionStorage.setItem(name, kept.replace("${keys[moneyNetwork.env].publishable}", "${rotated}"))`
    )
    await page.reload()
    await payOn(page, "$3.00")
    expect(await reference()).toBe(before)
  })

  browserTest("a payment that is over leads to another one", async () => {
    const link = await newLink({ amount: "3.00" })
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    await page.clock.install()
    await page.goto(link.url)
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    const reference = () => page.locator("quittance-checkout footer bdi").first().textContent()
    const before = await reference()
    await page.clock.fastForward("24:30:00")
    await untilState(page, "expired")
    await press(page, "Close")
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    expect(await reference()).not.toBe(before)
  })

  browserTest("closed while it is being paid: a reload continues the payment", async () => {
    const link = await newLink({ amount: "3.00" })
    const browser = await context([await wallet()])
    const page = await browser.newPage()
    await page.goto(link.url)
    await toReview(page)
    await automine(false)
    await press(page, "Pay $3.00")
    await untilState(page, "confirming")
    expect((await ask("DELETE", `/payment-links/${link.id}`)).status).toBe(204)
    await page.reload()
    await untilState(page, "confirming")
    await mine()
    await untilState(page, "settled")
    await page.reload()
    await untilState(page, "settled")
    await press(page, "Done")
    await page.reload()
    await page.getByText("This payment link is closed.").waitFor()
  })

  browserTest("after paying, a reload asks for nothing more", async () => {
    const link = await newLink({ amount: "3.00" })
    const buyer = await wallet()
    const browser = await context([buyer])
    const page = await browser.newPage()
    await page.goto(link.url)
    await payOn(page, "$3.00")
    const reference = () => page.locator("quittance-checkout footer bdi").first().textContent()
    const before = await reference()
    await page.reload()
    await untilState(page, "settled")
    expect(await reference()).toBe(before)
    await press(page, "Done")
    // Another payment is the buyer's choice.
    await page.reload()
    await untilState(page, "review")
    expect(await reference()).not.toBe(before)
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("tab closed during a payment: the link opened again shows the payment under way", async () => {
    const link = await newLink({ amount: "3.00" })
    const buyer = await wallet()
    const browser = await context([buyer])
    const first = await browser.newPage()
    await first.goto(link.url)
    await toReview(first)
    await automine(false)
    await press(first, "Pay $3.00")
    await first.getByText("You can close this page").first().waitFor()
    await first.close()
    const again = await browser.newPage()
    await again.goto(link.url)
    await untilState(again, "confirming")
    await mine()
    await untilState(again, "settled")
    // Once it is over, the next visitor of this browser pays for themselves.
    const next = await browser.newPage()
    await next.goto(link.url)
    await untilState(next, "review")
    expect(await transfers(buyer)).toBe(1)
  })

  for (const asked of [{ amount: "3.00" }, { minAmount: "2", maxAmount: "20" }])
    browserTest(
      `sent from an exchange and closed, ${"amount" in asked ? "of one amount" : "of a chosen amount"}: the link opened again shows the same payment`,
      async () => {
        const link = await newLink(asked)
        const browser = await context([])
        const openIn = async (one = browser) => {
          const page = await one.newPage()
          await page.goto(link.url)
          return page
        }
        const choose = async (page: Page) => {
          if ("amount" in asked) return
          await page.getByLabel("Amount in USD").fill("3")
          await page.keyboard.press("Enter")
        }
        const referenceOn = (page: Page) =>
          page.locator("quittance-checkout footer bdi").first().textContent()
        const first = await openIn()
        await choose(first)
        await press(first, "Pay from an exchange")
        // The address itself, after its title and text.
        await first.getByRole("button", { name: "Copy: Address" }).waitFor()
        const reference = await referenceOn(first)
        await first.close()
        const again = await openIn()
        await again.getByRole("button", { name: "Pay from an exchange" }).waitFor()
        expect(await referenceOn(again)).toBe(reference)
        // Another browser may belong to anybody.
        const stranger = await context([])
        const others = await openIn(stranger)
        await choose(others)
        await others.getByRole("button", { name: "Pay from an exchange" }).waitFor()
        expect(await referenceOn(others)).not.toBe(reference)
        await stranger.close()
        await again.close()
        // The merchant attaches the transfer: a returning buyer sees that it is paid, and can then pay another one.
        await runIn(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`
              UPDATE payments SET status = 'settled', settled_at = now(), reported_at = now(),
                transaction_id = decode(${"5".repeat(64)}, 'hex'), payer_address = decode(${"5".repeat(40)}, 'hex'),
                token_changes = '[]'
              WHERE ref_code = ${reference?.split(" ").at(-1) ?? ""}`
          )
        )
        const paid = await openIn()
        await untilState(paid, "settled")
        expect(await referenceOn(paid)).toBe(reference)
        await paid.close()
        const next = await openIn()
        await choose(next)
        await next.getByRole("button", { name: "Pay from an exchange" }).waitFor()
        expect(await referenceOn(next)).not.toBe(reference)
      }
    )

  browserTest("declined and closed: the link opened again asks for the amount again", async () => {
    const link = await newLink({ minAmount: "2", maxAmount: "20" })
    const buyer = await wallet()
    const browser = await context([buyer])
    const first = await browser.newPage()
    await first.goto(link.url)
    await first.getByLabel("Amount in USD").fill("3")
    await first.keyboard.press("Enter")
    await toReview(first)
    buyer.behave("eth_sendTransaction", () => Promise.reject({ code: 4001, message: "User rejected" }))
    await press(first, "Pay $3.00")
    await first.getByText("You declined the request in your wallet.").first().waitFor()
    await first.close()
    const again = await browser.newPage()
    await again.goto(link.url)
    await again.getByLabel("Amount in USD").waitFor()
  })

  browserTest("cancelled, resumed and sent: a reload shows the payment that was sent", async () => {
    const link = await newLink({ minAmount: "2", maxAmount: "20" })
    const buyer = await wallet()
    const browser = await context([buyer])
    const page = await browser.newPage()
    await page.goto(link.url)
    await page.getByLabel("Amount in USD").fill("3")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    await press(page, "Cancel")
    await press(page, "Start again")
    await toReview(page)
    await automine(false)
    await press(page, "Pay $3.00")
    await untilState(page, "confirming")
    await page.reload()
    await untilState(page, "confirming")
    await mine()
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "retried once the service is reachable, and sent: a reload shows the same payment",
    async () => {
      const link = await newLink({ amount: "3.00" })
      const buyer = await wallet()
      const browser = await context([buyer])
      const page = await browser.newPage()
      await page.route("**/api/v1/payments", (route) => route.abort())
      await page.goto(link.url)
      await page.getByRole("button", { name: "Try again" }).waitFor()
      await page.unroute("**/api/v1/payments")
      await press(page, "Try again")
      await toReview(page)
      await automine(false)
      await press(page, "Pay $3.00")
      await untilState(page, "confirming")
      await page.reload()
      await untilState(page, "confirming")
      await mine()
      await untilState(page, "settled")
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest("a poster is printed, and shared by the device or the clipboard", async () => {
    const link = await newLink({ amount: "3.00", description: "Chess lesson" })
    for (const hasShareSheet of [true, false]) {
      const browser = await context([])
      await browser.addInitScript(`
        window.said = []
        window.print = () => said.push("printed")
        ${hasShareSheet ? "navigator.share = async (data) => void said.push(data)" : "delete Navigator.prototype.share"}
        Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void said.push(text) } })
      `)
      const poster = await browser.newPage()
      await poster.goto(link.posterUrl)
      await poster.getByRole("img", { name: "QR code of the payment link" }).waitFor()
      await press(poster, "Print")
      await press(poster, "Share")
      if (!hasShareSheet) await poster.getByText("Link copied.").waitFor()
      await untilOn(poster, "said.length > 1")
      expect(await poster.evaluate<ReadonlyArray<unknown>>("said")).toEqual([
        "printed",
        hasShareSheet ? { title: "Chess lesson", url: link.url } : link.url
      ])
      await poster.emulateMedia({ media: "print" })
      expect(await poster.getByRole("button", { name: "Print" }).isVisible()).toBeFalse()
      await screenshot(poster, "poster-print")
      await browser.close()
    }
  })
})

describe("In the reader's language", () => {
  browserTest("an amount is typed in the digits that the page shows", async () => {
    const link = await newLink({ minAmount: "2", maxAmount: "20" })
    const browser = await context([], { locale: "ar-EG" })
    const page = await browser.newPage()
    await page.goto(link.url)
    await page.getByText("٢٫٠٠").waitFor()
    await page.locator("#amount").fill("٧٫٥")
    await page.keyboard.press("Enter")
    await page.locator("quittance-checkout").getByText("٧٫٥٠").first().waitFor()
  })

  browserTest("a link, its poster and the counter speak German, and Arabic from the right", async () => {
    const link = await newLink({ minAmount: "2", maxAmount: "20" })
    for (const [locale, direction, words] of [
      ["de-AT", "ltr", ["Weiter", "Drucken", "Kassieren"]],
      ["ar", "rtl", ["متابعة", "طباعة", "تحصيل"]]
    ] as const) {
      const browser = await context([], { locale, width: 820 })
      const page = await browser.newPage()
      for (const [index, address] of [
        link.url,
        link.posterUrl,
        `${baseUrl}/counter#link=${link.id}`
      ].entries()) {
        await page.goto(address)
        await page.getByRole("button", { name: words[index] ?? "" }).waitFor()
        expect(await page.locator("html").getAttribute("lang")).toBe(locale.slice(0, 2))
        expect(await page.locator("html").getAttribute("dir")).toBe(direction)
        await looks(page, `links-${index}-${locale}`)
      }
      await browser.close()
    }
  })
})

test("the page of an unknown link is 404, a link's page is 200", async () => {
  const link = await newLink({ description: "There", amount: "1.00" })
  for (const [path, status] of [
    [`/link/${link.id}`, 200],
    [`/link/${link.id}/poster`, 200],
    ["/link/nowhere", 404],
    ["/link/nowhere/poster", 404]
  ] as const)
    expect((await fetch(`${world.baseUrl}${path}`)).status).toBe(status)
})

describe("The counter", () => {
  browserTest("on a tablet that stores nothing says what is missing", async () => {
    const link = await newLink({ description: "Counter", minAmount: "0.01", maxAmount: "1000" })
    const shop = await context([])
    await shop.addInitScript(() => {
      Object.defineProperty(window, "localStorage", {
        get: () => {
          throw new DOMException("denied", "SecurityError")
        }
      })
    })
    const tablet = await shop.newPage()
    await tablet.goto(`${baseUrl}/counter#link=${link.id}`)
    await tablet.getByText("This browser stores no data for this page, which the counter needs.").waitFor()
    await shop.close()
  })

  browserTest(
    "an amount by touch, a QR code, the customer pays, a tick, the day's total, also after a reload",
    async () => {
      const link = await newLink({ description: "Counter", minAmount: "0.01", maxAmount: "1000" })
      const shop = await context([], { width: 820, height: 1180 })
      const tablet = await shop.newPage()
      await tablet.goto(`${baseUrl}/counter#link=${link.id}`)
      await tablet.getByText("Today on this device: $0.00 (0)").waitFor()
      for (const key of ["4", "Decimal point", "2", "0"]) await press(tablet, key)
      await looks(tablet, "counter")
      await press(tablet, "Charge")
      await tablet.getByRole("heading", { name: "$4.20" }).waitFor()
      await looks(tablet, "counter-code")
      await tablet.reload()
      await tablet.getByRole("heading", { name: "$4.20" }).waitFor()
      const sale: { readonly paymentId: string } = await tablet.evaluate(
        `JSON.parse(localStorage.getItem("quittance-counter-sale:${link.id}"))`
      )
      const customer = await context([await wallet()])
      const phone = await customer.newPage()
      await phone.goto(`${baseUrl}/link/${link.id}#payment=${sale.paymentId}`)
      await phone.getByRole("button", { name: "Test Wallet" }).waitFor()
      expect(await phone.getByLabel("Amount in USD").isVisible()).toBeFalse()
      await payOn(phone, "$4.20")
      const began = performance.now()
      await tablet.getByRole("heading", { name: "$4.20 paid" }).waitFor()
      expect(performance.now() - began).toBeLessThan(15_000)
      await tablet.getByText("Today on this device: $4.20 (1)").waitFor()
      // A tick for test money is marked as no sale.
      await saysMode(tablet)
      await looks(tablet, "counter-paid")
      await tablet.reload()
      await tablet.getByText("Today on this device: $4.20 (1)").waitFor()
      // By keyboard.
      await tablet.keyboard.type("1.25")
      await tablet.keyboard.press("Enter")
      await tablet.getByRole("heading", { name: "$1.25" }).waitFor()
      await tablet.keyboard.press("Enter")
      await tablet.getByLabel("Amount in USD").waitFor()
      await Promise.all([shop.close(), customer.close()])
    }
  )

  browserTest(
    "by keyboard only, from sale to sale; a sale that is paid after its end counts, and the page says so",
    async () => {
      const link = await newLink({ description: "Counter", minAmount: "0.01", maxAmount: "1000" })
      const shop = await context([], { width: 820, height: 1180 })
      const tablet = await shop.newPage()
      const ring = async (amount: string) => {
        await tablet.getByLabel("Amount in USD").waitFor()
        await tablet.keyboard.type(amount)
        await tablet.keyboard.press("Enter")
        await tablet.getByRole("heading", { name: `$${amount}` }).waitFor()
        const sale: { readonly paymentId: string } = await tablet.evaluate(
          `JSON.parse(localStorage.getItem("quittance-counter-sale:${link.id}"))`
        )
        return sale.paymentId
      }
      const pays = async (paymentId: string, amount: string) => {
        const customer = await context([await wallet()])
        const phone = await customer.newPage()
        await phone.goto(`${baseUrl}/link/${link.id}#payment=${paymentId}`)
        await payOn(phone, amount)
        await customer.close()
      }
      await tablet.goto(`${baseUrl}/counter#link=${link.id}`)
      const cancelled = await ring("2.50")
      await tablet.keyboard.press("Enter")
      const second = await ring("4.00")
      // The key that the sales were opened with is revoked in between.
      await tablet.evaluate(`for (const kind of ["sale", "cancelled"]) {
        const key = "quittance-counter-" + kind + ":${link.id}"
        localStorage.setItem(key, localStorage.getItem(key).replace(/("publishableKey":"[^"]*)[^"]{8}"/, (_, start) => start + '00000000"'))
      }`)
      await tablet.reload()
      await tablet.getByRole("heading", { name: "$4.00" }).waitFor()
      await pays(second, "$4.00")
      await tablet.getByRole("heading", { name: "$4.00 paid" }).waitFor()
      await tablet.keyboard.press("Tab")
      await tablet.keyboard.press("Enter")
      await tablet.getByLabel("Amount in USD").waitFor()
      await pays(cancelled, "$2.50")
      await tablet.getByText("The customer paid $2.50 for a cancelled sale.").waitFor()
      await tablet.getByText("Today on this device: $6.50 (2)").waitFor()
      await tablet.reload()
      await tablet.getByText("Today on this device: $6.50 (2)").waitFor()
    }
  )
  browserTest(
    "a link that is paid once: a payment that somebody has begun stays due, whatever is typed, and counts once",
    async () => {
      const link = await newLink({ description: "Chair", minAmount: "1", maxAmount: "1000", once: true })
      const shop = await context([], { width: 820, height: 1180 })
      const tablet = await shop.newPage()
      await tablet.goto(`${baseUrl}/counter#link=${link.id}`)
      await tablet.getByLabel("Amount in USD").waitFor()
      await tablet.keyboard.type("3.00")
      await tablet.keyboard.press("Enter")
      await tablet.getByRole("heading", { name: "$3.00" }).waitFor()
      const { paymentId }: { readonly paymentId: string } = await tablet.evaluate(
        `JSON.parse(localStorage.getItem("quittance-counter-sale:${link.id}"))`
      )
      // The customer sees the address, and the shop changes the price.
      const shown = await ask(
        "POST",
        `/payments/${paymentId}/address`,
        undefined,
        keys[moneyNetwork.env].publishable
      )
      expect(shown.status).toBe(200)
      await tablet.keyboard.press("Enter")
      await tablet.getByLabel("Amount in USD").waitFor()
      await tablet.keyboard.type("30")
      await tablet.keyboard.press("Enter")
      await tablet.getByRole("heading", { name: "$3.00" }).waitFor()
      const customer = await context([await wallet()])
      const phone = await customer.newPage()
      await phone.goto(`${baseUrl}/link/${link.id}#payment=${paymentId}`)
      await payOn(phone, "$3.00")
      await tablet.getByRole("heading", { name: "$3.00 paid" }).waitFor()
      await Bun.sleep(4_000)
      await tablet.getByText("Today on this device: $3.00 (1)").waitFor()
      await Promise.all([shop.close(), customer.close()])
    }
  )
  browserTest(
    "touch and keys mix, an ambiguous amount is refused, a day ends, and a silent service is reported",
    async () => {
      const link = await newLink({ description: "Counter", minAmount: "0.01", maxAmount: "1000" })
      const shop = await context([], { width: 820, height: 1180 })
      const tablet = await shop.newPage()
      await tablet.clock.install({ time: new Date("2026-03-01T12:00:00") })
      await tablet.goto(`${baseUrl}/counter#link=${link.id}`)
      const field = tablet.getByLabel("Amount in USD")
      await field.waitFor()
      await field.fill("1,000")
      await tablet.keyboard.press("Enter")
      await tablet.getByText("without thousands separators").waitFor()
      await field.fill("")
      await press(tablet, "4")
      await tablet.keyboard.type("2")
      expect(await field.inputValue()).toBe("42")
      await tablet.getByRole("heading", { name: "Demo Books" }).click()
      await tablet.keyboard.type(".5")
      expect(await field.inputValue()).toBe("42.5")
      await press(tablet, "0")
      const opened: Array<string> = []
      tablet.on("request", (request) => {
        if (request.url().endsWith(`/links/${link.id}`)) opened.push(request.method())
      })
      // Submitting twice opens one sale.
      await tablet.evaluate("for (const _ of [1, 2]) document.getElementById('form').requestSubmit()")
      await tablet.getByRole("heading", { name: "$42.50" }).waitFor()
      expect(opened).toEqual(["POST"])

      await shop.setOffline(true)
      await tablet.clock.runFor(5_000)
      await tablet.getByText("No connection.").waitFor()
      await looks(tablet, "counter-offline")
      await shop.setOffline(false)
      await tablet.clock.runFor(5_000)
      await tablet.getByText("No connection.").waitFor({ state: "detached" })

      // A sale is followed to its end although the link is closed.
      expect((await ask("DELETE", `/payment-links/${link.id}`)).status).toBe(204)
      await tablet.reload()
      await tablet.getByRole("heading", { name: "$42.50" }).waitFor()
      await press(tablet, "Cancel")

      await tablet.evaluate(
        `localStorage.setItem("quittance-counter-day:${link.id}", JSON.stringify({ date: "2026-03-01", count: 3, atomic: "9000000" }))`
      )
      await tablet.reload()
      await tablet.getByText("Today on this device: $9.00 (3)").waitFor()
      await tablet.clock.fastForward("13:00:00")
      await tablet.clock.runFor(5_000)
      await tablet.getByText("Today on this device: $0.00 (0)").waitFor()
    }
  )
})
