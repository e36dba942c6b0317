// An authorization that the service could not send, and its payer's other ways to pay.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { transferCall } from "../payments/moneyWorld.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { bodyV2, broadcasts, headerOf, openPayment, payPath, transfer, until } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const price = 10_000_000n

const world = await x402World()

describe("an authorization that could not be sent", () => {
  const announce = async (account: PrivateKeyAccount, id: string) =>
    world.call("POST", `/payments/${id}/attempts`, world.keys[world.env].publishable, {
      buyerDidToken: await createDidToken(account, {
        audience: world.baseUrl,
        lifetimeSeconds: 900,
        now: Math.floor(Date.now() / 1000),
        id
      }),
      method: "transfer"
    })
  const statusOf = async (id: string) =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status
  const relayer = async () =>
    Address.make(
      (await world.call("GET", "/x402/supported", world.keys[world.env].secret)).body.signers[
        "eip155:*"
      ]?.[0] ?? ""
    )

  test("is not sent any more once its payer may pay by a transfer: the buyer is charged once", async () => {
    const wallet = await relayer()
    await Effect.runPromise(world.chain.setEth(wallet, 0n))
    const account = await world.payer(10n * price)
    const id = await openPayment(world, "10.00")
    const signed = await world.authorize(account, price, {
      validBefore: BigInt(Math.floor(Date.now() / 1000) + 600)
    })
    const send = () => world.call("GET", payPath(world, id), undefined, undefined, headerOf(signed))
    expect((await send()).status).toBe(402)
    const announced = await announce(account, id)
    expect(announced.status).toBe(201)
    await Effect.runPromise(world.chain.setEth(wallet, 10n ** 20n))
    const again = await send()
    expect<unknown>([again.status, again.body.error]).toEqual([402, "payment_already_taken"])
    await transfer(world, account, price)
    await until(async () => (await statusOf(id)) === "settled")
    expect(await world.balanceOf(Address.make(account.address))).toBe(9n * price)
    // Afterwards it moves nothing either.
    expect((await send()).status).toBe(200)
    expect(await world.balanceOf(Address.make(account.address))).toBe(9n * price)
  })

  test("that was reverted does not delay a later transfer of its payer", async () => {
    const account = await world.payer(price)
    const elsewhere = await world.payer(0n)
    const signed = await world.authorize(account, price, {
      validBefore: BigInt(Math.floor(Date.now() / 1000) + 30 * 86_400)
    })
    await Effect.runPromise(world.chain.rpc("evm_setAutomine", [false]))
    const sent = broadcasts(world)
    const asked = world.call("POST", "/x402/settle", world.keys[world.env].secret, bodyV2(signed, price))
    await until(async () => broadcasts(world) > sent)
    await Bun.sleep(300)
    // The payer's money leaves in the same block, earlier.
    await Effect.runPromise(world.chain.setEth(Address.make(account.address), 10n ** 18n))
    const leaving = await account.signTransaction({
      chainId: moneyNetwork.chainId,
      nonce: 0,
      to: moneyNetwork.usdc.address,
      data: transferCall(Address.make(elsewhere.address), price),
      gas: 150_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n
    })
    await Effect.runPromise(world.chain.rpc("eth_sendRawTransaction", [leaving]))
    await Effect.runPromise(world.chain.rpc("evm_mine", []))
    await Effect.runPromise(world.chain.rpc("evm_setAutomine", [true]))
    await Effect.runPromise(world.chain.mine(1))
    expect((await asked).body.success).toBe(false)
    await Effect.runPromise(world.chain.mint(Address.make(account.address), 5n * price))
    const id = await openPayment(world, "10.00")
    expect((await announce(account, id)).status).toBe(201)
    await transfer(world, account, price, receiver)
    await Effect.runPromise(world.chain.mine(1))
    await until(async () => (await statusOf(id)) === "settled", 15_000)
  })
})
