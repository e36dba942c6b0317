// The checkout in real Chromium against the service, anvil and the real USDC: the path of the money, on a phone's
// screen, in a page of another origin.

import { describe, expect } from "bun:test"
import { toHex } from "viem"
import { encodeTransfer } from "../../src/checkout/component/erc20.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { eventsOf, press, receiver, toReview, untilState } from "./checkoutWorld.ts"
import { decline } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite()
const {
  baseUrl,
  chain,
  context,
  createIntent,
  delivered,
  keys,
  open,
  payment,
  shopUrl,
  transfers,
  visit,
  wallet
} = world

describe("Paying in a browser", () => {
  browserTest("a buyer pays on a 360 px screen; the shop gets its webhook", async () => {
    const buyer = await wallet()
    const { token, id } = await createIntent("10.00")
    const browser = await context([buyer])
    const page = await open(browser, token)
    await toReview(page)
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await payment(id)).toMatchObject({ status: "settled" })
    expect(await transfers(buyer)).toBe(1)
    const events = await eventsOf(page)
    expect(new Set(events.map((event) => event.paymentId))).toEqual(new Set([id]))
    expect(events.map(({ name }) => name).filter((name) => name !== "statechange")).toEqual([
      "ready",
      "opened",
      "settled"
    ])
    // The first poll may come before or after the block, by milliseconds.
    const states = events.filter(({ name, state }) => name === "statechange" && state !== "confirming")
    expect(states.map(({ state }) => state)).toEqual([
      "connect",
      "review",
      "awaiting-signature",
      "submitted",
      "settled"
    ])
    await press(page, "Done")
    expect((await eventsOf(page)).at(-1)?.name).toBe("closed")
    expect(await page.evaluate("window.violations")).toEqual([])
    while (delivered.length === 0) await Bun.sleep(50)
    expect(delivered[0]?.type).toBe("payment.settled")
  })

  browserTest("the keyboard is enough to pay, in a checkout loaded by a module script", async () => {
    const browser = await context([await wallet()])
    const page = await open(browser, (await createIntent()).token, "&as=module")
    await untilState(page, "connect")
    const focused = () =>
      page.evaluate("document.querySelector('quittance-checkout').shadowRoot.activeElement?.textContent")
    await page.getByRole("button", { name: "Test Wallet" }).waitFor()
    await page.keyboard.press("Tab")
    expect(await focused()).toBe("Test Wallet")
    await page.keyboard.press("Enter")
    await untilState(page, "review")
    await page.getByRole("button", { name: /^Pay/ }).waitFor()
    expect(await focused()).toBe("Review and pay")
    await page.keyboard.press("Tab")
    expect(await focused()).toBe("Pay $10.00")
    await page.keyboard.press("Enter")
    await untilState(page, "settled")
    await page
      .getByRole("status")
      .filter({ hasText: "Payment complete" })
      .first()
      .waitFor({ state: "attached" })
  })

  browserTest("several wallets are offered, and only icons in data: URLs are shown", async () => {
    const [one, other] = [await wallet(), await wallet()]
    const browser = await context([one, other])
    const page = await open(browser, (await createIntent()).token)
    await page.getByRole("button", { name: "Other Wallet 1" }).waitFor()
    expect(await page.locator("quittance-checkout img").count()).toBe(2)
    await press(page, "Other Wallet 1")
    await untilState(page, "review")
    expect(one.count("eth_requestAccounts")).toBe(0)
    expect(other.count("eth_requestAccounts")).toBe(1)
    await press(page, "Use another wallet")
    await untilState(page, "connect")
    await toReview(page)
  })

  browserTest(
    "without a wallet the buyer is told so; a wallet that announces itself late appears",
    async () => {
      const browser = await context([])
      const late = await wallet()
      await late.install(browser, { delayMillis: 2_500 })
      const page = await open(browser, (await createIntent()).token)
      await page.getByRole("heading", { name: "Pay with your phone or a wallet" }).waitFor()
      // The QR code for the phone comes first.
      await page.locator("quittance-checkout .main .lead + .code-box .qr").waitFor()
      await page.getByRole("button", { name: "Test Wallet" }).waitFor()
      await toReview(page)
    }
  )

  browserTest(
    "a wallet shows its own icon if that is an image of bounded size, else a drawn one",
    async () => {
      const svg = (content: string) =>
        `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">${content}</svg>`)}`
      const icons = {
        "an image": svg('<rect width="9" height="9"/><script>parent.scripted = true</script>'),
        "<img src=x>": "https://tracker.example.com/i.png",
        "a page": "data:text/html,<script>parent.scripted = true</script>",
        "too large": svg(`<!--${"x".repeat(200_000)}-->`),
        broken: "data:image/png;base64,AAAA"
      }
      const browser = await context([])
      await browser.addInitScript(`window.addEventListener("eip6963:requestProvider", () => {
      for (const [name, icon] of Object.entries(${JSON.stringify(icons)}))
        window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: {
          info: { uuid: name, name, icon, rdns: name }, provider: { request: async () => [] } } }))
    })`)
      const page = await open(browser, (await createIntent()).token)
      const choices = page.locator("quittance-checkout .wallet")
      await choices.filter({ hasText: "broken" }).locator(".glyph svg").waitFor()
      for (const name of Object.keys(icons)) {
        const choice = choices.filter({ hasText: name })
        expect(await choice.locator("img").count()).toBe(name === "an image" ? 1 : 0)
        expect(await choice.locator(".glyph svg").count()).toBe(name === "an image" ? 0 : 1)
      }
      expect(await page.evaluate("globalThis.scripted")).toBeUndefined()
    }
  )

  browserTest("after a declined connection, signature or transfer the buyer can go on", async () => {
    const { buyer, page } = await visit()
    const declined = page.getByText("You declined the request in your wallet. No money was sent.").last()

    buyer.behave("eth_requestAccounts", decline)
    await press(page, "Test Wallet")
    await declined.waitFor()
    buyer.behave("eth_requestAccounts", undefined)
    await toReview(page)
    for (const method of ["personal_sign", "eth_sendTransaction"]) {
      buyer.behave(method, decline)
      await press(page, "Pay $10.00")
      await declined.waitFor()
      await untilState(page, "review")
      buyer.behave(method, undefined)
    }
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
    // The identity is signed once for both attempts at the transfer.
    expect(buyer.count("personal_sign")).toBe(2)
  })

  if (moneyNetwork.faucet)
    browserTest("too little USDC: the faucet pays, then the buyer does", async () => {
      const poor = await wallet({ usdc: 0n, gas: false })
      const browser = await context([poor])
      const page = await open(browser, (await createIntent("2.00")).token)
      await press(page, "Test Wallet")
      await untilState(page, "needs-funds")
      poor.behave("personal_sign", decline)
      await press(page, "Get $10.00 test USDC")
      await page.getByText("You declined").last().waitFor()
      poor.behave("personal_sign", undefined)
      await press(page, "Get $10.00 test USDC")
      await untilState(page, "review")
      await page.getByText("Test funds have arrived.").last().waitFor()
      await press(page, "Pay $2.00")
      await untilState(page, "settled")
    })

  browserTest("funds that arrive another way appear after checking again", async () => {
    const poor = await wallet({ usdc: 5_000_000n })
    const browser = await context([poor])
    const page = await open(browser, (await createIntent()).token)
    await press(page, "Test Wallet")
    await untilState(page, "needs-funds")
    await page.getByText("Your wallet holds $5.00").last().waitFor()
    const { Effect } = await import("effect")
    const { Address } = await import("../../src/domain/Chain.ts")
    await Effect.runPromise(chain.mint(Address.make(poor.account.address), 5_000_000n))
    await press(page, "Check balance again")
    await untilState(page, "review")
  })

  browserTest(
    "if USDC is gone when the transfer is requested, the page says that USDC is missing, not ETH",
    async () => {
      const { buyer, page } = await visit()
      await toReview(page)
      // The error of the token's contract.
      const more = { to: moneyNetwork.usdc.address, data: encodeTransfer(receiver, 60_000_000n) }
      buyer.behave("eth_sendTransaction", () =>
        buyer.rpc("eth_estimateGas", [{ from: buyer.address, ...more }])
      )
      await press(page, "Pay $10.00")
      await page.locator("quittance-checkout [part=notice]", { hasText: "Not enough funds" }).waitFor()
      expect(await page.getByText("not have enough ETH").count()).toBe(0)
      await page.getByRole("button", { name: "Pay $10.00" }).waitFor()
    }
  )

  browserTest("the wrong network is switched; a network that the wallet lacks (4902) is added", async () => {
    const buyer = await wallet()
    buyer.chainId = 1
    buyer.known.clear()
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await press(page, "Test Wallet")
    await untilState(page, "wrong-network")
    buyer.behave("wallet_addEthereumChain", decline)
    await press(page, "Switch network")
    await page.getByText("You declined").last().waitFor()
    buyer.behave("wallet_addEthereumChain", undefined)
    await press(page, "Switch network")
    await untilState(page, "review")
    const added = buyer.requests.findLast(({ method }) => method === "wallet_addEthereumChain")?.params[0]
    expect(added).toMatchObject({
      chainId: toHex(moneyNetwork.chainId),
      nativeCurrency: { symbol: "ETH", decimals: 18 }
    })
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
  })

  browserTest("changes of account, chain and connection during the review are followed", async () => {
    const [buyer, other] = [await wallet(), await wallet()]
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await buyer.emit(page, "accountsChanged", [other.account.address])
    await page.getByText("You switched accounts in your wallet.").last().waitFor()
    await page.getByTitle(other.account.address).waitFor()
    await buyer.emit(page, "accountsChanged", [buyer.account.address])
    await page.getByTitle(buyer.account.address).waitFor()
    await buyer.emit(page, "chainChanged", "0x1")
    await untilState(page, "wrong-network")
    await buyer.emit(page, "chainChanged", toHex(moneyNetwork.chainId))
    await untilState(page, "review")
    await buyer.emit(page, "accountsChanged", [])
    await page.getByText("Your wallet was disconnected.").last().waitFor()
    await untilState(page, "connect")
    await toReview(page)
  })

  browserTest("a wallet that is on another account or network at the request sends nothing", async () => {
    const [buyer, other] = [await wallet(), await wallet()]
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    buyer.behave("eth_accounts", async () => [other.account.address])
    await press(page, "Pay $10.00")
    await page.getByText("Your wallet is on another account, so nothing was sent.").last().waitFor()
    expect(buyer.count("eth_sendTransaction")).toBe(0)
    buyer.behave("eth_accounts", undefined)
    buyer.behave("eth_chainId", async () => "0x1")
    await press(page, "Pay $10.00")
    await page.getByText("Your wallet is on another network, so nothing was sent.").last().waitFor()
    expect(buyer.count("eth_sendTransaction")).toBe(0)
    expect(await transfers(other)).toBe(0)
  })

  browserTest("the page waits for a slow wallet, and lets the buyer stop", async () => {
    const buyer = await wallet()
    let approve = () => {}
    const approved = new Promise<void>((resolve) => {
      approve = resolve
    })
    buyer.behave("eth_sendTransaction", async (_params, next) => {
      await approved
      return next()
    })
    const browser = await context([buyer])
    // The page's clock advances by minutes; it is installed before any of the page's timers.
    await browser.clock.install()
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await press(page, "Pay $10.00")
    while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
    await page.clock.fastForward("20:00")
    await untilState(page, "awaiting-signature")
    await press(page, "Stop waiting")
    await page.getByText("Did you approve the payment?").first().waitFor()
    // The open prompt is approved after all.
    approve()
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
    expect(buyer.count("eth_sendTransaction")).toBe(1)
  })

  browserTest("with a clock that is hours off, the page signs by the service's clock", async () => {
    for (const hours of [-5, 5]) {
      const buyer = await wallet()
      const browser = await context([buyer])
      await browser.addInitScript(`{
        const now = Date.now
        Date.now = () => now() + ${hours} * 3_600_000
      }`)
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
      expect(await transfers(buyer)).toBe(1)
      await browser.close()
    }
  })

  browserTest("cancelling charges nothing and can be undone", async () => {
    const { page } = await visit()
    await toReview(page)
    await press(page, "Cancel")
    await untilState(page, "cancelled")
    expect((await eventsOf(page)).at(-1)).toMatchObject({ name: "closed", state: "cancelled" })
    await press(page, "Start again")
    await untilState(page, "review")
  })

  browserTest("an Arabic buyer reads from right to left, in Arabic words and digits", async () => {
    const browser = await context([await wallet()])
    const page = await open(browser, (await createIntent("1234.50")).token, "&lang=ar")
    await untilState(page, "connect")
    const card = page.locator("quittance-checkout [data-state]")
    expect(await card.getAttribute("dir")).toBe("rtl")
    expect(await card.getAttribute("lang")).toBe("ar")
    await page.getByRole("heading", { name: "اختر محفظة" }).waitFor()
  })

  browserTest("the language is the browser's if the page names none", async () => {
    const browser = await context([await wallet()], { locale: "de-DE" })
    const page = await open(browser, (await createIntent("1234.50")).token)
    await page.getByRole("heading", { name: "Wallet wählen" }).waitFor()
    expect(await page.locator("quittance-checkout .amount").textContent()).toContain("1.234,50\u00a0$")
  })

  if (moneyNetwork.isTest)
    browserTest(
      "a live payment never reaches the wallet: the page says that live payments are not open",
      async () => {
        const buyer = await wallet()
        buyer.chainId = 42161
        buyer.connected = true
        const { token, id } = await createIntent("10.00", "live")
        const browser = await context([buyer])
        const embedded = `${shopUrl}/?token=${token}&key=${keys.live.publishable}`
        const hosted = `${baseUrl}/pay#token=${token}&key=${keys.live.publishable}`
        for (const url of [embedded, hosted]) {
          const page = await browser.newPage()
          await page.goto(url)
          await page.getByRole("heading", { name: "Payments are closed" }).waitFor()
          await page.getByText("No money was sent.").last().waitFor()
          expect(await page.getByRole("button", { name: "Test Wallet" }).count()).toBe(0)
        }
        // A test key with a live intent's token does not get around it.
        const mixed = await browser.newPage()
        await mixed.goto(`${shopUrl}/?token=${token}&key=${keys.test.publishable}`)
        await untilState(mixed, "failed")
        expect(buyer.requests).toEqual([])
        const opened = await fetch(`${baseUrl}/api/v1/payments/${id}`, {
          headers: { authorization: `Bearer ${keys.live.secret}` }
        })
        expect(opened.status).toBe(404)
      }
    )
})
