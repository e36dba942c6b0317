// The people of one shop, each in a browser of their own, on the whole service with the local chain and a real SMTP
// server: the owner signs up, invites and refunds; the developer connects the shop; support handles the inbox; the
// bookkeeper closes the month, to the cent.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { createWalletClient, encodeFunctionData, erc20Abi, type Hex, http, parseAbi } from "viem"
import { mnemonicToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { developmentMnemonic } from "../../src/app/dev/LocalChain.ts"
import { payIntent } from "../../src/app/dev/payIntent.ts"
import { networks } from "../../src/domain/networks.ts"
import { until } from "../notifications/notificationWorld.ts"
import { smtpServer } from "../platform/mail/smtpServer.ts"
import { browserSuite, expectNoAxeViolations, newContext, screenshot } from "../support/browser.ts"
import { forFile } from "../support/forFile.ts"
import { anvilWorld } from "./anvilWorld.ts"
import { password } from "./person.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite("file")

const { usdc } = networks.test
const account = (addressIndex: number) => mnemonicToAccount(developmentMnemonic, { addressIndex })
/** Has the key of the receiving address. */
const merchantWallet = account(5)
const buyer = account(6)
const mintAbi = parseAbi(["function mint(address to, uint256 value) returns (bool)"])

const start = Effect.gen(function* () {
  const mail = yield* smtpServer(() => undefined)
  const world = yield* anvilWorld({
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: "payments@example.com"
  })
  const wallet = createWalletClient({ chain: baseSepolia, transport: http(world.rpcUrl) })
  const call = (from: ReturnType<typeof account>, data: Hex) =>
    wallet.sendTransaction({ account: from, to: usdc.address, data })
  return {
    ...world,
    mail,
    /** Sends calls from the receiving address, as its wallet would. */
    sendFromMerchant: (data: Hex) => call(merchantWallet, data),
    /** A transfer without an announcement or a report. */
    strayTransfer: async (atomic: bigint) => {
      await call(
        account(0),
        encodeFunctionData({ abi: mintAbi, functionName: "mint", args: [buyer.address, atomic] })
      )
      return await call(
        buyer,
        encodeFunctionData({
          abi: erc20Abi,
          functionName: "transfer",
          args: [merchantWallet.address, atomic]
        })
      )
    }
  }
})

/** A wallet extension with the receiving address's key. */
const merchantExtension = `
  const provider = { request: async ({ method, params }) => {
    if (method === "eth_requestAccounts") return ["${merchantWallet.address.toLowerCase()}"]
    if (method === "eth_chainId") return "0x14a34"
    if (method === "eth_sendTransaction") return globalThis.sendFromMerchant(params[0].data)
    throw Object.assign(new Error(method), { code: 4200 })
  } }
  const info = { uuid: "00000000-0000-4000-8000-000000000001", name: "Shop Wallet", rdns: "shop.wallet", icon: "" }
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider } }))
  addEventListener("eip6963:requestProvider", announce)
  announce()`

const world = await forFile(start)

describe("Four people of one shop", () => {
  const links = new Map<string, string>()
  const keys = { secret: "", publishable: "" }
  const paid: Array<{ readonly refCode: string; readonly transactionId: string }> = []
  let owner: Page

  const go = (page: Page, name: string | RegExp) =>
    page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click()
  const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).waitFor()
  const pay = async (amount: string) => {
    const one = await Effect.runPromise(
      payIntent({
        baseUrl: world.baseUrl,
        secretKey: keys.secret,
        publishableKey: keys.publishable,
        amount,
        onStep: () => Effect.void
      })
    )
    paid.push(one)
    return one
  }
  /** Opens the link of an invitation and chooses a password. */
  const join = async (role: string, width = 1280) => {
    const page = await (await newContext({ width })).newPage()
    await page.goto(links.get(role) ?? "no invitation")
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Continue" }).click()
    await heading(page, "Overview")
    return page
  }

  browserTest("the owner signs up and invites three people, and each of them gets a mail", async () => {
    owner = await (await newContext()).newPage()
    await owner.exposeFunction("sendFromMerchant", world.sendFromMerchant)
    await owner.addInitScript(merchantExtension)
    await owner.goto(`${world.baseUrl}/dashboard`)
    await owner.getByRole("link", { name: "Create an account" }).click()
    await owner.getByLabel("Email").fill("owner@example.com")
    await owner.getByLabel("Password").fill(password)
    await owner.getByLabel("Merchant name").fill("Demo Books")
    await owner.getByLabel("Receiving address").fill(merchantWallet.address)
    await owner.getByRole("button", { name: "Create account" }).click()
    await owner.getByRole("heading", { name: "Your first keys" }).waitFor()
    keys.publishable = (await owner.locator(".secret code").nth(1).textContent()) ?? ""
    await owner.getByRole("button", { name: "I have stored the keys" }).click()
    await go(owner, "Settings")
    for (const [role, email] of [
      ["developer", "developer@example.com"],
      ["support", "support@example.com"],
      ["read_only", "bookkeeper@example.com"]
    ] as const) {
      await owner.getByLabel("Invite by email").fill(email)
      await owner.getByLabel("Role", { exact: true }).selectOption(role)
      await owner.getByRole("button", { name: "Invite", exact: true }).click()
      links.set(role, (await owner.getByRole("dialog").locator(".secret code").textContent()) ?? "")
      await owner.getByRole("dialog").getByRole("button", { name: "Done" }).click()
      await Effect.runPromise(
        until(
          `${email} was written to`,
          Effect.sync(() => world.mail.taken.some(({ to }) => to.includes(email)))
        )
      )
    }
    await screenshot(owner, "people-owner-members")
  })

  browserTest(
    "the developer connects the shop: a key, an endpoint, a payment that appears as it arrives",
    async () => {
      const page = await join("developer")
      await go(page, "API keys")
      await page.getByRole("button", { name: "Create key" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
      await page.getByText("Store this key now").waitFor()
      keys.secret = (await page.getByRole("dialog").locator(".secret code").textContent()) ?? ""
      await page.getByRole("dialog").getByRole("button", { name: "I have stored it" }).click()
      await go(page, "Webhooks")
      await page.getByLabel("Your endpoint's URL").fill(world.receiverUrl)
      await page.getByRole("button", { name: "Register endpoint" }).click()
      await page.getByText("Store the signing secret now").waitFor()
      await page.getByRole("dialog").getByRole("button", { name: "I have stored it" }).click()
      const { refCode } = await pay("10.00")
      await page.getByRole("row", { name: refCode }).getByText("Delivered").waitFor()
      expect(world.shop.received).toHaveLength(1)
      await expectNoAxeViolations(page)
      // The developer may not move money.
      await go(page, "Payments")
      await page.getByRole("link", { name: refCode }).click()
      await page.locator(".timeline").getByText("Verified and settled", { exact: true }).waitFor()
      expect(await page.getByRole("button", { name: "Refund", exact: true }).count()).toBe(0)
      await page.context().close()
    }
  )

  browserTest(
    "support finds a buyer's payment by its code, sends the webhook again and explains a transfer, on a phone",
    async () => {
      // The shop fails while the second buyer pays, and somebody sends money without a payment.
      world.shop.status = 500
      const { refCode } = await pay("25.50")
      await world.strayTransfer(3_000_000n)
      const page = await join("support", 390)
      await page.goto(page.url())
      await page.keyboard.press("/")
      await page.keyboard.type(refCode.slice(0, 8).toLowerCase())
      await page.getByRole("link", { name: refCode }).click()
      await page.getByText("Webhook attempt 1: HTTP 500").waitFor()
      await screenshot(page, "people-support-payment")
      await page.getByRole("link", { name: "Delivery", exact: true }).click()
      const failed = page.getByText("Failed", { exact: true }).first()
      for (let waited = 0; waited < 240 && !(await failed.isVisible()); waited++) {
        await world.passTime()
        await page.waitForTimeout(250)
      }
      world.shop.status = 204
      await page.getByRole("button", { name: "Resend" }).click()
      await page.getByText("Delivered").first().waitFor()
      await page.goto(page.url().replace(/webhooks\/.*/, "alerts"))
      await page.getByText("Unmatched transfer of $3.00").click()
      await page.getByLabel("Note", { exact: true }).fill("A tip; the sender wrote to us")
      await page.getByRole("button", { name: "Mark as handled" }).click()
      await page.getByText("Marked as handled by support@example.com: A tip").waitFor()
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
      await expectNoAxeViolations(page)
      await screenshot(page, "people-support-attention")
      await page.context().close()
    }
  )

  browserTest("the owner refunds a part from the shop's own wallet, and the chain proves it", async () => {
    const [first] = paid
    await go(owner, "Payments")
    await owner.getByRole("link", { name: first?.refCode ?? "" }).click()
    await owner.getByRole("button", { name: "Refund", exact: true }).click()
    const form = owner.getByRole("dialog", { name: "Refund" })
    await form.getByLabel("Amount in USD").fill("4.00")
    await form.getByRole("button", { name: "Continue" }).click()
    const dialog = owner.getByRole("dialog", { name: "Refund $4.00" })
    await dialog.getByRole("button", { name: "Send with Shop Wallet" }).click()
    await dialog.getByText("The chain shows the transfer.").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    await owner.getByText("Refund confirmed: $4.00").waitFor()
    await go(owner, "Overview")
    await owner.getByText("$35.50").first().waitFor()
    await screenshot(owner, "people-owner-overview")
    await owner.context().close()
  })

  browserTest(
    "the bookkeeper downloads the month's files and a statement that balances, and cannot move money",
    async () => {
      const page = await join("read_only")
      await go(page, "Books")
      await page.getByRole("row", { name: /Payments received · 2 transfers \+\$35\.50/ }).waitFor()
      await page.getByRole("row", { name: /Refunds sent · 1 transfer −\$4\.00/ }).waitFor()
      await page.getByRole("row", { name: /Closing balance \$34\.50/ }).waitFor()
      await page.getByText("Reconciled").waitFor()
      const file = async (name: string) => {
        const download = page.waitForEvent("download")
        await page.getByLabel("Data").selectOption(name)
        await page.getByRole("link", { name: "Export", exact: true }).click()
        return readFileSync(await (await download).path(), "utf8")
      }
      const payments = await file("Payments")
      for (const { refCode, transactionId } of paid) {
        expect(payments).toContain(refCode)
        expect(payments).toContain(transactionId)
      }
      expect(await file("Refunds")).toContain("4.00")
      expect(await file("All transfers")).toContain("A tip; the sender wrote to us")
      await expectNoAxeViolations(page)
      await screenshot(page, "people-bookkeeper-books")
      await go(page, "Payments")
      await page.getByRole("link", { name: paid[0]?.refCode ?? "" }).click()
      await page.getByText("Refund confirmed: $4.00").waitFor()
      expect(await page.getByRole("button", { name: "Refund", exact: true }).count()).toBe(0)
      await page.goto(page.url().replace(/payments\/.*/, "alerts"))
      await heading(page, "Needs attention")
      expect(await page.getByRole("button", { name: /Acknowledge|handled|Attach/ }).count()).toBe(0)
      await page.context().close()
    }
  )
})
