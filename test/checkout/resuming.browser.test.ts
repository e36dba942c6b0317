// A sent transfer is never sent twice: reloads in every state, several tabs at once, wallets whose answers are lost.

import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { toHex } from "viem"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { deepEnough, press, toReview, untilState } from "./checkoutWorld.ts"
import { type Behaviour, decline } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite()
const { automine, context, createIntent, delivered, mine, open, payment, runIn, transfers, visit, wallet } =
  world

const never: Behaviour = () => new Promise(() => {})
/** Sends the transaction, and never answers the page. */
const mute: Behaviour = async (_params, next) => {
  await next()
  return new Promise(() => {})
}

const attemptOf = (page: Page, id: string): Promise<{ hash: string | null; nonce: number } | null> =>
  page.evaluate(`JSON.parse(localStorage.getItem("quittance-checkout:${id}"))`)

describe("A reload", () => {
  browserTest("in connect, review, wrong network and needs funds returns to the same state", async () => {
    const { buyer, page } = await visit()
    await untilState(page, "connect")
    await page.reload()
    await untilState(page, "connect")
    await toReview(page)
    await page.reload()
    await untilState(page, "review")
    buyer.chainId = 1
    await page.reload()
    await untilState(page, "wrong-network")
    await page.reload()
    await untilState(page, "wrong-network")
    buyer.chainId = moneyNetwork.chainId
    await page.goto(page.url().replace(/token=[^&]*/, `token=${(await createIntent("99.00")).token}`))
    await untilState(page, "needs-funds")
    await page.reload()
    await untilState(page, "needs-funds")
    // The wallet was asked to connect once; everything else was read without a prompt.
    expect(buyer.count("eth_requestAccounts")).toBe(1)
  })

  browserTest("between the wallet's sending and its answer finds the transfer on the chain", async () => {
    const buyer = await wallet()
    buyer.behave("eth_sendTransaction", mute)
    const { token, id } = await createIntent()
    const browser = await context([buyer])
    const page = await open(browser, token)
    await toReview(page)
    await press(page, "Pay $10.00")
    while ((await transfers(buyer)) === 0) await Bun.sleep(50)
    expect((await attemptOf(page, id))?.hash).toBeNull()
    await page.reload()
    await untilState(page, "settled")
    expect(buyer.count("eth_sendTransaction")).toBe(1)
    expect(await transfers(buyer)).toBe(1)
    // The report uses the identity that was signed before the transfer.
    expect(buyer.count("personal_sign")).toBe(1)
  })

  browserTest(
    "after the wallet sent into the mempool waits for the block, and does not ask again",
    async () => {
      const buyer = await wallet()
      buyer.behave("eth_sendTransaction", mute)
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await automine(false)
      await press(page, "Pay $10.00")
      while ((await buyer.rpc("eth_getTransactionCount", [buyer.account.address, "pending"])) !== "0x1")
        await Bun.sleep(50)
      await page.reload()
      await page.getByRole("heading", { name: "Looking for your payment" }).waitFor()
      await Bun.sleep(3_500)
      await untilState(page, "submitted")
      await mine()
      await untilState(page, "settled")
      expect(buyer.count("eth_sendTransaction")).toBe(1)
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest(
    "with the wallet's prompt still open asks the buyer; sending again reuses the nonce",
    async () => {
      const buyer = await wallet()
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      let result: Promise<unknown> = Promise.resolve()
      const approveFirst: Behaviour = async (_params, next) => {
        await held
        result = next()
        return result
      }
      buyer.behave("eth_sendTransaction", approveFirst)
      const { token, id } = await createIntent()
      const browser = await context([buyer])
      const page = await open(browser, token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await page.getByRole("heading", { name: "Approve the payment" }).waitFor()
      while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
      await page.reload()
      await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
      expect(buyer.count("eth_sendTransaction")).toBe(1)
      buyer.behave("eth_sendTransaction", undefined)
      await press(page, "Send again")
      await untilState(page, "settled")
      const nonces = buyer.requests
        .filter(({ method }) => method === "eth_sendTransaction")
        .map(({ params }) => (params[0] as { nonce: string }).nonce)
      expect(new Set(nonces).size).toBe(1)
      expect(nonces.length).toBe(2)
      // The first prompt is approved too, but the chain refuses its nonce.
      release()
      await Bun.sleep(50)
      expect(await result.catch(() => "refused")).toBe("refused")
      expect(await transfers(buyer)).toBe(1)
      expect(await attemptOf(page, id)).toBeNull()
    }
  )

  browserTest("and a declined second request leave the first request undecided", async () => {
    const buyer = await wallet()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    buyer.behave("eth_sendTransaction", async (_params, next) => {
      await held
      return next()
    })
    const { token, id } = await createIntent()
    const browser = await context([buyer])
    const page = await open(browser, token)
    await toReview(page)
    await press(page, "Pay $10.00")
    while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
    await page.reload()
    await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
    buyer.behave("eth_sendTransaction", decline)
    await press(page, "Send again")
    while (buyer.count("eth_sendTransaction") === 1) await Bun.sleep(20)
    await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
    expect(await page.getByRole("button", { name: /^Pay/ }).count()).toBe(0)
    expect((await attemptOf(page, id))?.hash).toBeNull()
    release()
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("while confirming continues without the wallet; settled stays settled", async () => {
    const { buyer, page } = await visit()
    await toReview(page)
    await automine(false)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    buyer.connected = false
    await page.reload()
    await untilState(page, "confirming")
    await mine()
    await untilState(page, "settled")
    await page.reload()
    await untilState(page, "settled")
    expect(buyer.count("eth_sendTransaction")).toBe(1)
  })

  browserTest("on another device after the payment was paid sends nothing", async () => {
    const [buyer, same] = [await wallet(), await wallet()]
    const { token } = await createIntent()
    const [phone, laptop] = [await context([buyer]), await context([same])]
    const [here, there] = [await open(phone, token), await open(laptop, token)]
    await toReview(here)
    await toReview(there)
    await press(here, "Pay $10.00")
    await untilState(here, "settled")
    await press(there, "Pay $10.00")
    await untilState(there, "settled")
    expect(same.requests.map(({ method }) => method)).not.toContain("personal_sign")
    expect(await transfers(same)).toBe(0)
  })

  browserTest(
    "is not needed if the payment settles in the background: returning to the page shows it",
    async () => {
      const { token } = await createIntent()
      const [phone, laptop] = [await context([await wallet()]), await context([])]
      const [here, there] = [await open(phone, token), await open(laptop, token)]
      await untilState(there, "connect")
      await toReview(here)
      await press(here, "Pay $10.00")
      await untilState(here, "settled")
      await there.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
      await untilState(there, "settled")
    }
  )

  browserTest(
    "is not needed after a lost wallet connection: the transfer is searched for on reconnect",
    async () => {
      const { buyer, page } = await visit()
      await toReview(page)
      buyer.behave("eth_sendTransaction", async (_params, next) => {
        await next()
        buyer.connected = false
        await buyer.emit(page, "accountsChanged", [])
        throw { code: 4900, message: "disconnected" }
      })
      await press(page, "Pay $10.00")
      await page.getByText("Connect the wallet you were paying with").last().waitFor()
      await press(page, "Test Wallet")
      await untilState(page, "settled")
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest("would lose the attempt once the storage is full: the page asks for nothing", async () => {
    const buyer = await wallet()
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await page.evaluate(`Storage.prototype.setItem = () => { throw new Error("full") }`)
    await press(page, "Pay $10.00")
    await page.getByText("This browser stores no data").last().waitFor()
    expect(buyer.count("eth_sendTransaction")).toBe(0)
  })
})

/** Both tabs list the wallets before one connects; a later tab would restore the account on its own. */
const bothToReview = async (one: Page, other: Page) => {
  for (const page of [one, other]) await page.getByRole("button", { name: "Test Wallet" }).waitFor()
  for (const page of [one, other]) await toReview(page)
}

describe("Two tabs at once", () => {
  browserTest("press Pay together: one transfer, one settlement, both see it", async () => {
    const buyer = await wallet()
    const seen = Promise.withResolvers<void>()
    buyer.behave("eth_sendTransaction", async (_params, next) => {
      await seen.promise
      return next()
    })
    const { id, token } = await createIntent()
    const browser = await context([buyer])
    const [one, other] = [await open(browser, token), await open(browser, token)]
    await bothToReview(one, other)
    const at = Date.now() + 300
    for (const page of [one, other]) {
      await page.evaluate(`setTimeout(() =>
        document.querySelector("quittance-checkout").shadowRoot.querySelector("button.primary")?.click(), ${at} - Date.now())`)
    }
    await Promise.race(
      [one, other].map((page) => page.getByRole("heading", { name: "Continue in the other tab" }).waitFor())
    )
    seen.resolve()
    await Promise.all([untilState(one, "settled"), untilState(other, "settled")])
    expect(buyer.count("eth_sendTransaction")).toBe(1)
    expect(await transfers(buyer)).toBe(1)
    const { reportedTransactionId } = await payment(id)
    const told = () => delivered.filter(({ transactionId }) => transactionId === reportedTransactionId)
    while (told().length === 0) await Bun.sleep(50)
    await Bun.sleep(200)
    expect(told()).toHaveLength(1)
  })

  browserTest("and one declines: the other may pay", async () => {
    const buyer = await wallet()
    let refuse = () => {}
    const refused = new Promise<void>((resolve) => {
      refuse = resolve
    })
    buyer.behave("eth_sendTransaction", async () => {
      await refused
      throw { code: 4001, message: "declined" }
    })
    const { token } = await createIntent()
    const browser = await context([buyer])
    const [one, other] = [await open(browser, token), await open(browser, token)]
    await other.getByRole("button", { name: "Test Wallet" }).waitFor()
    await toReview(one)
    await press(one, "Pay $10.00")
    await other.getByRole("heading", { name: "Continue in the other tab" }).waitFor()
    refuse()
    await untilState(one, "review")
    buyer.behave("eth_sendTransaction", undefined)
    await untilState(other, "review")
    await press(other, "Pay $10.00")
    await Promise.all([untilState(one, "settled"), untilState(other, "settled")])
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("and one closes with its prompt open: the other notices and asks", async () => {
    const buyer = await wallet()
    buyer.behave("eth_sendTransaction", mute)
    const { token } = await createIntent()
    const browser = await context([buyer])
    const [one, other] = [await open(browser, token), await open(browser, token)]
    await bothToReview(one, other)
    await press(one, "Pay $10.00")
    while ((await transfers(buyer)) === 0) await Bun.sleep(50)
    await one.close()
    await untilState(other, "settled")
    expect(buyer.count("eth_sendTransaction")).toBe(1)
  })
})

describe("While it is unknown whether the transfer was sent", () => {
  browserTest("a wallet that is locked or on another chain can return to the attempt", async () => {
    const buyer = await wallet()
    buyer.behave("eth_sendTransaction", never)
    const { token } = await createIntent()
    const browser = await context([buyer])
    const page = await open(browser, token)
    await toReview(page)
    await press(page, "Pay $10.00")
    while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
    // Locked after a reload: the page asks for the same wallet, and promises nothing.
    buyer.connected = false
    await page.reload()
    await page.getByText("Connect the wallet you were paying with").last().waitFor()
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0)
    buyer.chainId = 1
    await press(page, "Test Wallet")
    await untilState(page, "wrong-network")
    await press(page, "Switch network")
    await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
    await buyer.emit(page, "chainChanged", "0x1")
    await untilState(page, "wrong-network")
    await buyer.emit(page, "chainChanged", toHex(moneyNetwork.chainId))
    await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
    await buyer.emit(page, "accountsChanged", [])
    await page.getByText("Connect the wallet you were paying with").last().waitFor()
    await press(page, "Test Wallet")
    await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
    await press(page, "Check again")
    await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
    buyer.behave("eth_sendTransaction", undefined)
    await press(page, "Send again")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "a nonce used by another transaction allows a fresh start with a fresh nonce ten minutes later",
    async () => {
      const buyer = await wallet()
      buyer.behave("eth_sendTransaction", never)
      const browser = await context([buyer])
      const { id, token } = await createIntent()
      const page = await open(browser, token)
      await toReview(page)
      await press(page, "Pay $10.00")
      while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
      const other = await buyer.account.signTransaction({
        chainId: moneyNetwork.chainId,
        to: buyer.account.address,
        nonce: 0,
        gas: 21_000n,
        maxFeePerGas: 3_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n
      })
      await buyer.rpc("eth_sendRawTransaction", [other])
      await mine(deepEnough)
      await page.reload()
      await untilState(page, "cancelled")
      await page.getByText("Your payment was not sent.").last().waitFor()
      buyer.behave("eth_sendTransaction", undefined)
      await press(page, "Start again")
      // The wallet may still show the first request, and send it with its own nonce.
      await page.getByRole("heading", { name: "Payment in progress" }).waitFor()
      await runIn(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE payment_attempts SET announced_at = now() - interval '10 minutes' WHERE payment_id = ${id}`
        )
      )
      await untilState(page, "review")
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
      expect(await transfers(buyer)).toBe(1)
    }
  )
})
