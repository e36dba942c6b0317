// Payments by signature: one signature pays its payment, once, and nothing else.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeAbiParameters } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../../src/domain/Chain.ts"
import { multicall } from "../../../src/x402/AuthorizationChain.ts"
import { create2Address, create2Call, create2Factory, erc1271Creation } from "../../support/contracts.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import {
  bodyV2,
  broadcasts,
  headerOf,
  openPayment,
  payPath,
  relayElsewhere,
  report,
  rowsOf,
  transfer,
  until
} from "../payloads.ts"
import { receiver, startX402World, x402World } from "../x402World.ts"
import { payBySignature, signTerms, termsOf } from "./signed.ts"

setDefaultTimeout(150_000)

const amount = 10_000_000n

const { relayWei } = moneyNetwork
const world = await x402World()

describe("a payment by signature", () => {
  const statusOf = async (id: string) =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment

  test("a wallet with no wei pays; the payer is a human; a repetition returns the same payment", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const before = await world.balanceOf(receiver)
    const terms = await termsOf(world, id, buyer.address)
    expect(terms.status).toBe(200)
    expect(terms.body.relayed).toBe(true)
    expect(terms.body.typedData.message).toMatchObject({ to: receiver, value: "10000000" })
    const signed = await signTerms(world, id, buyer)
    const began = performance.now()
    const answer = await payBySignature(world, id, signed)
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(answer.status).toBe(200)
    expect(answer.body.payment).toMatchObject({
      status: "settled",
      payerType: "human",
      payerAddress: buyer.address
    })
    const again = await payBySignature(world, id, signed)
    expect(again.body).toEqual(answer.body)
    expect((await world.balanceOf(receiver)) - before).toBe(amount)
    await until(async () => world.delivered.some((one) => one.type === "payment.settled"))
    // Anybody who sees a signature can use it: once nothing is owed, none is requested.
    const after = await termsOf(world, id, buyer.address)
    expect([after.status, after.body.error.code]).toEqual([409, "PAYMENT_SETTLED"])
  })

  test("two browsers of one wallet sign twice, and one transfer moves", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const [one, other] = [await signTerms(world, id, buyer), await signTerms(world, id, buyer)]
    expect(one.payload.authorization["nonce"]).toBe(other.payload.authorization["nonce"] ?? "")
    const answers = await Promise.all(
      [one, other, one, other].map((signed) => payBySignature(world, id, signed))
    )
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
  })

  test("a stolen signature pays only the payment that it was signed for", async () => {
    const [id, thiefs] = [await openPayment(world, "10"), await openPayment(world, "10")]
    const buyer = await world.payer()
    const signed = await signTerms(world, id, buyer)
    const sent = broadcasts(world)
    const direct = await payBySignature(world, thiefs, signed)
    expect(direct.status).toBe(422)
    expect(direct.body.error).toMatchObject({ code: "AUTHORIZATION_REFUSED", reason: "signature" })
    const asX402 = await world.call(
      "GET",
      payPath(world, thiefs),
      undefined,
      undefined,
      headerOf(signed.payload)
    )
    expect(asX402.status).toBe(402)
    const atTheShopsApi = await world.call(
      "POST",
      "/x402/settle",
      world.keys[world.env].secret,
      bodyV2(signed.payload, amount)
    )
    expect(atTheShopsApi.body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_nonce_already_used"
    })
    expect(broadcasts(world)).toBe(sent)
    // The thief submits it to the chain: the merchant gets the money, and the payment that was signed for is paid.
    await relayElsewhere(world, signed.payload)
    expect((await statusOf(thiefs)).status).toBe("pending")
    // 202 until a reader has found it.
    expect([200, 202]).toContain((await payBySignature(world, id, signed)).status)
    await until(async () => (await statusOf(id)).status === "settled")
    expect((await statusOf(thiefs)).status).toBe("pending")
  })

  test("a wallet that pays by a transfer does not also pay by its signature", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const signed = await signTerms(world, id, buyer)
    const hash = await transfer(world, buyer, amount)
    expect((await report(world, id, buyer, amount, hash)).status).toBe(200)
    expect((await payBySignature(world, id, signed)).body.payment.reportedTransactionId).toBe(hash)
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
  })

  test("if the service misses the node's answer, the payment still settles", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const signed = await signTerms(world, id, buyer)
    let lost = 0
    world.node.behave(async (method, params) => {
      if (method !== "eth_sendRawTransaction") return undefined
      lost += 1
      // The node accepts it, and its answer is lost.
      await Effect.runPromise(Effect.exit(world.chain.rpc(method, params)))
      return { error: { code: -32603, message: "timeout" } }
    })
    const answer = await payBySignature(world, id, signed)
    world.node.behave(() => undefined)
    expect(lost).toBeGreaterThan(0)
    expect([200, 202]).toContain(answer.status)
    await until(async () => (await statusOf(id)).status === "settled", 40_000)
    expect((await statusOf(id)).payerType).toBe("human")
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
  })

  test("a signature that somebody else has used before it is handed in settles its payment", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const signed = await signTerms(world, id, buyer)
    await relayElsewhere(world, signed.payload)
    const payer = `'\\x${buyer.address.slice(2)}'`
    await until(
      async () =>
        (await rowsOf(world, `SELECT 1 FROM incoming_transfers WHERE payer = ${payer} AND match_at IS NULL`))
          .length > 0
    )
    const answer = await payBySignature(world, id, signed)
    expect([200, 202]).toContain(answer.status)
    await until(async () => (await statusOf(id)).status === "settled")
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
  })

  test("refusals give the reason, and nothing is sent", async () => {
    const id = await openPayment(world, "10")
    const poor = await world.payer(1n)
    const sent = broadcasts(world)
    const reasonOf = async (signed: Parameters<typeof payBySignature>[2]) => {
      const { body, status } = await payBySignature(world, id, signed)
      expect(status).toBe(422)
      return body.error.reason
    }
    expect(await reasonOf(await signTerms(world, id, poor))).toBe("balance")
    const buyer = await world.payer()
    const signed = await signTerms(world, id, buyer)
    expect(await reasonOf({ ...signed, payer: poor.address })).toBe("signature")
    expect(await reasonOf({ ...signed, validBefore: "1" })).toBe("signature")
    expect(broadcasts(world)).toBe(sent)
    const [row] = await rowsOf(
      world,
      `SELECT count(*)::int AS n FROM x402_settlements WHERE payment_id = '${id}'`
    )
    expect(row?.["n"]).toBe(0)
  })

  test("on a chain without Multicall3 no wallet is deployed, and nothing is sent", async () => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const creation = erc1271Creation(owner.address)
    const wallet = Address.make(create2Address(creation))
    await Effect.runPromise(world.chain.mint(wallet, amount))
    const code = await Effect.runPromise(world.chain.rpc("eth_getCode", [multicall, "latest"]))
    await Effect.runPromise(world.chain.rpc("anvil_setCode", [multicall, "0x"]))
    const id = await openPayment(world, "10")
    const signed = await signTerms(world, id, owner, wallet)
    const wrapped = encodeAbiParameters(
      [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
      [create2Factory, create2Call(creation), signed.signature]
    )
    const sent = broadcasts(world)
    const answer = await payBySignature(world, id, { ...signed, signature: `${wrapped}${"6492".repeat(16)}` })
    expect(answer.body.error.reason).toBe("wallet_not_deployed")
    expect(broadcasts(world)).toBe(sent)
    await Effect.runPromise(world.chain.rpc("anvil_setCode", [multicall, code]))
  })
})

