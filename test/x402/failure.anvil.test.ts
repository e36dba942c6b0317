// A settlement fails only when the chain shows it: while its authorization can still move money it is undecided,
// whatever a caller was told.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { bodyV2, cancel, carries, type Payload, relayElsewhere, rowsOf, until } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 10_000_000n
const funds = 1_000_000_000n
const down = { raw: new Response("", { status: 503 }) }

const world = await x402World()

describe("the outcome of a settlement", () => {
  const settle = (payload: Payload) =>
    world.call("POST", "/x402/settle", world.keys[world.env].secret, bodyV2(payload, amount))
  const settlementOf = async (account: PrivateKeyAccount) => {
    const [row] = await rowsOf(
      world,
      `SELECT status, error_reason, told_reason, next_look_at IS NOT NULL AS due
       FROM x402_settlements WHERE payer = '\\x${account.address.slice(2)}'`
    )
    return row
  }
  const isSettled = async (account: PrivateKeyAccount) => {
    const { body } = await world.call("GET", "/payments?limit=100", world.keys[world.env].secret)
    return body.payments.some(
      (one: { readonly payerAddress?: string; readonly status: string }) =>
        one.payerAddress === account.address && one.status === "settled"
    )
  }

  for (const gap of [100, 300, 500, 700, 900]) {
    test(`settled twice ${gap} ms apart, the first broadcast refused: if money moved, it is a payment`, async () => {
      const account = await world.payer()
      const payload = await world.authorize(account, amount)
      let offered = 0
      world.node.behave(async (method, params) => {
        await Bun.sleep(100)
        if (!carries(method, params, payload)) return undefined
        offered += 1
        return offered === 1 ? { error: { code: -32000, message: "insufficient funds" } } : undefined
      })
      const first = settle(payload)
      await Bun.sleep(gap)
      const answers = await Promise.all([first, settle(payload)])
      world.node.behave(() => undefined)
      const told = answers.filter(({ body }) => !body.success)
      for (const { body } of told) {
        expect([
          "relay_wallet_empty",
          "settlement_pending",
          "invalid_exact_evm_nonce_already_used"
        ]).toContain(body.errorReason)
      }
      if (told.length === 2) {
        // The holder of the signature may still use it. On a slow machine a second broadcast may be on its way.
        if (offered === 1) {
          expect(await settlementOf(account)).toMatchObject({ status: "pending", due: true })
          await relayElsewhere(world, payload)
        }
        await until(() => isSettled(account), 40_000)
      } else expect(await isSettled(account)).toBe(true)
      expect(await world.balanceOf(account.address)).toBe(funds - amount)
    }, 180_000)
  }

  test("a refused broadcast is reported, its nonce is filled, and another attempt succeeds", async () => {
    const account = await world.payer()
    const payload = await world.authorize(account, amount)
    let offered = 0
    world.node.behave((method, params) => {
      if (!carries(method, params, payload)) return undefined
      offered += 1
      return offered === 1 ? { error: { code: -32000, message: "insufficient funds" } } : undefined
    })
    expect((await settle(payload)).body.errorReason).toBe("relay_wallet_empty")
    const again = await settle(payload)
    expect(again.body.success).toBe(true)
    const relayed = () =>
      rowsOf(
        world,
        `SELECT t.outcome, cardinality(t.versions) AS versions FROM wallet_transactions t
         JOIN x402_settlements s ON s.id = t.reference
         WHERE s.payer = '\\x${account.address.slice(2)}' ORDER BY t.nonce`
      )
    await until(async () => (await relayed()).every(({ outcome }) => outcome !== null))
    expect(await relayed()).toEqual([
      { outcome: "filled", versions: 2 },
      { outcome: "moved", versions: 1 }
    ])
    expect(await world.balanceOf(account.address)).toBe(funds - amount)
  }, 180_000)

  test("if the service's transaction reverts because another relayed first, and the node lags, it settles", async () => {
    const account = await world.payer()
    const payload = await world.authorize(account, amount)
    let raced: Promise<unknown> | undefined
    let lags = false
    world.node.behave(async (method, params) => {
      if (carries(method, params, payload) && raced === undefined) {
        raced = relayElsewhere(world, payload)
        await raced
        lags = true
        return undefined
      }
      if (!lags) return undefined
      const [first, tag] = params
      // The node is two blocks behind the receipts that it has shown.
      if (method === "eth_getBlockByNumber" && first === "latest") {
        const number = (await world.chain.publicClient.getBlockNumber()) - 2n
        const block = await world.chain.publicClient.getBlock({ blockNumber: number })
        return {
          result: { number: `0x${number.toString(16)}`, timestamp: `0x${block.timestamp.toString(16)}` }
        }
      }
      const isState = JSON.stringify(first).includes("0xe94a0102")
      return method === "eth_call" && isState && tag === "latest"
        ? { result: `0x${"00".repeat(32)}` }
        : undefined
    })
    const answer = await settle(payload)
    expect(answer.body).toMatchObject({ success: false, errorReason: "settlement_pending" })
    expect(await settlementOf(account)).toMatchObject({ status: "pending", due: true })
    world.node.behave(() => undefined)
    await until(() => isSettled(account), 40_000)
    expect((await settle(payload)).body.success).toBe(true)
    expect(await world.balanceOf(account.address)).toBe(funds - amount)
  }, 180_000)

  test("cancelled by its payer while it waits: failed, nothing moved, nothing sent", async () => {
    const account = await world.payer()
    const payload = await world.authorize(account, amount)
    let prices = 0
    world.node.behave((method) => {
      if (method !== "eth_gasPrice") return undefined
      prices += 1
      return prices <= world.nodeCount ? undefined : down
    })
    const waiting = settle(payload)
    await until(async () => (await settlementOf(account)) !== undefined)
    await cancel(world, account, payload)
    world.node.behave(() => undefined)
    await waiting
    // A reorganisation may still undo the cancellation: callers are told that it failed, and the chain decides.
    await until(
      async () => (await settlementOf(account))?.["told_reason"] === "invalid_exact_evm_nonce_already_used",
      20_000
    )
    expect(await settlementOf(account)).toMatchObject({ status: "pending" })
    await Effect.runPromise(world.chain.mine(20_000 / moneyNetwork.blockMillis))
    await until(async () => (await settlementOf(account))?.["status"] === "failed", 40_000)
    expect(await settlementOf(account)).toMatchObject({
      error_reason: "invalid_exact_evm_nonce_already_used"
    })
    const relayed = await rowsOf(
      world,
      `SELECT 1 FROM wallet_transactions WHERE payer = '\\x${account.address.slice(2)}'`
    )
    expect(relayed).toEqual([])
    expect(await world.balanceOf(account.address)).toBe(funds)
  }, 180_000)

  test("used more than 9,000 blocks ago: found all the same", async () => {
    const account = await world.payer()
    const payload = await world.authorize(account, amount)
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" || method === "eth_getLogs" ? down : undefined
    )
    expect((await settle(payload)).body.errorReason).toBe("settlement_pending")
    await relayElsewhere(world, payload)
    const logs = async (filter: unknown) => {
      const response = await fetch(world.chain.rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [filter] })
      })
      return { result: (await response.json()).result }
    }
    // The node shows 20,000 empty blocks on top of anvil's.
    const head = await world.chain.publicClient.getBlock()
    const top = head.number + 20_000n
    const empty = (number: bigint) => ({
      result: { number: `0x${number.toString(16)}`, timestamp: `0x${head.timestamp.toString(16)}` }
    })
    world.node.behave((method, [first, second]) => {
      if (method === "eth_sendRawTransaction") return down
      if (method === "eth_getBlockByNumber") {
        if (first === "latest") return empty(top)
        if (!String(first).startsWith("0x")) return undefined
        return BigInt(String(first)) > head.number ? empty(BigInt(String(first))) : undefined
      }
      if (method === "eth_getLogs") {
        const { fromBlock, toBlock } = Object(first)
        // The reader of transfers queries one block by its hash.
        if (fromBlock === undefined) return undefined
        if (BigInt(toBlock) - BigInt(fromBlock) > 10_000n)
          return { error: { code: -32000, message: "range too large" } }
        if (BigInt(fromBlock) > head.number) return { result: [] }
        return logs({ ...Object(first), toBlock: "latest" })
      }
      // The state of the blocks on top equals anvil's.
      return method === "eth_call" && BigInt(second === "latest" ? 0 : String(second)) > head.number
        ? { result: `0x${"00".repeat(31)}01` }
        : undefined
    })
    await until(() => isSettled(account), 60_000)
  }, 180_000)

  test("unused: failed once a block after its time shows it, and not before", async () => {
    const account = await world.payer()
    const { timestamp } = await world.chain.publicClient.getBlock()
    const now = BigInt(Math.floor(Date.now() / 1000))
    const validBefore = (timestamp > now ? timestamp : now) + 20n
    const payload = await world.authorize(account, amount, { validBefore })
    let offered = 0
    world.node.behave((method, params) => {
      if (!carries(method, params, payload)) return undefined
      offered += 1
      return offered === 1 ? { error: { code: -32000, message: "insufficient funds" } } : undefined
    })
    expect((await settle(payload)).body.errorReason).toBe("relay_wallet_empty")
    await Bun.sleep(22_000)
    // Time has passed, but no block shows it.
    expect(await settlementOf(account)).toMatchObject({
      status: "pending",
      told_reason: "relay_wallet_empty"
    })
    await world.chain.testClient.increaseTime({ seconds: 60 })
    await Effect.runPromise(world.chain.mine(1))
    await until(async () => (await settlementOf(account))?.["status"] === "failed", 40_000)
    expect(await settlementOf(account)).toMatchObject({
      error_reason: "invalid_exact_evm_payload_authorization_valid_before"
    })
    expect(await world.balanceOf(account.address)).toBe(funds)
  }, 180_000)
})
