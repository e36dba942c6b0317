// Agents that pay payments of this service: one authorization for each payment, with a nonce that the token accepts
// only once.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { authorizationNonceOf } from "../../../src/domain/authorizationNonce.ts"
import { decodeHeader } from "../../../src/x402/Wire.ts"
import {
  firstVersion,
  openPayment,
  outlastSpending,
  payPath,
  relayElsewhere,
  requiredBy,
  rowsOf,
  until
} from "../payloads.ts"
import { receiver, requirementsV2, x402World } from "../x402World.ts"

setDefaultTimeout(150_000)

const world = await x402World()

describe("an agent and a payment of this service", () => {
  let counter = 0
  const required = (id: string) => world.call("GET", payPath(world, id), undefined)
  const sign = async (key: string, id: string, requestId = `own-${counter++}`) => {
    const answer = await required(id)
    return world.call("POST", "/agent/x402/payments", key, {
      requestId,
      resource: `${world.baseUrl}/api/v1${payPath(world, id)}`,
      paymentRequired: requiredBy(answer)
    })
  }
  // biome-ignore lint/suspicious/noExplicitAny: any x402 header
  const payloadOf = (signed: any) => {
    const header = decodeHeader(signed.body.header.value)
    if (header._tag === "None") throw new Error("not a payment header")
    // biome-ignore lint/suspicious/noExplicitAny: any x402 header
    return (header.value as any).payload
  }
  // biome-ignore lint/suspicious/noExplicitAny: the agent's answer
  const headerOf = (signed: any) => ({ [signed.body.header.name]: signed.body.header.value })
  const summary = async (key: string) => (await world.call("GET", "/agent", key)).body.agent

  test("the nonce is derived from the payment, for every agent", async () => {
    const id = await openPayment(world, "1")
    const agents = [await world.newAgent(), await world.newAgent()]
    for (const { key } of agents) {
      const signed = await sign(key, id)
      expect(signed.status).toBe(201)
      expect(payloadOf(signed).authorization.nonce).toBe(authorizationNonceOf(id))
    }
  })

  test("ten requests for one payment give one authorization, one reservation of the cap, and one charge", async () => {
    const id = await openPayment(world, "1")
    const { agent, key } = await world.newAgent()
    const before = await world.balanceOf(agent.address)
    const all = await Promise.all(Array.from({ length: 10 }, () => sign(key, id)))
    expect(all.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201])
    expect(new Set(all.map((one) => payloadOf(one).signature)).size).toBe(1)
    expect((await summary(key)).spent).toBe("1.00")
    const paid = await Promise.all(
      all.map((one) => world.call("GET", payPath(world, id), undefined, undefined, headerOf(one)))
    )
    expect(new Set(paid.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await world.balanceOf(agent.address)).toBe(before - 1_000_000n)
    // Once it has paid, it is still returned, and pays nothing more.
    const settled = await world.call("GET", payPath(world, id), undefined)
    expect(settled.body.payment.status).toBe("settled")
  })

  test("a resource that lies about the payee or the amount gets an ordinary nonce, as for a foreign payment", async () => {
    const id = await openPayment(world, "1")
    const { key } = await world.newAgent()
    const { x402Version, accepts } = requiredBy(await required(id))
    const lie = firstVersion === 1 ? { maxAmountRequired: "999999" } : { amount: "999999" }
    const lies = await world.call("POST", "/agent/x402/payments", key, {
      requestId: "a-lie",
      resource: `${world.baseUrl}/api/v1${payPath(world, id)}`,
      paymentRequired: {
        x402Version,
        accepts: [{ ...accepts[0], ...lie }]
      }
    })
    expect(lies.status).toBe(201)
    expect(payloadOf(lies).authorization.nonce).not.toBe(authorizationNonceOf(id))
    expect(payloadOf(await sign(key, id)).authorization.nonce).toBe(authorizationNonceOf(id))
  })

  test("only after its cancellation a payment is signed again, with the next nonce", async () => {
    const id = await openPayment(world, "1")
    const { key } = await world.newAgent()
    const first = await sign(key, id)
    const path = `/agent/x402/payments/${first.body.agentPayment.id}/release`
    expect((await world.call("POST", path, key)).status).toBe(202)
    await outlastSpending(world, payloadOf(first).authorization)
    await until(async () => (await summary(key))?.payments[0]?.status === "released", 40_000)
    const second = await sign(key, id)
    expect(second.status).toBe(201)
    expect(payloadOf(second).authorization.nonce).toBe(authorizationNonceOf(id, 1))
    const paid = await world.call("GET", payPath(world, id), undefined, undefined, headerOf(second))
    expect(paid.status).toBe(200)
  }, 180_000)

  test("after its expiry on the chain a payment is signed again with the same nonce, and the facilitator accepts it", async () => {
    const id = await openPayment(world, "1")
    const { agent, key } = await world.newAgent()
    const before = await world.balanceOf(agent.address)
    const first = await sign(key, id)
    const snapshot = await Effect.runPromise(world.chain.snapshot)
    await world.chain.testClient.increaseTime({ seconds: 400 })
    await Effect.runPromise(world.chain.mine(1))
    await until(async () => (await summary(key))?.payments[0]?.status === "expired", 40_000)
    await Effect.runPromise(world.chain.restore(snapshot))
    const second = await sign(key, id)
    expect(second.status).toBe(201)
    expect(payloadOf(second).authorization.nonce).toBe(authorizationNonceOf(id))
    expect(second.body.header.value).not.toBe(first.body.header.value)
    const paid = await world.call("GET", payPath(world, id), undefined, undefined, headerOf(second))
    expect(paid.status).toBe(200)
    // The token refuses the earlier one.
    await expect(relayElsewhere(world, payloadOf(first))).rejects.toThrow()
    expect(await world.balanceOf(agent.address)).toBe(before - 1_000_000n)
  }, 180_000)
})