test("a signature is valid no longer than its payment can be paid", async () => {
  const world = await startX402World({ PAYMENT_EXPIRY: "5m" })
  try {
    const id = await openPayment(world, "10")
    const { payment } = (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body
    const { body } = await termsOf(world, id, (await world.payer()).address)
    expect(body.typedData.message.validBefore).toBe(
      String(Math.floor(Date.parse(payment.createdAt) / 1000) + 300)
    )
  } finally {
    await world.close()
  }
})

test("handed in after its expiry, a signature that was used in time settles its payment, an unused one is refused", async () => {
  const world = await startX402World({ PAYMENT_EXPIRY: "15s" })
  try {
    const [id, unusedId] = [await openPayment(world, "10"), await openPayment(world, "10")]
    const [buyer, other] = [await world.payer(), await world.payer()]
    const [signed, unused] = [await signTerms(world, id, buyer), await signTerms(world, unusedId, other)]
    await relayElsewhere(world, signed.payload)
    await Bun.sleep(Number(unused.validBefore) * 1_000 - Date.now())
    const answer = await payBySignature(world, id, signed)
    expect([200, 202]).toContain(answer.status)
    await until(
      async () =>
        (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status ===
        "settled"
    )
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
    const refused = await payBySignature(world, unusedId, unused)
    expect([refused.status, refused.body.error.reason]).toEqual([422, "expired"])
    expect(await world.balanceOf(other.address)).toBe(1_000_000_000n)
  } finally {
    await world.close()
  }
})

test("a signature that ended unsent, and that others submit to the chain, settles its payment", async () => {
  const world = await startX402World({ [relayWei.merchant.setting]: "1000" })
  try {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const signed = await signTerms(world, id, buyer)
    expect((await payBySignature(world, id, signed)).status).toBe(503)
    // As if another wallet had the payment in between.
    await rowsOf(
      world,
      `UPDATE x402_settlements SET status = 'failed', error_reason = 'payment_already_taken', told_reason = NULL,
         finished_at = now(), next_look_at = NULL WHERE payment_id = '${id}' RETURNING id`
    )
    await relayElsewhere(world, signed.payload)
    await until(
      async () =>
        (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status ===
        "settled"
    )
    expect((await payBySignature(world, id, signed)).status).toBe(200)
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
  } finally {
    await world.close()
  }
})

test("if the merchant's budget is exhausted the service says so, and a transfer pays", async () => {
  const world = await startX402World()
  try {
    const spent = await openPayment(world, "10")
    const before = await world.payer()
    expect((await payBySignature(world, spent, await signTerms(world, spent, before))).status).toBe(200)
    await rowsOf(world, "UPDATE wallet_transactions SET spent_wei = 50000000000000000 RETURNING nonce")
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const terms = await termsOf(world, id, buyer.address)
    expect(terms.body).toMatchObject({ relayed: false, reason: "merchant_budget" })
    const signed = await signTerms(world, id, buyer)
    const refused = await payBySignature(world, id, signed)
    expect(refused.status).toBe(503)
    expect(refused.body.error).toMatchObject({ code: "RELAY_UNAVAILABLE", reason: "merchant_budget" })
    await Effect.runPromise(world.chain.setEth(Address.make(buyer.address), 10n ** 18n))
    const hash = await transfer(world, buyer, amount)
    expect((await report(world, id, buyer, amount, hash)).status).toBe(200)
    expect((await payBySignature(world, id, signed)).status).toBe(200)
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
  } finally {
    await world.close()
  }
})
