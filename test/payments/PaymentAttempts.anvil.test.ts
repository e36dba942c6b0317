// Announced attempts over HTTP, on anvil with the real USDC: one wallet pays once, whatever its browsers do, and its
// transfer settles without a report.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { createWalletClient, http } from "viem"
import { blocksIn } from "../../src/domain/networks.ts"
import { batchCall, batchContract } from "../support/contracts.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { moneyWorld, transferCall } from "./moneyWorld.ts"

setDefaultTimeout(150_000)

const world = await moneyWorld()

const { usdc } = moneyNetwork
const price = 3_000_000n
/** Blocks that a reorganisation may replace. */
const replaceable = Number(blocksIn(moneyNetwork.env, 10_000))
const cursor = async () => (await world.sql`SELECT block_number FROM chain_cursors`)[0].block_number
const code = (answer: { readonly body: { readonly error?: { readonly code: string } } }) =>
  answer.body.error?.code

describe("announced attempts", () => {
  test("a transfer from an announced wallet settles without a report: payment and webhook", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const announced = await world.announce(buyer, payment.id)
    expect(announced.status).toBe(201)
    expect(announced.body).toMatchObject({
      attempt: { method: "transfer", payer: buyer.address, nonce: 0 },
      payment: { id: payment.id, status: "pending" },
      attempts: []
    })
    const hash = await world.transfer(buyer, price)
    const settled = await world.settled(payment.id)
    expect(settled).toMatchObject({
      status: "settled",
      payerAddress: buyer.address,
      reportedTransactionId: hash,
      payerType: "human"
    })
    await world.until(
      async () => world.delivered.filter(({ transactionId }) => transactionId === hash).length,
      (count) => count > 0
    )
    expect(world.delivered.filter(({ transactionId }) => transactionId === hash)).toHaveLength(1)
    // The report that arrives afterwards replays.
    expect((await world.report(buyer, payment.id, hash, price)).status).toBe(200)
  })

  test("another browser with the same wallet is refused; another wallet only sees the attempt", async () => {
    const [buyer, other] = [await world.buyer(), await world.buyer()]
    const payment = await world.open("3")
    expect((await world.announce(buyer, payment.id)).status).toBe(201)
    const second = await world.announce(buyer, payment.id)
    expect([second.status, code(second)]).toEqual([409, "PAYMENT_ATTEMPT_OPEN"])
    expect(second.body.attempts).toHaveLength(1)
    expect(second.body.attempts[0]?.payer).toBe(`${buyer.address.slice(0, 6)}…${buyer.address.slice(-4)}`)
    expect(second.body.payment.status).toBe("pending")
    const stranger = await world.announce(other, payment.id)
    expect(stranger.status).toBe(201)
    expect(stranger.body.attempts).toHaveLength(1)
    const all = await world.attempts(payment.id)
    expect(all.body.attempts).toHaveLength(2)
    expect((await world.attempts(payment.id, buyer.address)).body.attempts).toHaveLength(1)
  })

  test("of many browsers that announce one wallet at once, one may pay", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const answers = await Promise.all(Array.from({ length: 12 }, () => world.announce(buyer, payment.id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(11).fill(409)])
  })

  test("an announcement repeated with its id is the same attempt", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const attemptId = crypto.randomUUID()
    const first = await world.announce(buyer, payment.id, { attemptId, nonce: 7 })
    const again = await world.announce(buyer, payment.id, { attemptId, nonce: 9 })
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body.attempt).toEqual(first.body.attempt)
    expect(first.body.attempt).toMatchObject({ id: attemptId, nonce: 7 })
  })

  test("a declined attempt lets the wallet try again, and still settles if its transfer arrives", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const { body } = await world.announce(buyer, payment.id)
    const declined = await world.call(
      "DELETE",
      `/payments/${payment.id}/attempts/${body.attempt.id}`,
      world.merchant.keys[moneyNetwork.env].publishable
    )
    expect(declined.status).toBe(204)
    expect((await world.announce(buyer, payment.id)).status).toBe(201)
    await world.transfer(buyer, price)
    expect((await world.settled(payment.id)).status).toBe("settled")
  })

  /** An announced attempt whose wallet has used its nonce for something else, in a block with three on top. */
  const usesNonceElsewhere = async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const attemptId = crypto.randomUUID()
    await world.announce(buyer, payment.id, { attemptId })
    await world.transfer(buyer, 1n, (await world.newMerchant()).receiver)
    await mineAndRead(3)
    return { attemptId, buyer, payment }
  }

  const mineAndRead = async (blocks: number) => {
    await world.mine(blocks)
    const head = await world.chain.publicClient.getBlockNumber({ cacheTime: 0 })
    await world.until(cursor, (height) => BigInt(height) >= head - 1n)
  }

  test("a nonce used for something else ends the attempt for the browser whose wallet returned it", async () => {
    const { attemptId, buyer, payment } = await usesNonceElsewhere()
    const own = (nonce: number) => world.attempts(payment.id, buyer.address, { attemptId, nonce })
    // A reorganisation of these blocks would free the nonce again.
    expect((await own(0)).body.attempts).toHaveLength(1)
    await mineAndRead(replaceable)
    for (const other of [undefined, { attemptId: crypto.randomUUID(), nonce: 0 }])
      expect((await world.attempts(payment.id, buyer.address, other)).body.attempts).toHaveLength(1)
    // If the wallet used another nonce than requested, its transfer may still arrive.
    expect((await own(1)).body.attempts).toHaveLength(1)
    const ended = await world.until(
      () => own(0),
      ({ body }) => body.attempts.length === 0
    )
    expect(ended.body.attempts).toHaveLength(0)
    const answer = await world.announce(buyer, payment.id)
    expect([answer.status, answer.body.attempt.nonce]).toEqual([201, 1])
  })

  test("a nonce used for something else ends the attempt for other browsers only after ten minutes", async () => {
    const { buyer, payment } = await usesNonceElsewhere()
    await mineAndRead(replaceable)
    const announcedBefore = async (minutes: number) => {
      await world.sql`UPDATE payment_attempts SET announced_at = now() - make_interval(mins => ${minutes})
        WHERE payment_id = ${payment.id}`
      return world.announce(buyer, payment.id)
    }
    expect(code(await announcedBefore(9))).toBe("PAYMENT_ATTEMPT_OPEN")
    const answer = await announcedBefore(11)
    expect([answer.status, answer.body.attempt?.nonce]).toEqual([201, 1])
  })

  test("an account with delegated code (EIP-7702) pays once, even if its nonce is used for something else", async () => {
    const delegate = "0x7777777777777777777777777777777777777777"
    await Effect.runPromise(world.chain.rpc("anvil_setCode", [delegate, batchContract]))
    const buyer = await world.buyer()
    const wallet = createWalletClient({
      account: buyer,
      chain: world.chain.chain,
      transport: http(world.chain.rpcUrl)
    })
    const authorization = await wallet.signAuthorization({ contractAddress: delegate, executor: "self" })
    await wallet.sendTransaction({ to: buyer.address, authorizationList: [authorization], gas: 200_000n })
    await world.mine(1)
    const payment = await world.open("3")
    const announced = await world.announce(buyer, payment.id)
    expect([announced.status, announced.body.attempt.nonce]).toEqual([201, undefined])
    // Its transfer waits with a bundler, which sends it with another nonce.
    await wallet.sendTransaction({ to: delegate, value: 0n, gas: 100_000n })
    await world.mine(12)
    const head = await world.chain.publicClient.getBlockNumber({ cacheTime: 0 })
    await world.until(cursor, (height) => BigInt(height) >= head - 1n)
    const second = await world.announce(buyer, payment.id)
    expect([second.status, code(second)]).toEqual([409, "PAYMENT_ATTEMPT_OPEN"])
    await world.chain.walletClient(5).sendTransaction({
      to: buyer.address,
      data: batchCall("strict", [{ to: usdc.address, data: transferCall(world.merchant.receiver, price) }]),
      gas: 600_000n
    })
    await world.mine(2)
    expect((await world.settled(payment.id)).status).toBe("settled")
  })

  const stale = {
    "the page names a nonce that is mined already": { body: { nonce: 0 }, behaviour: () => undefined },
    "the service's node lags": {
      body: {},
      behaviour: (method: string) => {
        if (method === "eth_blockNumber") return { result: "0x1" }
        return method === "eth_getTransactionCount" ? { result: "0x0" } : undefined
      }
    }
  }
  for (const [name, { behaviour, body }] of Object.entries(stale))
    test(`${name}: the attempt stays open, because the wallet signs with another nonce`, async () => {
      const buyer = await world.buyer()
      await world.transfer(buyer, 1n, (await world.newMerchant()).receiver)
      await world.mine(2)
      const head = await world.chain.publicClient.getBlockNumber({ cacheTime: 0 })
      await world.until(cursor, (height) => BigInt(height) >= head - 1n)
      const payment = await world.open("3")
      world.node.behave(behaviour)
      const announced = await world.announce(buyer, payment.id, body)
      world.node.behave(() => undefined)
      expect(announced.status).toBe(201)
      await world.mine(12)
      await world.until(cursor, (height) => BigInt(height) >= head + 11n)
      expect((await world.attempts(payment.id, buyer.address)).body.attempts).toHaveLength(1)
      const second = await world.announce(buyer, payment.id)
      expect([second.status, code(second)]).toEqual([409, "PAYMENT_ATTEMPT_OPEN"])
      await world.transfer(buyer, price)
      expect((await world.settled(payment.id)).status).toBe("settled")
    })

  test("a settled payment cannot be paid again: 409 with the payment", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    await world.announce(buyer, payment.id)
    await world.transfer(buyer, price)
    await world.settled(payment.id)
    const answer = await world.announce(buyer, payment.id)
    expect([answer.status, code(answer)]).toEqual([409, "PAYMENT_SETTLED"])
    expect(answer.body.payment.status).toBe("settled")
  })

  test("only a token bound to this payment can announce", async () => {
    const buyer = await world.buyer()
    const [payment, other] = await Promise.all([world.open("3"), world.open("3")])
    for (const id of [undefined, other.id]) {
      const answer = await world.announce(buyer, payment.id, {
        buyerDidToken: await world.token(buyer, id)
      })
      expect([answer.status, code(answer), answer.body.error.reason]).toEqual([
        401,
        "INVALID_BUYER_TOKEN",
        "payment"
      ])
      expect(answer.headers.get("www-authenticate")).toContain("Bearer")
    }
  })

  test("of two payments of one amount, the one announced last is settled, and each only once", async () => {
    const buyer = await world.buyer()
    const [abandoned, paid] = [await world.open("3"), await world.open("3")]
    await world.announce(buyer, abandoned.id)
    await Bun.sleep(50)
    await world.announce(buyer, paid.id)
    await world.transfer(buyer, price)
    expect((await world.settled(paid.id)).status).toBe("settled")
    expect((await world.payment(abandoned.id)).status).toBe("pending")
  })

  test("of two payments of one amount, a transfer settles the one announced with its nonce", async () => {
    const buyer = await world.buyer()
    const [paid, left] = [await world.open("3"), await world.open("3")]
    await world.announce(buyer, paid.id, { nonce: 0 })
    const { attempt } = (await world.announce(buyer, left.id, { nonce: 1 })).body
    await world.call(
      "DELETE",
      `/payments/${left.id}/attempts/${attempt.id}`,
      world.merchant.keys[moneyNetwork.env].publishable
    )
    await world.transfer(buyer, price)
    expect((await world.settled(paid.id)).status).toBe("settled")
    expect((await world.payment(left.id)).status).toBe("pending")
    expect(code(await world.announce(buyer, paid.id))).toBe("PAYMENT_SETTLED")
  })

  test("a transfer sent since the payment opened settles it when its wallet announces", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const hash = await world.transfer(buyer, price)
    await world.mine(3)
    await world.until(
      async () => (await world.attempts(payment.id, buyer.address)).body.attempts,
      (attempts) => attempts.length === 1
    )
    const answer = await world.announce(buyer, payment.id)
    expect([answer.status, code(answer)]).toEqual([409, "PAYMENT_SETTLED"])
    expect(answer.body.payment).toMatchObject({ status: "settled", reportedTransactionId: hash })
  })

  test("a transfer that an equal authorization may have made does not settle a payment at its announcement", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const bytes = (hex: string) => Buffer.from(hex.slice(2), "hex")
    const { id, receiver } = world.merchant
    await world.sql`
      INSERT INTO x402_settlements (id, merchant_id, env, payment_id, opens_payment, chain_id, asset, payer, nonce,
        receiver, amount, valid_after, valid_before, signature, resource, status, created_at, next_look_at)
      VALUES (${crypto.randomUUID()}, ${id}, ${moneyNetwork.env}, ${crypto.randomUUID()}, true, ${moneyNetwork.chainId},
        ${bytes(usdc.address)}, ${bytes(buyer.address)}, ${Buffer.alloc(32)}, ${bytes(receiver)},
        ${price.toString()}, 0, 4000000000, ${Buffer.alloc(65)}, '', 'pending', now(), now() + interval '1 day')`
    await world.transfer(buyer, price)
    await world.mine(2)
    await world.until(
      async () => (await world.attempts(payment.id, buyer.address)).body.attempts,
      (attempts) => attempts.length === 1
    )
    const first = await world.announce(buyer, payment.id)
    expect([first.status, code(first)]).toEqual([409, "PAYMENT_ATTEMPT_OPEN"])
    expect((await world.payment(payment.id)).status).toBe("pending")
    // The authorization has ended without moving anything: the transfer is the wallet's own.
    await world.sql`
      UPDATE x402_settlements SET status = 'failed', error_reason = 'expired' WHERE payer = ${bytes(buyer.address)}`
    const second = await world.announce(buyer, payment.id)
    expect([second.status, code(second)]).toEqual([409, "PAYMENT_SETTLED"])
  })

  test("an older transfer of the wallet settles no payment that is announced after it", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    // The reader sees the transfer only after the announcement.
    world.node.behave((method) =>
      method === "eth_getLogs" ? { raw: new Response("", { status: 503 }) } : undefined
    )
    await world.transfer(buyer, price)
    await world.announce(buyer, payment.id)
    world.node.behave(() => undefined)
    await world.mine(3)
    await Bun.sleep(3_000)
    expect((await world.payment(payment.id)).status).toBe("pending")
  })

  test("a key of the other environment cannot announce; an unknown payment is 404", async () => {
    const buyer = await world.buyer(0n)
    const payment = await world.open("3")
    const path = `/payments/${payment.id}/attempts`
    const body = { buyerDidToken: await world.token(buyer, payment.id), method: "transfer" }
    const keys = world.merchant.keys[moneyNetwork.isTest ? "live" : "test"]
    const elsewhere = await world.call("POST", path, keys.publishable, body)
    expect([elsewhere.status, code(elsewhere)]).toEqual([404, "PAYMENT_NOT_FOUND"])
    const rival = await world.newMerchant()
    const unknown = await world.call("POST", path, rival.keys[moneyNetwork.env].publishable, body)
    expect([unknown.status, code(unknown)]).toEqual([404, "PAYMENT_NOT_FOUND"])
  })

  test("silent nodes do not stop a buyer from announcing", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    world.node.behave(() => ({ raw: new Response("", { status: 503 }) }))
    const answer = await world.announce(buyer, payment.id)
    world.node.behave(() => undefined)
    expect(answer.status).toBe(201)
    await world.transfer(buyer, price)
    expect((await world.settled(payment.id)).status).toBe("settled")
  }, 180_000)
})
