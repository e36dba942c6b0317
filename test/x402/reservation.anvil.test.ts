// A payment and an authorization for it: what one of them has settled the other never settles again.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import type { Hex } from "viem"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { decodeHeader } from "../../src/x402/Wire.ts"
import {
  broadcasts,
  carries,
  firstVersion,
  headerOf,
  openPayment,
  payPath,
  report,
  rowsOf,
  transfer,
  until
} from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 10_000_000n

const world = await x402World()

describe("a payment with an authorization", () => {
  const pay = (id: string, headers: Readonly<Record<string, string>> = {}) =>
    world.call("GET", payPath(world, id), undefined, undefined, headers)
  const settlementOf = async (id: string) => {
    const [row] = await rowsOf(
      world,
      `SELECT status, error_reason, encode(transaction_id, 'hex') AS transaction_id, told_reason
       FROM x402_settlements WHERE payment_id = '${id}'`
    )
    return row
  }
  const payByTransfer = async (id: string) => {
    const buyer = await world.payer()
    const settled = await report(world, id, buyer, amount, await transfer(world, buyer, amount))
    expect(settled.body.payment.status).toBe("settled")
    return settled.body.payment
  }

  test("a settled payment answers any header with itself, and nothing moves", async () => {
    const id = await openPayment(world, "10")
    const payment = await payByTransfer(id)
    const before = await world.balanceOf(receiver)
    const sent = broadcasts(world)
    for (let again = 0; again < 3; again++) {
      const account = await world.payer()
      const answer = await pay(id, headerOf(await world.authorize(account, amount)))
      expect(answer.status).toBe(200)
      expect(answer.body.payment).toEqual(payment)
    }
    expect((await pay(id, { "x-payment": "bm8=" })).status).toBe(200)
    expect(await world.balanceOf(receiver)).toBe(before)
    expect(broadcasts(world)).toBe(sent)
  })

  test("after a header has paid, its payer gets the payment and its outcome again", async () => {
    const id = await openPayment(world, "10")
    const account = await world.payer()
    const header = headerOf(await world.authorize(account, amount))
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(id, header)))
    const before = await world.balanceOf(receiver)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const again = await pay(id, header)
    expect<unknown>(again.body).toEqual(answers[0]?.body)
    const outcome = decodeHeader(
      again.headers.get(firstVersion === 1 ? "x-payment-response" : "payment-response") ?? ""
    )
    expect(outcome).toMatchObject({
      value: { success: true, payer: account.address, transaction: again.body.payment.reportedTransactionId }
    })
    expect(await world.balanceOf(receiver)).toBe(before)
  })

  test("while a wallet may still pay by transfer, its header is not relayed; another wallet's is", async () => {
    const id = await openPayment(world, "10")
    const account = await world.payer()
    const announced = await world.call(
      "POST",
      `/payments/${id}/attempts`,
      world.keys[world.env].publishable,
      {
        buyerDidToken: await createDidToken(account, {
          audience: world.baseUrl,
          lifetimeSeconds: 900,
          now: Math.floor(Date.now() / 1000),
          id
        }),
        method: "transfer"
      }
    )
    expect(announced.status).toBe(201)
    const sent = broadcasts(world)
    const refused = await pay(id, headerOf(await world.authorize(account, amount)))
    expect<unknown>([refused.status, refused.body.error]).toEqual([402, "payment_already_taken"])
    expect(broadcasts(world)).toBe(sent)
    expect(await settlementOf(id)).toBeUndefined()
    const other = await world.payer()
    expect((await pay(id, headerOf(await world.authorize(other, amount)))).status).toBe(200)
    expect(await world.balanceOf(account.address)).toBe(1_000_000_000n)
  })

  test("a transfer with a waiting authorization's terms settles no other payment until that has ended", async () => {
    const [reserved, announced] = [await openPayment(world, "10"), await openPayment(world, "10")]
    const account = await world.payer()
    const attempt = await world.call(
      "POST",
      `/payments/${announced}/attempts`,
      world.keys[world.env].publishable,
      {
        buyerDidToken: await createDidToken(account, {
          audience: world.baseUrl,
          lifetimeSeconds: 900,
          now: Math.floor(Date.now() / 1000),
          id: announced
        }),
        method: "transfer"
      }
    )
    expect(attempt.status).toBe(201)
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
    )
    const waiting = pay(reserved, headerOf(await world.authorize(account, amount)))
    await until(async () => (await settlementOf(reserved))?.["status"] === "pending")
    const hash = await transfer(world, account, amount)
    const query = `SELECT payment_id FROM incoming_transfers WHERE transaction_id = decode('${hash.slice(2)}', 'hex')`
    // Funding another wallet mines the block that confirms it.
    await world.payer()
    await until(async () => (await rowsOf(world, query)).length === 1)
    await Bun.sleep(3_000)
    expect(await rowsOf(world, query)).toEqual([{ payment_id: null }])
    world.node.behave(() => undefined)
    await waiting
    await until(async () => (await settlementOf(reserved))?.["status"] === "settled", 40_000)
    await until(async () => (await rowsOf(world, query))[0]?.["payment_id"] === announced, 20_000)
  })

  test("paid by transfer while an authorization waits: the authorization is never sent, and the answer says why", async () => {
    const id = await openPayment(world, "10")
    const account = await world.payer()
    const sent = broadcasts(world)
    // The wallet's state cannot be read: the settlement is registered and waits.
    let waits = 0
    world.node.behave((method) => {
      if (method !== "eth_gasPrice") return undefined
      waits += 1
      return waits <= world.nodeCount ? undefined : { raw: new Response("", { status: 503 }) }
    })
    const header = headerOf(await world.authorize(account, amount))
    const waiting = pay(id, header)
    await until(async () => (await settlementOf(id))?.["status"] === "pending")
    await payByTransfer(id)
    world.node.behave(() => undefined)
    await waiting
    await until(async () => (await settlementOf(id))?.["status"] === "failed", 40_000)
    expect(await settlementOf(id)).toMatchObject({ error_reason: "payment_already_settled" })
    expect(broadcasts(world)).toBe(sent)
    expect(await world.balanceOf(account.address)).toBe(1_000_000_000n)
    expect((await pay(id, header)).status).toBe(200)
  }, 180_000)

  test("if a payment fails while an authorization waits, nothing is sent for it", async () => {
    const id = await openPayment(world, "10")
    const account = await world.payer()
    const sent = broadcasts(world)
    let waits = 0
    world.node.behave((method) => {
      if (method !== "eth_gasPrice") return undefined
      waits += 1
      return waits <= world.nodeCount ? undefined : { raw: new Response("", { status: 503 }) }
    })
    const waiting = pay(id, headerOf(await world.authorize(account, amount)))
    await until(async () => (await settlementOf(id))?.["status"] === "pending")
    await rowsOf(
      world,
      `UPDATE payments SET status = 'failed', failure_reason = 'expired', failed_at = now() WHERE id = '${id}'`
    )
    world.node.behave(() => undefined)
    await waiting
    await until(async () => (await settlementOf(id))?.["status"] === "failed", 40_000)
    expect(await settlementOf(id)).toMatchObject({ error_reason: "payment_failed" })
    expect(broadcasts(world)).toBe(sent)
  }, 180_000)

  test("if both are mined, the transfer settles the payment; the failed settlement has its transaction id", async () => {
    const id = await openPayment(world, "10")
    const account = await world.payer()
    const raws: Array<unknown> = []
    // The node accepts it, and no block includes it for a while.
    world.node.behave((method, [raw]) => {
      if (method !== "eth_sendRawTransaction") return undefined
      raws.push(raw)
      return { raw: new Response("", { status: 503 }) }
    })
    const waiting = pay(id, headerOf(await world.authorize(account, amount)))
    await until(async () => raws.length > 0)
    const payment = await payByTransfer(id)
    await waiting
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
    )
    const second = await rpc("eth_sendRawTransaction", [raws[0]])
    await until(async () => (await settlementOf(id))?.["status"] === "failed", 40_000)
    expect(await settlementOf(id)).toMatchObject({
      error_reason: "payment_already_settled",
      transaction_id: second.slice(2)
    })
    const answer = await pay(id)
    expect(answer.body.payment.reportedTransactionId).toBe(payment.reportedTransactionId)
  }, 180_000)
  const rpc = async (method: string, params: ReadonlyArray<unknown>): Promise<Hex> => {
    const response = await fetch(world.chain.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    })
    return (await response.json()).result
  }

  test("of ten payers' authorizations at once, one is charged and only one settlement exists", async () => {
    const id = await openPayment(world, "10")
    const accounts = await Array.fromAsync({ length: 10 }, () => world.payer())
    const headers = await Promise.all(
      accounts.map(async (account) => headerOf(await world.authorize(account, amount)))
    )
    const before = await world.balanceOf(receiver)
    await Promise.all(headers.map((header) => pay(id, header)))
    expect((await pay(id)).body.payment.status).toBe("settled")
    expect(await world.balanceOf(receiver)).toBe(before + amount)
    const rows = await rowsOf(world, `SELECT status FROM x402_settlements WHERE payment_id = '${id}'`)
    expect(rows).toEqual([{ status: "settled" }])
  })

  test("an authorization that reverted leaves the payment to other payers, but not to its own", async () => {
    const id = await openPayment(world, "10")
    const [burner, buyer] = [await world.payer(amount), await world.payer()]
    const raws: Array<unknown> = []
    world.node.behave((method, [raw]) => {
      if (method !== "eth_sendRawTransaction") return undefined
      raws.push(raw)
      return { raw: new Response("", { status: 503 }) }
    })
    const first = headerOf(
      await world.authorize(burner, amount, {
        validBefore: BigInt(Math.floor(Date.now() / 1000)) + 800n
      })
    )
    const waiting = pay(id, first)
    await until(async () => raws.length > 0)
    // The wallet empties itself before the relayed transaction.
    await transfer(world, burner, amount, buyer.address)
    await rpc("eth_sendRawTransaction", [raws[0]])
    world.node.behave(() => undefined)
    expect((await waiting).status).toBe(402)
    await until(async () => (await settlementOf(id))?.["told_reason"] !== null)
    expect(await settlementOf(id)).toMatchObject({ status: "pending" })
    await transfer(world, buyer, amount, burner.address)
    // The holder of the first signature may still use it, so the wallet is not asked to pay twice.
    const again = await pay(id, headerOf(await world.authorize(burner, amount)))
    expect<unknown>([again.status, again.body.error]).toEqual([402, "payment_already_taken"])
    const before = await world.balanceOf(receiver)
    const paid = await pay(id, headerOf(await world.authorize(buyer, amount)))
    expect(paid.status).toBe(200)
    expect(paid.body.payment).toMatchObject({ status: "settled", payerAddress: buyer.address })
    // The first header arrives again: nothing is sent for it.
    const sent = broadcasts(world)
    expect((await pay(id, first)).status).toBe(200)
    await Bun.sleep(3_000)
    expect(broadcasts(world)).toBe(sent)
    expect(await world.balanceOf(receiver)).toBe(before + amount)
    expect(await world.balanceOf(burner.address)).toBe(amount)
  }, 180_000)

  test("in no node while its payer reports a transfer: its nonce is filled, and no caller is told that gas is missing", async () => {
    const id = await openPayment(world, "10")
    const account = await world.payer()
    const payload = await world.authorize(account, amount, {
      validBefore: BigInt(Math.floor(Date.now() / 1000)) + 800n
    })
    // The nodes accept the filler only.
    world.node.behave((method, params) =>
      carries(method, params, payload) ? { raw: new Response("", { status: 503 }) } : undefined
    )
    const waiting = pay(id, headerOf(payload))
    const state = `SELECT outcome FROM wallet_transactions t
      JOIN x402_settlements s ON s.id = t.reference WHERE s.payment_id = '${id}' ORDER BY t.nonce`
    await until(async () => (await rowsOf(world, state)).length > 0)
    expect((await report(world, id, account, amount, `0x${"ab".repeat(32)}`)).status).toBe(202)
    await waiting
    await until(async () => (await settlementOf(id))?.["told_reason"] !== null, 40_000)
    expect(await settlementOf(id)).toMatchObject({ status: "pending", told_reason: "payment_already_taken" })
    expect(await rowsOf(world, state)).toEqual([{ outcome: "filled" }])
    world.node.behave(() => undefined)
    // The transfer is given up: the signature pays.
    await rowsOf(world, `UPDATE payment_reports SET next_check_at = NULL WHERE payment_id = '${id}'`)
    const paid = await pay(id, headerOf(payload))
    expect([paid.status, paid.body.payment?.payerAddress]).toEqual([200, account.address])
  }, 180_000)

  // The last test, because it moves the chain's time.
  test("signed but in no node when a transfer settles the payment: its nonce is filled, and nobody pays twice", async () => {
    const id = await openPayment(world, "10")
    const account = await world.payer()
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
    )
    const waiting = pay(id, headerOf(await world.authorize(account, amount)))
    const state = `SELECT outcome, cardinality(versions) AS versions FROM wallet_transactions t
      JOIN x402_settlements s ON s.id = t.reference WHERE s.payment_id = '${id}'`
    await until(async () => (await rowsOf(world, state)).length > 0)
    await payByTransfer(id)
    const answer = await waiting
    expect(answer.status).toBe(200)
    world.node.behave(() => undefined)
    await until(async () => (await rowsOf(world, state))[0]?.["outcome"] === "filled", 40_000)
    expect(await rowsOf(world, state)).toEqual([{ outcome: "filled", versions: 2 }])
    expect(await world.balanceOf(account.address)).toBe(1_000_000_000n)
    await until(async () => (await settlementOf(id))?.["told_reason"] === "payment_already_settled", 40_000)
    // The holder of the signature may use it until it expires.
    expect(await settlementOf(id)).toMatchObject({ status: "pending" })
    await world.chain.testClient.increaseTime({ seconds: 120 })
    await Effect.runPromise(world.chain.mine(1))
    await until(async () => (await settlementOf(id))?.["status"] === "failed", 60_000)
    expect(await settlementOf(id)).toMatchObject({ error_reason: "payment_already_settled" })
  }, 180_000)
})