describe("allowed hosts", () => {
  const other = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
  const sign = (key: string, resource: string, payTo: string, amount = "1") =>
    world.call("POST", "/agent/x402/payments", key, {
      requestId: crypto.randomUUID(),
      resource,
      paymentRequired: {
        x402Version: 2,
        accepts: [requirementsV2(BigInt(amount), { payTo })]
      }
    })

  test("are paid only over https; loopback is no network", async () => {
    const { key } = await world.newAgent({
      usdc: 0n,
      allowedHosts: ["api.good.example", "localhost:4021"]
    })
    const plain = await sign(key, "http://api.good.example/x", receiver)
    expect(plain.body.error).toMatchObject({
      code: "AGENT_HOST_NOT_ALLOWED",
      details: [{ expected: "https", actual: "http" }]
    })
    expect((await sign(key, "http://localhost:4021/x", receiver)).status).toBe(201)
    expect((await sign(key, "https://api.good.example/x", receiver)).status).toBe(201)
    const free = await world.newAgent({ usdc: 0n })
    expect((await sign(free.key, "http://anything.example/x", receiver)).status).toBe(201)
  })

  test("are bound to the payee of the first payment there, unless payees are listed", async () => {
    const hosts = ["api.good.example", "api.other.example"]
    const { key } = await world.newAgent({ usdc: 0n, allowedHosts: hosts, perPayment: 10n })
    // A request that is refused for another reason binds no payee.
    expect((await sign(key, "https://api.good.example/x", other, "11")).body.error.code).toBe(
      "AGENT_CAP_EXCEEDED"
    )
    const firsts = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sign(key, `https://api.good.example/${index}`, index % 2 === 0 ? receiver : other)
      )
    )
    const paid = new Set(
      firsts.flatMap(({ status, body }) => (status === 201 ? [body.agentPayment.payTo] : []))
    )
    expect(paid.size).toBe(1)
    const [payee] = paid
    const stranger = payee === receiver ? other : receiver
    const refused = await sign(key, "https://api.good.example/again", stranger)
    expect(refused.body.error).toMatchObject({
      code: "AGENT_PAYEE_NOT_ALLOWED",
      details: [{ path: "payTo", expected: payee, actual: stranger }]
    })
    const onPort = await sign(key, "https://api.good.example:8443/again", stranger)
    expect(onPort.body.error.code).toBe("AGENT_PAYEE_NOT_ALLOWED")
    expect((await sign(key, "https://api.other.example/x", stranger)).status).toBe(201)
    const listed = await world.newAgent({
      usdc: 0n,
      allowedHosts: hosts,
      allowedPayees: [receiver, other as typeof receiver]
    })
    expect((await sign(listed.key, "https://api.good.example/x", receiver)).status).toBe(201)
    expect((await sign(listed.key, "https://api.good.example/x", other)).status).toBe(201)
  })

  test("a first payment that ended unused binds no payee; one that may still be used, or was used, does", async () => {
    const { agent, key } = await world.newAgent({ usdc: 0n, allowedHosts: ["api.good.example"] })
    const pay = async (payTo: string): Promise<string> =>
      (await sign(key, "https://api.good.example/x", payTo)).body.error?.code ?? "signed"
    const end = (status: string) =>
      rowsOf(
        world,
        `UPDATE agent_payments SET status = '${status}', finished_at = now(), next_look_at = NULL
         WHERE agent_id = '${agent.id}' AND status = 'reserved' RETURNING id`
      )
    expect(await pay(receiver)).toBe("signed")
    expect(await pay(other)).toBe("AGENT_PAYEE_NOT_ALLOWED")
    await end("expired")
    expect(await pay(other)).toBe("signed")
    expect(await pay(receiver)).toBe("AGENT_PAYEE_NOT_ALLOWED")
    await end("used")
    expect(await pay(other)).toBe("signed")
    await end("released")
    expect(await pay(receiver)).toBe("AGENT_PAYEE_NOT_ALLOWED")
  })

  test("a resource with control characters or half a surrogate pair is a 400", async () => {
    const { key } = await world.newAgent({ usdc: 0n })
    for (const resource of ["https://api.good.example/\u0000", "https://api.good.example/\ud800"]) {
      const answer = await sign(key, resource, receiver)
      expect(answer.status).toBe(400)
      expect(answer.body.error.details?.[0]?.path).toBe("body.resource")
    }
  })
})
