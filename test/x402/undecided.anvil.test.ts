// An authorization that may still move, or has moved without the service: nobody is charged twice, and it is found.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { createWalletClient, erc20Abi, http } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address, TransactionHash } from "../../src/domain/Chain.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { authorizationAbi } from "../../src/x402/Authorization.ts"
import { signUp } from "../dashboard/person.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { bodyV2, headerOf, openPayment, payPath, report, rowsOf, transfer, until } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 10_000_000n

const world = await x402World()

describe("undecided", () => {
  const pay = (id: string, headers: Readonly<Record<string, string>> = {}) =>
    world.call("GET", payPath(world, id), undefined, undefined, headers)
  const rpc = (method: string, params: ReadonlyArray<unknown>) =>
    Effect.runPromise(world.chain.rpc(method, [...params]))
  const mine = (blocks: number) => Effect.runPromise(world.chain.mine(blocks))
  const tokenOf = (account: PrivateKeyAccount, id: string) =>
    createDidToken(account, {
      audience: world.baseUrl,
      lifetimeSeconds: 900,
      now: Math.floor(Date.now() / 1000),
      id
    })
  const announce = async (account: PrivateKeyAccount, id: string, key = world.keys[world.env].publishable) =>
    world.call("POST", `/payments/${id}/attempts`, key, {
      buyerDidToken: await tokenOf(account, id),
      method: "transfer"
    })
  const spentBy = async (account: PrivateKeyAccount) =>
    1_000_000_000n - (await world.balanceOf(account.address))

  test("an authorization without a transaction is undecided: if somebody else uses it, it pays", async () => {
    const id = await openPayment(world, "10")
    const [payer, other] = [await world.payer(amount), await world.payer()]
    // The wallet's state cannot be read: the settlement is registered and waits, and the wallet empties itself.
    let reads = 0
    world.node.behave((method) => {
      if (method !== "eth_gasPrice") return undefined
      reads += 1
      return reads <= world.nodeCount ? undefined : { raw: new Response("", { status: 503 }) }
    })
    const signed = await world.authorize(payer, amount, {
      validBefore: BigInt(Math.floor(Date.now() / 1000)) + 800n
    })
    const waiting = pay(id, headerOf(signed))
    const query = `SELECT status, told_reason FROM x402_settlements WHERE payment_id = '${id}'`
    await until(async () => (await rowsOf(world, query)).length === 1)
    await transfer(world, payer, amount, other.address)
    world.node.behave(() => undefined)
    const told = await waiting
    expect<unknown>([told.status, told.body.error]).toEqual([402, "invalid_exact_evm_insufficient_balance"])
    expect(await rowsOf(world, query)).toMatchObject([
      { status: "pending", told_reason: "invalid_exact_evm_insufficient_balance" }
    ])
    // Refilled: the service does not send on its own what it has reported as failed.
    await transfer(world, other, amount, payer.address)
    await Bun.sleep(3_000)
    expect(await world.balanceOf(payer.address)).toBe(amount)
    const { authorization, signature } = signed
    const wallet = createWalletClient({
      account: other,
      chain: world.chain.chain,
      transport: http(world.chain.rpcUrl)
    })
    const hash = await wallet.writeContract({
      address: world.chain.usdc,
      abi: authorizationAbi,
      functionName: "transferWithAuthorization",
      args: [
        payer.address,
        receiver,
        amount,
        BigInt(authorization["validAfter"] ?? 0),
        BigInt(authorization["validBefore"] ?? 0),
        (authorization["nonce"] ?? "0x") as `0x${string}`,
        signature
      ]
    })
    await mine(2)
    await until(async () => (await pay(id)).body.payment?.status === "settled", 30_000)
    expect((await pay(id)).body.payment.reportedTransactionId).toBe(hash)
  })

  test("a transfer that a wallet has reported without announcing stops its other browser from paying", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    await Effect.runPromise(world.chain.setEth(Address.make(buyer.address), 10n ** 18n))
    await rpc("evm_setAutomine", [false])
    const wallet = createWalletClient({
      account: buyer,
      chain: world.chain.chain,
      transport: http(world.chain.rpcUrl)
    })
    const hash = await wallet.writeContract({
      address: world.chain.usdc,
      abi: erc20Abi,
      functionName: "transfer",
      args: [receiver, amount],
      gas: 150_000n
    })
    expect((await report(world, id, buyer, amount, hash)).status).toBe(202)
    const refused = await announce(buyer, id)
    expect([refused.status, refused.body.error.code]).toEqual([409, "PAYMENT_ATTEMPT_OPEN"])
    expect(refused.body.attempts).toMatchObject([{ method: "transfer", transactionId: hash }])
    await rpc("evm_setAutomine", [true])
    await mine(3)
    await until(async () => (await pay(id)).body.payment?.status === "settled", 20_000)
    expect(await spentBy(buyer)).toBe(amount)
  })

  for (const way of ["announces", "sends a header"] as const) {
    test(`the receiver moves to another merchant: a wallet that has paid there and ${way} is not charged again`, async () => {
      const owner = privateKeyToAccount(generatePrivateKey())
      const former = await signUp(world.baseUrl, Address.make(owner.address))
      const next = await signUp(
        world.baseUrl,
        Address.make(privateKeyToAccount(generatePrivateKey()).address)
      )
      const create = () =>
        world.call("POST", "/payment-intents", former.keys[world.env].secret, {
          amount: "10",
          intentUrl: "https://shop.example.com/order/1"
        })
      const opened = await world.call("POST", "/payments", former.keys[world.env].publishable, {
        intentToken: (await create()).body.intentToken
      })
      const id = opened.body.payment.id
      const path = `/merchants/${next.merchantId}/${world.env}/receiver`
      const asked = await next.call("PATCH", path, { receiver: former.receiver })
      const signature = await owner.signMessage({ message: asked.body.error.details?.[0]?.expected ?? "" })
      expect((await next.call("PATCH", path, { receiver: former.receiver, signature })).status).toBe(200)
      // The former owner requests no payments to it any more.
      const refused = await create()
      expect([refused.status, refused.body.error.code]).toEqual([409, "RECEIVER_TAKEN"])

      const buyer = await world.payer()
      const hash = await transfer(world, buyer, amount, former.receiver)
      await mine(2)
      const seen = `SELECT 1 FROM incoming_transfers WHERE transaction_id = decode('${hash.slice(2)}', 'hex')`
      await until(async () => (await rowsOf(world, seen)).length === 1)
      if (way === "announces") {
        const answer = await announce(buyer, id, former.keys[world.env].publishable)
        expect([answer.status, answer.body.error.code]).toEqual([409, "PAYMENT_SETTLED"])
      } else {
        const header = headerOf(await world.authorize(buyer, amount, { to: Address.make(former.receiver) }))
        const answer = await world.call(
          "GET",
          `/payments/${id}/x402?pk=${former.keys[world.env].publishable}`,
          undefined,
          undefined,
          header
        )
        expect<unknown>([answer.status, answer.body.error]).toEqual([402, "payment_already_taken"])
      }
      expect(await spentBy(buyer)).toBe(amount)
    })
  }

  test("text in a payment header that cannot be stored is a 400, and nothing moves", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    const { paymentPayload } = bodyV2(await world.authorize(buyer, amount), amount)
    for (const url of ["https://api.example.com/\u0000", "https://api.example.com/\ud800"]) {
      const header = { ...paymentPayload, resource: { ...paymentPayload.resource, url } }
      const answer = await pay(id, {
        "payment-signature": Buffer.from(JSON.stringify(header)).toString("base64")
      })
      expect([answer.status, answer.body.error.code]).toEqual([400, "INVALID_REQUEST"])
    }
    expect(await spentBy(buyer)).toBe(0n)
  })

  const why = moneyNetwork.faucet ? "" : ` (${moneyNetwork.name} has no faucet)`
  test.if(moneyNetwork.faucet)(
    `a token for another shop's payment gets nothing from the faucet${why}`,
    async () => {
      const id = await openPayment(world, "10")
      const other = await signUp(
        world.baseUrl,
        Address.make(privateKeyToAccount(generatePrivateKey()).address)
      )
      const answer = await world.call("POST", "/checkout/test-funds", other.keys[world.env].publishable, {
        buyerDidToken: await tokenOf(privateKeyToAccount(generatePrivateKey()), id)
      })
      expect([answer.status, answer.body.error]).toEqual([
        401,
        expect.objectContaining({ code: "INVALID_BUYER_TOKEN", reason: "payment" })
      ])
    }
  )

  test("a relayed transaction that a reorganisation removes is broadcast again, and blocks nothing", async () => {
    await mine(6)
    const id = await openPayment(world, "10")
    const first = await world.payer()
    const paid = await pay(id, headerOf(await world.authorize(first, amount)))
    expect(paid.status).toBe(200)
    const hash = TransactionHash.make(paid.body.payment.reportedTransactionId ?? "")
    const receipt = await world.chain.publicClient.getTransactionReceipt({ hash })
    const head = await world.chain.publicClient.getBlockNumber({ cacheTime: 0 })
    const before = await world.balanceOf(receiver)
    await Effect.runPromise(world.chain.reorganise(Number(head - receipt.blockNumber) + 1))
    const { body } = await world.call("GET", "/x402/supported", world.keys[world.env].secret)
    await Effect.runPromise(world.chain.setEth(Address.make(body.signers["eip155:*"]?.[0] ?? ""), 10n ** 20n))
    await mine(1)
    expect(await world.balanceOf(receiver)).toBe(before - amount)
    await until(async () => {
      await mine(1)
      return (await world.balanceOf(receiver)) === before
    }, 40_000)
    const next = await world.payer()
    const other = await openPayment(world, "10")
    expect((await pay(other, headerOf(await world.authorize(next, amount)))).status).toBe(200)
  })
})
