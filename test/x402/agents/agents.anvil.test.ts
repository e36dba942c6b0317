// Agents over HTTP, against anvil and the real USDC: what they may sign, how their caps hold, and how the chain ends
// reservations.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Context, Effect } from "effect"
import { Address } from "../../../src/domain/Chain.ts"
import { Agents } from "../../../src/x402/agents/Agents.ts"
import { decodeHeader } from "../../../src/x402/Wire.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { firstVersion, headerOf, outlastSpending, requiredBy, versions } from "../payloads.ts"
import { otherEnv, receiver, requirementsV1, requirementsV2, x402World } from "../x402World.ts"

setDefaultTimeout(150_000)

const resource = "https://api.example.com/weather"
const usd = (amount: number) => BigInt(Math.round(amount * 1_000_000))

const { domainName, domainVersion } = moneyNetwork.usdc
const world = await x402World()

describe("agents", () => {
  let counter = 0
  const request = (accepts: ReadonlyArray<unknown>, changes: object = {}) => ({
    requestId: `request-${counter++}`,
    resource,
    paymentRequired: { x402Version: 2, error: "Payment required", resource: { url: resource }, accepts },
    ...changes
  })
  const pay = (key: string, body: unknown) => world.call("POST", "/agent/x402/payments", key, body)
  const summary = async (key: string) => (await world.call("GET", "/agent", key)).body.agent
  const decoded = (value: string) => {
    const header = decodeHeader(value)
    if (header._tag === "None") throw new Error("not a payment header")
    // biome-ignore lint/suspicious/noExplicitAny: any x402 header
    return header.value as any
  }
  const settle = (header: string, requirements: object) =>
    world.call("POST", "/x402/settle", world.keys[world.env].secret, {
      x402Version: decoded(header).x402Version,
      paymentPayload: decoded(header),
      paymentRequirements: requirements
    })
  const until = async (condition: () => Promise<boolean>, millis = 30_000) => {
    const end = Date.now() + millis
    while (Date.now() < end) {
      if (await condition()) return
      await Bun.sleep(100)
    }
    throw new Error("the condition did not come true in time")
  }

  test("version 2: the header contains the requirements unchanged, and the facilitator settles it", async () => {
    const { agent, key } = await world.newAgent()
    const accepted = {
      ...requirementsV2(usd(1)),
      extra: { name: domainName, version: domainVersion, more: [1, { a: null }] }
    }
    const answer = await pay(key, request([{ ...accepted, scheme: "upto" }, accepted]))
    expect(answer.status).toBe(201)
    expect(answer.body.header.name).toBe("PAYMENT-SIGNATURE")
    const header = decoded(answer.body.header.value)
    expect(header.accepted).toEqual(accepted)
    expect(header.resource).toEqual({ url: resource })
    expect(header.payload.authorization).toMatchObject({
      from: agent.address,
      to: receiver,
      value: "1000000"
    })
    expect((await settle(answer.body.header.value, accepted)).body).toMatchObject({ success: true })
  })

  if (firstVersion === 1)
    test("version 1: X-PAYMENT, settled the same way", async () => {
      const { key } = await world.newAgent()
      const accepted = requirementsV1(usd(1))
      const answer = await pay(
        key,
        request([], { paymentRequired: { x402Version: 1, accepts: [accepted] }, resource: accepted.resource })
      )
      expect(answer.body.header.name).toBe("X-PAYMENT")
      expect((await settle(answer.body.header.value, accepted)).body).toMatchObject({ success: true })
    })

  test("the same request id signs the same payment: 201, then 200 with the same bytes; another request is 409", async () => {
    const { key } = await world.newAgent()
    const body = request([requirementsV2(usd(2))])
    const first = await pay(key, body)
    const again = await Promise.all([pay(key, body), pay(key, body)])
    expect([first.status, ...again.map(({ status }) => status)]).toEqual([201, 200, 200])
    for (const one of again) expect(one.body).toEqual(first.body)
    expect((await summary(key)).spent).toBe("2.00")
    const other = await pay(key, {
      ...body,
      paymentRequired: { x402Version: 2, accepts: [requirementsV2(usd(1))] }
    })
    expect(other.body.error.code).toBe("AGENT_REQUEST_CONFLICT")
  })

  test("requirements in another order count as the same request", async () => {
    const { key } = await world.newAgent()
    const turned = (value: unknown): unknown =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([name, inner]) => [name, turned(inner)])
          )
        : value
    const accepted = requirementsV2(usd(2))
    const body = request([accepted])
    const first = await pay(key, body)
    const paymentRequired = { ...body.paymentRequired, accepts: [turned(accepted)] }
    const again = await pay(key, { ...body, paymentRequired })
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(first.body)
    expect((await summary(key)).spent).toBe("2.00")
    for (const changed of [
      { resource: `${resource}?2` },
      { paymentRequired: { ...paymentRequired, accepts: [{ ...accepted, more: 1 }] } }
    ])
      expect((await pay(key, { ...body, ...changed })).body.error.code).toBe("AGENT_REQUEST_CONFLICT")
  })

  test("caps hold for a payment and for a day, to the last unit, and errors say the limit and the amount", async () => {
    const { key } = await world.newAgent({ perPayment: 5_000_000n, perDay: 9_000_001n })
    const over = await pay(key, request([requirementsV2(5_000_001n)]))
    expect(over.status).toBe(403)
    expect(over.body.error).toMatchObject({ code: "AGENT_CAP_EXCEEDED", reason: "payment" })
    expect(over.body.error.details?.[0]).toMatchObject({
      expected: "at most 5.00 USDC",
      actual: "5.000001 USDC"
    })
    expect((await pay(key, request([requirementsV2(5_000_000n)]))).status).toBe(201)
    expect((await pay(key, request([requirementsV2(4_000_002n)]))).body.error).toMatchObject({
      code: "AGENT_CAP_EXCEEDED",
      reason: "day"
    })
    expect((await pay(key, request([requirementsV2(4_000_001n)]))).status).toBe(201)
    expect((await pay(key, request([requirementsV2(1n)])))?.body.error.details?.[0]?.expected).toBe(
      "at most 0.00 USDC of 9.000001 USDC"
    )
    expect(await summary(key)).toMatchObject({ spent: "9.000001", remaining: "0.00" })
  })

  test("50 signings at once stay within the day's cap", async () => {
    const { key } = await world.newAgent({ perDay: usd(7) })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => pay(key, request([requirementsV2(usd(1))])))
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(7)
    expect((await summary(key)).spent).toBe("7.00")
  })

  const refused: ReadonlyArray<readonly [string, object, string, object]> = [
    ["scheme", { scheme: "upto" }, "scheme", { expected: "exact", actual: "upto" }],
    [
      "network",
      { network: "eip155:8453" },
      "network",
      { expected: moneyNetwork.x402[2], actual: "eip155:8453" }
    ],
    ["asset", { asset: receiver }, "asset", { expected: moneyNetwork.usdc.address, actual: receiver }],
    [
      "token name",
      { extra: { name: "Dai", version: domainVersion } },
      "extra.name",
      { expected: domainName, actual: "Dai" }
    ],
    [
      "token version",
      { extra: { name: domainName, version: "1" } },
      "extra.version",
      { expected: "2", actual: "1" }
    ],
    ["amount of nothing", { amount: "0" }, "amount", { actual: "0" }]
  ]
  for (const [name, changes, field, detail] of refused) {
    test(`unsupported ${name}: 422 with the expected value and the value found`, async () => {
      const { key } = await world.newAgent({ usdc: 0n })
      const answer = await pay(key, request([requirementsV2(usd(1), changes as Record<string, unknown>)]))
      expect(answer.status).toBe(422)
      expect(answer.body.error.code).toBe("X402_REQUIREMENTS_UNSUPPORTED")
      expect(answer.body.error.details?.[0]).toMatchObject({
        path: `body.paymentRequired.accepts.0.${field}`,
        ...detail
      })
      expect((await summary(key)).payments).toEqual([])
    })
  }

  test("malformed requirements are 400 with the place", async () => {
    const { key } = await world.newAgent({ usdc: 0n })
    const answer = await pay(key, request([{ ...requirementsV2(usd(1)), payTo: "0x12" }]))
    expect(answer.status).toBe(400)
    expect(answer.body.error.details?.[0]?.path).toBe("body.paymentRequired.accepts.0.payTo")
    expect(answer.body.error.details?.[0]?.message).toBe("Must be an address: 0x and 40 hex digits.")
  })

  test("allowed hosts and payees: only those on the lists", async () => {
    const { key } = await world.newAgent({
      usdc: 0n,
      allowedHosts: ["api.example.com", "127.0.0.1:9999"],
      allowedPayees: [receiver]
    })
    const at = (address: string) => pay(key, request([requirementsV2(1n)], { resource: address }))
    expect((await at("https://api.example.com/x")).status).toBe(201)
    expect((await at("https://api.example.com:8443/x")).status).toBe(201)
    expect((await at("http://127.0.0.1:9999/")).status).toBe(201)
    for (const address of [
      "http://127.0.0.1:9998/",
      "https://evil.example.com/",
      "https://api.example.com.evil.net/",
      "https://evil.net/?https://api.example.com"
    ]) {
      const answer = await at(address)
      expect(answer.body.error.code).toBe("AGENT_HOST_NOT_ALLOWED")
      expect(answer.body.error.details?.[0]?.actual).toBe(new URL(address).host)
    }
    for (const address of ["https://api.example.com@evil.net/", "ftp://api.example.com/", "weather"]) {
      expect((await at(address)).status).toBe(400)
    }
    const payee = Address.make("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
    const answer = await pay(key, request([requirementsV2(1n, { payTo: payee })]))
    expect(answer.body.error).toMatchObject({
      code: "AGENT_PAYEE_NOT_ALLOWED",
      details: [{ expected: receiver, actual: payee }]
    })
  })

  test("60 signatures in any minute, then 429 with an exact retry-after", async () => {
    const { key } = await world.newAgent({ usdc: 0n })
    const all = await Promise.all(Array.from({ length: 62 }, () => pay(key, request([requirementsV2(1n)]))))
    expect(all.filter(({ status }) => status === 201)).toHaveLength(60)
    const limited = all.find(({ status }) => status === 429)
    expect(limited?.body.error.code).toBe("RATE_LIMITED")
    const wait = Number(limited?.headers.get("retry-after"))
    expect(wait).toBeGreaterThan(30)
    expect(wait).toBeLessThanOrEqual(60)
  })

  test("pause, resume and revoke take effect at once; a revoked key is invalid", async () => {
    const agents = Context.get(world.context, Agents)
    const { agent, key } = await world.newAgent({ usdc: 0n })
    await Effect.runPromise(agents.change(world.merchantId, agent.id, { status: "paused" }))
    expect((await pay(key, request([requirementsV2(1n)]))).body.error.code).toBe("AGENT_PAUSED")
    await Effect.runPromise(agents.change(world.merchantId, agent.id, { status: "active" }))
    expect((await pay(key, request([requirementsV2(1n)]))).status).toBe(201)
    expect(await Effect.runPromise(agents.revoke(world.merchantId, agent.id))).toBe(true)
    expect((await pay(key, request([requirementsV2(1n)]))).body.error.code).toBe("INVALID_API_KEY")
    expect(await Effect.runPromise(agents.revoke(world.merchantId, agent.id))).toBe(false)
  })

  test("each agent has its own wallet, the faucet fills it, and its page shows balances and payments", async () => {
    const { agent, key } = await world.newAgent({ usdc: moneyNetwork.faucet ? 0n : 10_000_000n })
    const other = await world.newAgent({ usdc: 0n })
    expect(other.agent.address).not.toBe(agent.address)
    const grant = await world.call("POST", "/agent/test-funds", key)
    if (moneyNetwork.faucet) {
      expect(grant.status).toBe(201)
      expect(grant.body.grant.address).toBe(agent.address)
    } else expect(grant.status).toBe(403)
    const { body } = await pay(key, request([requirementsV2(usd(1))]))
    const shown = await summary(key)
    expect(shown).toMatchObject({
      id: agent.id,
      name: "Researcher",
      env: world.env,
      livemode: !moneyNetwork.isTest,
      address: agent.address,
      balance: { usdcAtomic: "10000000" },
      caps: { perPayment: "5.00", perDay: "20.00" },
      spent: "1.00",
      remaining: "19.00",
      payments: [{ id: body.agentPayment.id, status: "reserved", amount: "1.00", payTo: receiver, resource }]
    })
    expect((await summary(other.key)).payments).toEqual([])
  })

  test("a reservation ends by use, as the chain shows it, and still counts for its day", async () => {
    const { key } = await world.newAgent()
    const accepted = requirementsV2(usd(3))
    const { body } = await pay(key, request([accepted]))
    const { body: settled } = await settle(body.header.value, accepted)
    await until(async () => (await summary(key))?.payments[0]?.status === "used")
    const shown = await summary(key)
    expect(shown.payments[0]?.transactionId).toBe(settled.transaction)
    expect(shown.spent).toBe("3.00")
  }, 180_000)

  test("a release cancels on the chain: the amount is available again, and the authorization is worthless", async () => {
    const { key } = await world.newAgent()
    const accepted = requirementsV2(usd(3))
    const { body } = await pay(key, request([accepted]))
    const other = await world.newAgent({ usdc: 0n })
    const path = `/agent/x402/payments/${body.agentPayment.id}/release`
    expect((await world.call("POST", path, other.key)).body.error.code).toBe("AGENT_PAYMENT_NOT_FOUND")
    expect((await world.call("POST", path, key)).status).toBe(202)
    await outlastSpending(world, decoded(body.header.value).payload.authorization)
    await until(async () => (await summary(key))?.payments[0]?.status === "released", 40_000)
    expect((await summary(key)).spent).toBe("0.00")
    expect((await settle(body.header.value, accepted)).body.errorReason).toBe(
      "invalid_exact_evm_nonce_already_used"
    )
  }, 180_000)

  test("a reservation ends by expiry only when a block shows it, and then its amount is available again", async () => {
    const { key } = await world.newAgent()
    const accepted = requirementsV2(usd(3), { maxTimeoutSeconds: 1 })
    await pay(key, request([accepted]))
    await Bun.sleep(2_500)
    // Time has passed, but no block shows it: the reservation still counts.
    expect((await summary(key)).spent).toBe("3.00")
    const snapshot = await Effect.runPromise(world.chain.snapshot)
    await world.chain.testClient.increaseTime({ seconds: 120 })
    await Effect.runPromise(world.chain.mine(1))
    await until(async () => (await summary(key))?.payments[0]?.status === "expired")
    expect((await summary(key)).spent).toBe("0.00")
    await Effect.runPromise(world.chain.restore(snapshot))
  }, 180_000)

  describe("payments by x402", () => {
    const open = async (amount: string) => {
      const { body } = await world.call("POST", "/payment-intents", world.keys[world.env].secret, {
        amount,
        intentUrl: "https://shop.example.com/order/1"
      })
      const opened = await world.call("POST", "/payments", world.keys[world.env].publishable, {
        intentToken: body.intentToken
      })
      return opened.body.payment.id as string
    }
    const pathOf = (id: string, pk = world.keys[world.env].publishable) => `/payments/${id}/x402?pk=${pk}`
    const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
      world.call("GET", path, undefined, undefined, headers)
    const url = (path: string) => `${world.baseUrl}/api/v1${path}`

    for (const version of versions) {
      test(`version ${version}: 402 with deterministic requirements, then paid by an agent`, async () => {
        const { agent, key } = await world.newAgent()
        const id = await open("2.50")
        const first = await get(pathOf(id))
        expect(first.status).toBe(402)
        expect((await get(pathOf(id))).body).toEqual(first.body)
        const v2 = decoded(first.headers.get("payment-required") ?? "")
        expect(v2).toMatchObject({
          x402Version: 2,
          accepts: [{ network: moneyNetwork.x402[2], amount: "2500000" }]
        })
        expect(first.body).toMatchObject({
          x402Version: 1,
          accepts: versions.includes(1)
            ? [{ network: moneyNetwork.x402[1], maxAmountRequired: "2500000" }]
            : []
        })
        expect(first.headers.get("access-control-expose-headers")).toContain("payment-required")
        const source = version === 1 ? first.body : v2
        const signed = await pay(key, {
          requestId: `intent-${version}`,
          resource: url(pathOf(id)),
          paymentRequired: {
            x402Version: version,
            accepts: source.accepts,
            ...(version === 2 ? { resource: source.resource } : {})
          }
        })
        const { name, value } = signed.body.header
        const paid = await get(pathOf(id), { [name]: value })
        expect(paid.status).toBe(200)
        expect(paid.body.payment).toMatchObject({
          id,
          status: "settled",
          payerType: "agent",
          payerAddress: agent.address
        })
        const outcome = decoded(
          paid.headers.get(version === 1 ? "x-payment-response" : "payment-response") ?? ""
        )
        expect(outcome).toMatchObject({
          success: true,
          transaction: paid.body.payment.reportedTransactionId,
          payer: agent.address
        })
        // The same header again gets the same answer; without a header the payment is returned.
        expect((await get(pathOf(id), { [name]: value })).body).toEqual(paid.body)
        expect((await get(pathOf(id))).body).toEqual(paid.body)
      })
    }

    test("two agents at once: one pays, the other's authorization is refused and not sent", async () => {
      const id = await open("1")
      const headers = await Promise.all(
        [await world.newAgent(), await world.newAgent()].map(async ({ key }, index) => {
          const required = await get(pathOf(id))
          const signed = await pay(key, {
            requestId: `race-${index}`,
            resource: url(pathOf(id)),
            paymentRequired: requiredBy(required)
          })
          return signed.body.header as { readonly name: string; readonly value: string }
        })
      )
      const before = await world.balanceOf(receiver)
      const answers = await Promise.all(headers.map(({ name, value }) => get(pathOf(id), { [name]: value })))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 402])
      expect(await world.balanceOf(receiver)).toBe(before + 1_000_000n)
      expect<unknown>(answers.find(({ status }) => status === 402)?.body.error).toBe("payment_already_taken")
    })

    test("a header that pays something else is refused with 402 and the reason", async () => {
      const id = await open("1")
      const account = await world.payer()
      const payload = await world.authorize(account, 999_999n)
      const answer = await get(pathOf(id), headerOf(payload))
      expect(answer.status).toBe(402)
      expect<unknown>(answer.body.error).toBe(
        firstVersion === 1
          ? "invalid_exact_evm_authorization_value"
          : "invalid_exact_evm_payload_authorization_value_mismatch"
      )
      expect((await get(pathOf(id), { "x-payment": "bm8=" })).status).toBe(402)
    })

    test("other merchants', unknown and live payments, and other keys", async () => {
      const id = await open("1")
      expect((await get(pathOf("00000000-0000-4000-8000-000000000000"))).body.error.code).toBe(
        "PAYMENT_NOT_FOUND"
      )
      expect((await get(pathOf(id, world.keys[otherEnv].publishable))).body.error.code).toBe(
        moneyNetwork.execution === "open" ? "LIVE_MODE_GATED" : "PAYMENT_NOT_FOUND"
      )
      expect((await get(pathOf(id, world.keys[world.env].secret))).body.error.code).toBe(
        "KEY_KIND_NOT_ALLOWED"
      )
      expect((await get(pathOf(id, "pk_test_x"))).body.error.code).toBe("INVALID_API_KEY")
      expect((await get(`/payments/${id}/x402`)).status).toBe(400)
    })
  })
})
