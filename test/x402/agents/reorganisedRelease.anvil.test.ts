// A cancellation makes an agent's amount available again only when no reorganisation can undo it.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData } from "viem"
import { Address } from "../../../src/domain/Chain.ts"
import { authorizationAbi } from "../../../src/x402/Authorization.ts"
import { decodeHeader } from "../../../src/x402/Wire.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { until } from "../payloads.ts"
import { requirementsV2, x402World } from "../x402World.ts"

setDefaultTimeout(120_000)

const price = 10_000_000n
const confirmations = 3

const world = await x402World({ TESTNET_CONFIRMATIONS: String(confirmations) })

describe("a released authorization", () => {
  const rpc = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.runPromise(world.chain.rpc(method, [...params]))
  const mine = () => Effect.runPromise(world.chain.mine(1))
  const summary = async (key: string) => (await world.call("GET", "/agent", key)).body.agent
  let counter = 0
  const sign = (key: string) =>
    world.call("POST", "/agent/x402/payments", key, {
      requestId: `request-${counter++}`,
      resource: "https://api.example.com/weather",
      paymentRequired: {
        x402Version: 2,
        error: "Payment required",
        resource: { url: "https://api.example.com/weather" },
        accepts: [requirementsV2(price, { maxTimeoutSeconds: 600 })]
      }
    })
  const payloadOf = (value: string) => {
    const header = decodeHeader(value)
    if (header._tag === "None") throw new Error("not a payment header")
    // biome-ignore lint/suspicious/noExplicitAny: any x402 header
    return (header.value as any).payload
  }
  /** The holder of the signature submits it to the chain. */
  const use = async ({ authorization: a, signature }: ReturnType<typeof payloadOf>) => {
    const wallet = world.chain.walletClient(5)
    return wallet.sendTransaction({
      to: moneyNetwork.usdc.address,
      gas: 200_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
      data: encodeFunctionData({
        abi: authorizationAbi,
        functionName: "transferWithAuthorization",
        args: [
          Address.make(a.from),
          Address.make(a.to),
          BigInt(a.value),
          BigInt(a.validAfter),
          BigInt(a.validBefore),
          a.nonce,
          signature
        ]
      })
    })
  }

  test("that a reorganisation revives after another was signed takes no more than the day's cap from the wallet", async () => {
    const { agent, key } = await world.newAgent({ perPayment: price, perDay: price, usdc: 100n * price })
    await rpc("evm_setAutomine", false)
    const before = await world.balanceOf(agent.address)
    const first = await sign(key)
    expect(first.status).toBe(201)
    expect((await sign(key)).body.error.code).toBe("AGENT_CAP_EXCEEDED")
    expect(
      (await world.call("POST", `/agent/x402/payments/${first.body.agentPayment.id}/release`, key)).status
    ).toBe(202)
    await Bun.sleep(500)
    // The cancellation is in the newest block, with nothing on top.
    await mine()
    await until(async () => {
      const { payments } = await summary(key)
      return payments[0]?.status === "released"
    }, 5_000).catch(() => undefined)
    const second = await sign(key)
    // The newest block is replaced, and in the new one the payee is faster.
    await rpc("anvil_reorg", 1, [])
    await use(payloadOf(first.body.header.value))
    await mine()
    if (second.status === 201) {
      await use(payloadOf(second.body.header.value))
      await mine()
    }
    const left = await world.balanceOf(agent.address)
    expect(before - left).toBeLessThanOrEqual(price)
  })
})
