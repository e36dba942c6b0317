// A wallet that changes its chain during a request: the request names the chain that the money belongs on.
import { describe, expect } from "bun:test"
import { toHex } from "viem"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"

const { browserTest, world } = await checkoutSuite()
const { context, createIntent, open, transfers, wallet } = world
const { chainId } = moneyNetwork

describe("A wallet that is on another chain when the transfer is requested", () => {
  browserTest(
    "gets a request that names the payment's chain: it sends nothing, is switched back, and pays",
    async () => {
      const buyer = await wallet()
      const elsewhere: Array<unknown> = []
      buyer.behave("eth_sendTransaction", async ([asked]) => {
        buyer.behave("eth_sendTransaction", undefined)
        buyer.chainId = 1
        const named =
          typeof asked === "object" && asked !== null && "chainId" in asked ? asked.chainId : undefined
        if (named !== undefined && named !== toHex(buyer.chainId))
          throw { code: -32602, message: "The active chain is another than the one asked for." }
        elsewhere.push(asked)
        return toHex(7n, { size: 32 })
      })
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await press(page, "Switch network")
      await press(page, "Pay $10.00")
      await untilState(page, "settled", 40_000)
      expect(elsewhere).toEqual([])
      expect(buyer.chainId).toBe(chainId)
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest(
    "on the payment's chain, an error of a wallet leads to a search for the transfer before the next request",
    async () => {
      const buyer = await wallet()
      buyer.behave("eth_sendTransaction", async () => {
        buyer.behave("eth_sendTransaction", undefined)
        throw { code: -32602, message: "Invalid parameters." }
      })
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await press(page, "Send again")
      await untilState(page, "settled", 40_000)
      expect(await transfers(buyer)).toBe(1)
    }
  )

  // Errors of Trust Wallet, MetaMask, geth and reth, ethers, and of EIP-1193 and EIP-3085; none says whether anything
  // was sent.
  for (const problem of [
    { code: -32603, message: "Provided chainId does not match the currently active chain" },
    { code: -32000, message: "invalid chain ID" },
    { code: -32603, message: "underlying network changed" },
    { code: 4901, message: "The provider is disconnected from the specified chain." },
    { code: 4902, message: "Unrecognized chain ID" }
  ])
    for (const hasSent of [false, true])
      browserTest(
        `that answers ${problem.code} (${problem.message}) is switched back, and ${hasSent ? "its transfer is found" : "only the buyer asks it again"}`,
        async () => {
          const buyer = await wallet()
          buyer.behave("eth_sendTransaction", async (_params, next) => {
            buyer.behave("eth_sendTransaction", undefined)
            if (hasSent) await next()
            buyer.chainId = 1
            throw problem
          })
          const browser = await context([buyer])
          const page = await open(browser, (await createIntent()).token)
          await toReview(page)
          await press(page, "Pay $10.00")
          await press(page, "Switch network")
          if (!hasSent) await press(page, "Send again")
          await untilState(page, "settled", 40_000)
          expect(buyer.count("eth_sendTransaction")).toBe(hasSent ? 1 : 2)
          expect(await transfers(buyer)).toBe(1)
        }
      )
})
