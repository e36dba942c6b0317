// A node that does not accept a transaction for now, in whatever words: the payment waits, and no alert says that the
// wallet is empty.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Behaviour } from "../support/rpcProxy.ts"
import { headerOf, openPayment, payPath, rowsOf, until } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()
const price = 10_000_000n

const pay = async () => {
  const id = await openPayment(world, "10")
  const header = headerOf(
    await world.authorize(await world.payer(price), price, {
      validBefore: BigInt(Math.floor(Date.now() / 1000) + 600)
    })
  )
  const answer = await world.call("GET", payPath(world, id), undefined, undefined, header)
  return { id, answer, again: () => world.call("GET", payPath(world, id), undefined, undefined, header) }
}
/** Without those of the other network, whose nodes do not exist. */
const openAlerts = () =>
  rowsOf(
    world,
    "SELECT kind, message FROM alerts WHERE acknowledged_at IS NULL AND kind LIKE 'r%' AND message NOT LIKE '% 127.0.0.1:9:%' ORDER BY kind"
  )
const declining = (message: string, code = -32_000): Behaviour => {
  return (method) => (method === "eth_sendRawTransaction" ? { error: { code, message } } : undefined)
}

describe("a node that declines a transaction", () => {
  for (const [words, code] of [
    ["Internal error", -32_603],
    ["in-flight transaction limit reached for delegated accounts", -32_000],
    ["computer says no", -32_099]
  ] as const)
    test(`once, with "${words}": the payment settles`, async () => {
      let declines = true
      world.node.behave((method, params) => {
        if (method !== "eth_sendRawTransaction" || !declines) return undefined
        declines = false
        return declining(words, code)(method, params)
      })
      expect((await pay()).answer.status).toBe(200)
      expect(await openAlerts()).toEqual([])
    })

  test("for longer: the settlement is pending, the alert has the node's error, and it settles once the node accepts", async () => {
    world.node.behave(declining("txpool is full"))
    const { again, answer } = await pay()
    expect<unknown>([answer.status, answer.body.error]).toEqual([402, "settlement_pending"])
    const alert = {
      kind: "rpc_refusing",
      message: expect.stringMatching(
        /: eth_sendRawTransaction: error -32000, \d+ times in a row: txpool is full \(-32000\)$/
      )
    }
    await until(async () => (await openAlerts()).length >= world.nodeCount)
    expect(await openAlerts()).toEqual(Array.from({ length: world.nodeCount }, () => alert))
    world.node.behave(() => undefined)
    await until(async () => (await again()).status === 200, 30_000)
  })

  test("for lack of funds: operators get an alert that the wallet is empty", async () => {
    world.node.behave(declining("insufficient funds for gas * price + value: balance 0, tx cost 1"))
    // It has been broadcast: until a block has passed its nonce, no caller is told that it failed.
    expect<unknown>((await pay()).answer.body.error).toBe("settlement_pending")
    await until(async () => (await openAlerts()).some(({ kind }) => kind === "relayer_empty"))
  })
})
