// A facilitator returns success once, and only for the terms that were paid.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { bodyV1, bodyV2, firstVersion, until } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 10_000n
const nonceUsed = "invalid_exact_evm_nonce_already_used"

const world = await x402World()

describe("one authorization, one success", () => {
  const ask = (
    endpoint: "settle" | "verify",
    body: unknown,
    headers: Readonly<Record<string, string>> = {}
  ) => world.call("POST", `/x402/${endpoint}`, world.keys[world.env].secret, body, headers)
  const settle = (body: unknown, headers?: Readonly<Record<string, string>>) => ask("settle", body, headers)
  const verify = (body: unknown, headers?: Readonly<Record<string, string>>) => ask("verify", body, headers)

  for (const settledBefore of [true, false]) {
    test(`terms that the authorization does not meet are refused, ${settledBefore ? "settled" : "answered"} or not`, async () => {
      const account = await world.payer()
      const payload = await world.authorize(account, amount)
      if (settledBefore) expect((await settle(bodyV2(payload, amount))).body.success).toBe(true)
      else {
        // It settles without an answer, because the caller gives up.
        await fetch(`${world.baseUrl}/api/v1/x402/settle`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${world.keys[world.env].secret}`,
            "content-type": "application/json"
          },
          body: JSON.stringify(bodyV2(payload, amount)),
          signal: AbortSignal.timeout(100)
        }).catch(() => undefined)
      }
      const other = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
      for (const [changes, reason] of [
        [{ amount: "50000000" }, "invalid_exact_evm_payload_authorization_value_mismatch"],
        [{ payTo: other }, "invalid_exact_evm_recipient_mismatch"],
        [{ asset: other }, "invalid_exact_evm_eip3009_not_supported"],
        [{ network: "eip155:8453" }, "invalid_exact_evm_network_mismatch"],
        [{ scheme: "upto" }, "invalid_exact_evm_scheme"],
        [{ extra: { name: "Dai", version: "2" } }, "invalid_exact_evm_token_name_mismatch"]
      ] as const) {
        const body = bodyV2(payload, amount, changes)
        const reasons = [(await verify(body)).body.invalidReason, (await settle(body)).body.errorReason]
        if (settledBefore) expect(reasons).toEqual([reason, reason])
        else expect(reasons).not.toContain(undefined)
      }
      const all = { accepted: { ...bodyV2(payload, amount).paymentPayload.accepted, network: "eip155:8453" } }
      const elsewhere = await settle(bodyV2(payload, amount, { network: "eip155:8453" }, all))
      expect(elsewhere.body.success).toBe(false)
      if (firstVersion === 1) expect((await settle(bodyV1(payload, 50_000_000n))).body.success).toBe(false)
    })
  }

  test("an unreturned success belongs to its payer: a known nonce under another signature gets nothing", async () => {
    const account = await world.payer()
    const payload = await world.authorize(account, amount)
    const before = await world.balanceOf(account.address)
    world.node.behave(async () => {
      await Bun.sleep(30)
      return undefined
    })
    await fetch(`${world.baseUrl}/api/v1/x402/settle`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.keys[world.env].secret}`,
        "content-type": "application/json"
      },
      body: JSON.stringify(bodyV2(payload, amount)),
      signal: AbortSignal.timeout(150)
    }).catch(() => undefined)
    const stranger = await world.payer(0n)
    const other = await world.authorize(stranger, amount)
    const forged = bodyV2({ ...payload, signature: other.signature }, amount)
    const attempt = async () => {
      expect((await verify(forged)).body.invalidReason).toBe("invalid_exact_evm_signature")
      expect((await settle(forged)).body.errorReason).toBe("invalid_exact_evm_signature")
    }
    await attempt()
    world.node.behave(() => undefined)
    await until(async () => (await world.balanceOf(account.address)) === before - amount, 30_000)
    await attempt()
  }, 180_000)

  test("after settlement_pending the caller is served: it verifies while it waits and after, and settles once", async () => {
    const account = await world.payer()
    // However slow the machine is, it does not expire before the node is back.
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 600)
    const body = bodyV2(await world.authorize(account, amount, { validBefore }), amount)
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" ? { raw: new Response("down", { status: 503 }) } : undefined
    )
    expect((await settle(body)).body.errorReason).toBe("settlement_pending")
    expect((await verify(body)).body.isValid).toBe(true)
    // The payer's own balance, because unfinished work of earlier tests pays the same receiver.
    const before = await world.balanceOf(account.address)
    world.node.behave(() => undefined)
    await until(async () => (await world.balanceOf(account.address)) === before - amount, 60_000)
    await Bun.sleep(3_000)
    expect((await verify(body)).body.isValid).toBe(true)
    expect((await settle(body)).body.success).toBe(true)
    expect((await verify(body)).body.invalidReason).toBe(nonceUsed)
    expect((await settle(body)).body.errorReason).toBe(nonceUsed)
  }, 180_000)

  test("a lost answer is repeated for the merchant's own key, and for no other", async () => {
    const account = await world.payer()
    const body = bodyV2(await world.authorize(account, amount), amount)
    const mine = { "quittance-idempotency-key": "order-1042" }
    const first = await settle(body, mine)
    expect(first.body.success).toBe(true)
    expect((await settle(body, mine)).body).toEqual(first.body)
    expect((await verify(body, mine)).body.isValid).toBe(true)
    for (const headers of [{}, { "quittance-idempotency-key": "order-1043" }]) {
      expect((await settle(body, headers)).body.errorReason).toBe(nonceUsed)
      expect((await verify(body, headers)).body.invalidReason).toBe(nonceUsed)
    }
    const malformed = await settle(body, { "quittance-idempotency-key": "two words" })
    expect(malformed.status).toBe(400)
    expect(malformed.body.error.details?.[0]?.path).toBe("header.quittance-idempotency-key")
  })

  test("the payer's identifier repeats an answer only if the merchant's server promises to serve it once", async () => {
    const account = await world.payer()
    const extensions = {
      "payment-identifier": { info: { required: false, id: "pay_0123456789abcdef" }, schema: {} }
    }
    const body = bodyV2(await world.authorize(account, amount), amount, {}, { extensions })
    const answers = await Promise.all(Array.from({ length: 20 }, () => settle(body)))
    expect(answers.filter((one) => one.body.success)).toHaveLength(1)

    const careful = { "quittance-idempotency-key": "payment-identifier" }
    const other = bodyV2(await world.authorize(account, amount), amount, {}, { extensions })
    expect((await settle(other, careful)).body.success).toBe(true)
    expect((await settle(other, careful)).body.success).toBe(true)
    expect((await settle(other)).body.success).toBe(false)
    const unnamed = bodyV2(await world.authorize(account, amount), amount)
    expect((await settle(unnamed, careful)).body.success).toBe(true)
    expect((await settle(unnamed, careful)).body.success).toBe(false)
  })
})
