// Refunds in a real browser: announced and found on the chain, sent by a browser wallet, pasted, and more than was paid
// only if a person confirms it.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { Address } from "../../src/domain/Chain.ts"
import { buyer, makeShop, type Shop } from "../platform/http/shop.ts"
import {
  browserSuite,
  expectNoAxeViolations,
  hasChromium,
  newContext,
  screenshot,
  untilOn
} from "../support/browser.ts"
import { testDatabase } from "../support/database.ts"
import { startService, type TestService } from "../support/service.ts"
import { type Person, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

/** A wallet that announces itself, and whose sending the test controls. */
const announcedWallet = (account: string) => `
  const provider = { request: async ({ method, params }) => {
    if (method === "eth_requestAccounts") return [${JSON.stringify(account.toLowerCase())}]
    if (method === "eth_chainId") return "0x14a34"
    if (method === "eth_sendTransaction") return globalThis.sendOnChain(params[0].to, params[0].data)
    throw Object.assign(new Error(method), { code: 4200 })
  } }
  const info = { uuid: "00000000-0000-4000-8000-000000000001", name: "Test Wallet", rdns: "test.wallet", icon: "" }
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider } }))
  addEventListener("eip6963:requestProvider", announce)
  announce()`

describe("Refunds in the dashboard", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  let person: Person
  let shop: Shop

  beforeAll(async () => {
    if (!hasChromium) return
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
    person = await signUp(service.baseUrl)
    shop = await makeShop(service, { ...person, id: person.merchantId })
  }, 120_000)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 120_000)

  const sent = (amount: bigint) => shop.transfer(amount, { from: person.receiver, to: buyer })

  const opened = async (
    width: number,
    colorScheme: "light" | "dark" = "light",
    wallet?: Address,
    send?: () => string | Promise<string>
  ) => {
    const { payment } = await shop.settle()
    const context = await newContext({ width, colorScheme })
    const [name = "", value = ""] = person.cookie.split("=")
    await context.addCookies([{ name, value, url: service.baseUrl }])
    const page = await context.newPage()
    if (wallet !== undefined) {
      await page.exposeFunction(
        "sendOnChain",
        (_: string, data: string) =>
          send?.() ??
          shop.transfer(BigInt(`0x${data.slice(-64)}`), {
            from: wallet,
            to: Address.make(`0x${data.slice(34, 74)}`)
          })
      )
      await page.addInitScript(announcedWallet(wallet))
    }
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/payments/${payment.id}`)
    await page.getByRole("button", { name: "Refund", exact: true }).click()
    return { page, payment }
  }
  const fits = async (page: Page) =>
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)

  browserTest(
    "an announced refund shows a QR code, and its transfer completes it while the page is open",
    async () => {
      const { page } = await opened(360, "dark")
      const form = page.getByRole("dialog", { name: "Refund" })
      await form.getByLabel("Amount in USD").fill("4.00")
      await form.getByLabel("Reason (optional)").fill("One of three was damaged")
      await screenshot(page, "refund-form-360")
      await expectNoAxeViolations(page)
      await form.getByRole("button", { name: "Continue" }).click()
      const dialog = page.getByRole("dialog", { name: "Refund $4.00" })
      await dialog.getByRole("img", { name: "QR code that sends 4.00 USDC" }).waitFor()
      await fits(page)
      await screenshot(page, "refund-send-360")
      await expectNoAxeViolations(page)
      await sent(4_000_000n)
      await dialog.getByText("The chain shows the transfer.").waitFor()
      await dialog.getByRole("button", { name: "Close" }).click()
      await page.getByText("Refund confirmed: $4.00").waitFor()
      await fits(page)
      await screenshot(page, "refund-proven-360")
      await expectNoAxeViolations(page)
      await page.context().close()
    }
  )

  browserTest("a refund is not sent while the chain does not show the payment", async () => {
    const { page, payment } = await opened(360)
    const form = page.getByRole("dialog", { name: "Refund" })
    await form.getByLabel("Amount in USD").fill("4.00")
    await form.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $4.00" })
    await dialog.getByLabel("Transaction hash").waitFor()
    const dropped = (at: string | null) =>
      Effect.runPromise(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`
            UPDATE claimed_transfers SET dropped_at = ${at}::timestamptz WHERE payment_id = ${payment.id}`
        ).pipe(Effect.provideContext(service.context), Effect.orDie)
      )
    await dropped("2026-01-01T00:00:00Z")
    await dialog.getByText("A reorganisation removed the transfer that this refund returns").waitFor()
    expect(await dialog.getByLabel("Transaction hash").count()).toBe(0)
    await fits(page)
    await screenshot(page, "refund-lost-360")
    await dropped(null)
    await dialog.getByLabel("Transaction hash").waitFor()
    await page.context().close()
  })

  browserTest("a refund repeated after a lost answer is the same refund", async () => {
    const { page } = await opened(1280)
    const form = page.getByRole("dialog", { name: "Refund" })
    await form.getByLabel("Amount in USD").fill("4.00")
    await page.route(
      "**/refunds",
      async (route) => {
        await route.fetch()
        await route.abort()
      },
      { times: 1 }
    )
    await form.getByRole("button", { name: "Continue" }).click()
    await form.getByText("Check whether the change was made before you try again.").waitFor()
    await form.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $4.00" })
    await dialog.getByRole("button", { name: "Close" }).click()
    await page.reload()
    const toSend = page.getByRole("button", { name: "Send the refund of $4.00" })
    await toSend.first().waitFor()
    expect(await toSend.count()).toBe(1)
    await page.context().close()
  })

  browserTest("a browser wallet with the receiving address sends a refund", async () => {
    const { page } = await opened(1280, "light", person.receiver)
    await page.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $10.00" })
    await dialog.getByRole("button", { name: "Send with Test Wallet" }).waitFor()
    await screenshot(page, "refund-send-1280")
    await dialog.getByRole("button", { name: "Send with Test Wallet" }).click()
    await dialog.getByText("The chain shows the transfer.").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    await page.getByText("Refund confirmed: $10.00").waitFor()
    await screenshot(page, "refund-proven-1280")
    await page.context().close()
  })

  browserTest("a transfer whose report got no answer cannot be sent a second time", async () => {
    const { page } = await opened(1280, "light", person.receiver)
    let isReported = false
    await page.route("**/refunds/*/transaction", (route) => {
      isReported = true
      return route.abort()
    })
    // Otherwise the watch would find the transfer.
    await page.route(/\/refunds\/[0-9a-f-]{36}$/, (route) => (isReported ? route.abort() : route.continue()))
    await page.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $10.00" })
    await dialog.getByRole("button", { name: "Send with Test Wallet" }).click()
    await dialog.getByText("The service is not responding.").waitFor()
    expect(await dialog.getByRole("button", { name: "Send with Test Wallet" }).count()).toBe(0)
    await page.unroute("**/refunds/*/transaction")
    await page.unroute(/\/refunds\/[0-9a-f-]{36}$/)
    await dialog.getByText("The chain shows the transfer.").waitFor()
    await page.context().close()
  })

  browserTest("a wallet's transfer is remembered, and reported when the refund is opened again", async () => {
    const asked: Array<string> = []
    const { page } = await opened(360, "light", person.receiver, () => {
      // A transfer that no node shows yet.
      const hash = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`
      asked.push(hash)
      return hash
    })
    await page.route("**/refunds/*/transaction", (route) => route.abort())
    await page.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $10.00" })
    await dialog.getByRole("button", { name: "Send with Test Wallet" }).click()
    await dialog.getByText("The service is not responding.").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    await page.reload()
    await page.getByRole("button", { name: "Send the refund of $10.00" }).click()
    await dialog.getByText("The service is not responding.").waitFor()
    expect(await dialog.getByLabel("Transaction hash").inputValue()).toBe(asked[0] ?? "")
    expect(await dialog.getByRole("button", { name: "Send with Test Wallet" }).count()).toBe(0)
    await fits(page)
    await screenshot(page, "refund-remembered-360")
    await dialog.getByRole("button", { name: "Close" }).click()
    await page.unroute("**/refunds/*/transaction")
    await page.getByRole("button", { name: "Send the refund of $10.00" }).click()
    await dialog.getByText("Waiting for confirmation.").waitFor()
    await untilOn(page, `Object.keys(localStorage).every((key) => !key.startsWith("quittance-refund:"))`)
    expect(asked).toHaveLength(1)
    await page.context().close()
  })

  browserTest(
    "while a wallet has the request, no other dialog or tab sends one for the same refund",
    async () => {
      const asked: Array<(hash: string) => void> = []
      const { page } = await opened(
        1280,
        "light",
        person.receiver,
        () => new Promise((answer) => asked.push(answer))
      )
      await page.getByRole("button", { name: "Continue" }).click()
      const sending = page.getByRole("dialog", { name: "Refund $10.00" })
      await sending.getByRole("button", { name: "Send with Test Wallet" }).click()
      while (asked.length === 0) await Bun.sleep(20)
      await sending.getByRole("button", { name: "Close" }).click()
      const other = await page.context().newPage()
      await other.exposeFunction("sendOnChain", () => new Promise<string>((answer) => asked.push(answer)))
      await other.addInitScript(announcedWallet(person.receiver))
      await other.goto(page.url())
      for (const tab of [page, other]) {
        await tab.getByRole("button", { name: "Send the refund of $10.00" }).click()
        await tab.getByRole("button", { name: "Send with Test Wallet" }).click()
        await tab.getByText("A wallet already has the request for this refund").waitFor()
      }
      expect(asked).toHaveLength(1)
      asked[0]?.(await sent(10_000_000n))
      for (const tab of [page, other]) await tab.getByText("The chain shows the transfer.").waitFor()
      await page.context().close()
    }
  )

  browserTest("no wallet gets a request for a refund that was cancelled since the page read it", async () => {
    const asked: Array<string> = []
    const { page } = await opened(1280, "light", person.receiver, () => {
      asked.push("sent")
      return `0x${"ab".repeat(32)}`
    })
    await page.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $10.00" })
    const read = page.waitForRequest(/\/refunds\/[0-9a-f-]{36}$/)
    await page.route(/\/refunds\/[0-9a-f-]{36}$/, (route) => route.abort())
    const path = new URL((await read).url()).pathname
    await page.waitForRequest(/\/refunds\/[0-9a-f-]{36}$/)
    const cancelled = await fetch(`${service.baseUrl}${path}/cancel`, {
      method: "POST",
      headers: { cookie: person.cookie, origin: service.baseUrl }
    })
    expect(cancelled.status).toBe(200)
    await dialog.getByRole("button", { name: "Send with Test Wallet" }).click()
    await dialog.getByText("so nothing was sent to the wallet").waitFor()
    await page.unroute(/\/refunds\/[0-9a-f-]{36}$/)
    await dialog.getByRole("button", { name: "Send with Test Wallet" }).click()
    await dialog.getByText("This refund has ended.").waitFor()
    expect(asked).toEqual([])
    await page.context().close()
  })

  browserTest("with another account selected, the page says which to choose, and sends nothing", async () => {
    const { page } = await opened(1280, "light", buyer)
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("button", { name: "Send with Test Wallet" }).click()
    await page.getByText("refunds are sent from the receiving address").waitFor()
    await page.context().close()
  })

  browserTest("a pasted transaction is checked, and the page says what differs", async () => {
    const { page } = await opened(1280)
    const before = await sent(9_000_000n)
    await page.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $10.00" })
    await dialog.getByLabel("Transaction hash").fill(before)
    await dialog.getByRole("button", { name: "Check the transaction" }).click()
    await dialog.getByText("The amount of the transfer does not match the refund").waitFor()
    await screenshot(page, "refund-differs-1280")
    await dialog.getByLabel("Transaction hash").fill(await sent(10_000_000n))
    await dialog.getByRole("button", { name: "Check the transaction" }).click()
    await dialog.getByText("The chain shows the transfer.").waitFor()
    await page.context().close()
  })

  browserTest(
    "a refund above the payment needs a tick, and cancelling a pending refund needs a confirmation",
    async () => {
      const { page } = await opened(360)
      const form = page.getByRole("dialog", { name: "Refund" })
      await form.getByLabel("Amount in USD").fill("12")
      await form.getByRole("button", { name: "Continue" }).click()
      await form.getByText("The most you can refund is").waitFor()
      await form.getByLabel("Refund more than was paid").check()
      await screenshot(page, "refund-more-360")
      await form.getByRole("button", { name: "Continue" }).click()
      await page.getByRole("dialog", { name: "Refund $12.00" }).getByRole("button", { name: "Close" }).click()
      await page.getByRole("button", { name: "Cancel the refund of $12.00" }).click()
      await page.getByRole("button", { name: "Cancel refund", exact: true }).click()
      await page.getByText("Refund cancelled: $12.00").waitFor()
      await page.context().close()
    }
  )
})
