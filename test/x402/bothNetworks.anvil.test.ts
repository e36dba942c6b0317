// Both networks are open: each settles its own signatures by its own wallet, and nothing crosses over.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { getAddress, toHex } from "viem"
import { mnemonicToAccount } from "viem/accounts"
import { domainOf } from "../../src/chain/domainSeparator.ts"
import { Address, type Env, TransactionHash } from "../../src/domain/Chain.ts"
import { envs, networks } from "../../src/domain/networks.ts"
import { bodyV2, openPayment, payPath, rowsOf, until } from "./payloads.ts"
import { payBySignature, signTerms, termsOf } from "./relaying/signed.ts"
import { bothNetworksWorld, liveMnemonic, mnemonic, receiver, requirementsV2 } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 1_500_000n
const world = await bothNetworksWorld()

const relayerOf = (words: string) => mnemonicToAccount(words, { accountIndex: 1 }).address
const relayers: { readonly [E in Env]: Address } = {
  test: Address.make(relayerOf(mnemonic)),
  live: Address.make(relayerOf(liveMnemonic))
}
const otherOf = (env: Env): Env => (env === "test" ? "live" : "test")
const nonceOf = (env: Env) =>
  world.chainOf(env).publicClient.getTransactionCount({ address: relayers[env], blockTag: "pending" })
const noncesOf = async () => ({ test: await nonceOf("test"), live: await nonceOf("live") })
const payloadFor = async (env: Env, nonce?: `0x${string}`) => {
  const account = await world.payer(undefined, env)
  return world.authorize(account, amount, { env, ...(nonce === undefined ? {} : { nonce }) })
}
const settle = (key: Env, body: object) => world.call("POST", "/x402/settle", world.keys[key].secret, body)
const senderOf = async (env: Env, hash: string) => {
  const { from } = await world.chainOf(env).publicClient.getTransaction({ hash: TransactionHash.make(hash) })
  return Address.make(getAddress(from))
}
const settlementsOf = (payload: { readonly authorization: Readonly<Record<string, string>> }) =>
  rowsOf(
    world,
    `SELECT env, chain_id, status FROM x402_settlements WHERE nonce = '\\x${(payload.authorization["nonce"] ?? "").slice(2)}' ORDER BY chain_id`
  )

describe("the kinds that a key's environment supports", () => {
  test("are version 2 only for live, because Arbitrum has no name in version 1, with each network's own relayer", async () => {
    const live = await world.call("GET", "/x402/supported", world.keys.live.secret)
    expect(live.body.kinds).toEqual([{ x402Version: 2, scheme: "exact", network: "eip155:42161" }])
    expect<unknown>(live.body.signers).toEqual({ "eip155:*": [relayers.live] })
    const own = await world.call("GET", "/x402/supported", world.keys.test.secret)
    expect(own.body.kinds).toHaveLength(2)
    expect<unknown>(own.body.signers).toEqual({ "eip155:*": [relayers.test] })
  })

  test("leave a live payment's 402 empty in version 1, and offer the live token in version 2", async () => {
    const id = await openPayment(world, "1.50", "live")
    const answer = await world.call("GET", payPath(world, id, "live"), undefined)
    expect(answer.status).toBe(402)
    expect(answer.body["accepts"]).toEqual([])
    const header = JSON.parse(Buffer.from(answer.headers.get("payment-required") ?? "", "base64").toString())
    expect(header.accepts).toMatchObject([
      {
        network: "eip155:42161",
        asset: networks.live.usdc.address,
        extra: { name: "USD Coin", version: "2" }
      }
    ])
  })
})

for (const env of envs) {
  describe(`${env}: signed for ${networks[env].name}`, () => {
    test("settles a payment of its environment, sent by its own relayer; the other relayer sends nothing", async () => {
      const before = await noncesOf()
      const had = await world.balanceOf(receiver, env)
      const payload = await payloadFor(env)
      const body = bodyV2(payload, amount, {}, {}, env)
      await until(async () => (await settle(env, body)).body.errorReason !== "settlement_pending")
      const [row] = await settlementsOf(payload)
      expect(row).toEqual({ env, chain_id: networks[env].chainId, status: "settled" })
      const { body: list } = await world.call("GET", "/payments?limit=1", world.keys[env].secret)
      const paid = list.payments[0]
      expect(paid).toMatchObject({ status: "settled", amount: "1.50" })
      expect(await senderOf(env, paid?.reportedTransactionId ?? "")).toBe(relayers[env])
      expect(await world.balanceOf(receiver, env)).toBe(had + amount)
      const other = otherOf(env)
      expect(await noncesOf()).toEqual({ ...before, [env]: before[env] + 1, [other]: before[other] })
    })

    test("is refused with the other environment's key, whatever the requirements say", async () => {
      const before = await noncesOf()
      const payload = await payloadFor(env)
      const other = otherOf(env)
      for (const [named, reason] of [
        [env, "invalid_exact_evm_network_mismatch"],
        [other, "invalid_exact_evm_signature"]
      ] as const)
        expect((await settle(other, bodyV2(payload, amount, {}, {}, named))).body).toMatchObject({
          success: false,
          errorReason: reason
        })
      const id = await openPayment(world, "1.50", other)
      const header = {
        "payment-signature": Buffer.from(
          JSON.stringify({ x402Version: 2, accepted: requirementsV2(amount, {}, other), payload })
        ).toString("base64")
      }
      expect((await world.call("GET", payPath(world, id, other), undefined, undefined, header)).status).toBe(
        402
      )
      expect(await settlementsOf(payload)).toEqual([])
      expect(await noncesOf()).toEqual(before)
    })

    test("by a buyer: it pays its own payment, and none of the other environment", async () => {
      const other = otherOf(env)
      const buyer = await world.payer(undefined, env)
      const id = await openPayment(world, "1.50", env)
      const terms = await termsOf(world, id, buyer.address, env)
      expect(terms.body.relayed).toBe(true)
      expect<unknown>(terms.body.typedData.domain).toEqual(domainOf(networks[env]))
      const signed = await signTerms(world, id, buyer, buyer.address, env)
      const theirs = await openPayment(world, "1.50", other)
      expect((await payBySignature(world, theirs, signed, other)).body.error.code).toBe(
        "AUTHORIZATION_REFUSED"
      )
      expect((await payBySignature(world, id, signed, other)).status).toBe(404)
      await until(async () => (await payBySignature(world, id, signed, env)).status === 200)
      expect(await world.balanceOf(buyer.address, env)).toBe(1_000_000_000n - amount)
    })

    test("by an agent: it pays here, and signs nothing for the other network", async () => {
      const { agent, key } = await world.newAgent({ env })
      const words = { test: mnemonic, live: liveMnemonic }[env]
      expect<string>(mnemonicToAccount(words, { addressIndex: agent.walletIndex }).address).toBe(
        agent.address
      )
      const sign = (named: Env, resource: string) =>
        world.call("POST", "/agent/x402/payments", key, {
          requestId: crypto.randomUUID(),
          resource,
          paymentRequired: { x402Version: 2, accepts: [requirementsV2(amount, {}, named)] }
        })
      const other = otherOf(env)
      const theirs = await openPayment(world, "1.50", other)
      const refused = await sign(other, `${world.baseUrl}/api/v1${payPath(world, theirs, other)}`)
      expect([refused.status, refused.body.error.code]).toEqual([422, "X402_REQUIREMENTS_UNSUPPORTED"])

      // A signature for its own network pays no payment of the other either.
      const own = await sign(env, "https://api.example.com/weather")
      expect(own.status).toBe(201)
      const { name, value } = own.body.header
      const carried = { [name.toLowerCase()]: value }
      const across = await world.call("GET", payPath(world, theirs, other), undefined, undefined, carried)
      expect(across.status).toBe(402)
      const { payload } = JSON.parse(Buffer.from(value, "base64").toString())
      const body = bodyV2(payload, amount, {}, {}, env)
      await until(async () => (await settle(env, body)).body.errorReason !== "settlement_pending")
      expect(await settlementsOf(payload)).toEqual([
        { env, chain_id: networks[env].chainId, status: "settled" }
      ])
    })
  })
}

describe("the same nonce of one wallet on both networks", () => {
  test("makes two settlements; while live nodes accept nothing, the test one settles and the live one waits", async () => {
    const nonce = toHex(crypto.getRandomValues(new Uint8Array(32)))
    const account = await world.payer(undefined, "test")
    const payloads = {
      test: await world.authorize(account, amount, { nonce, env: "test" }),
      live: await world.authorize(account, amount, { nonce, env: "live" })
    }
    await Effect.runPromise(world.chainOf("live").mint(Address.make(account.address), amount))
    for (const node of world.liveNodes)
      node.behave((method) =>
        method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
      )
    const before = await noncesOf()
    const waiting = settle("live", bodyV2(payloads.live, amount, {}, {}, "live"))
    expect((await settle("test", bodyV2(payloads.test, amount))).body.success).toBe(true)
    expect((await waiting).body).toMatchObject({ success: false, errorReason: "settlement_pending" })
    expect(await settlementsOf(payloads.test)).toMatchObject([
      { env: "live", status: "pending" },
      { env: "test", status: "settled" }
    ])
    for (const node of world.liveNodes) node.behave(() => undefined)
    await until(async () => (await settlementsOf(payloads.live))[0]?.["status"] === "settled", 60_000)
    expect(await noncesOf()).toEqual({ test: before.test + 1, live: before.live + 1 })
    expect(await world.balanceOf(account.address, "live")).toBe(0n)
  })
})

test("every transaction in the outbox belongs to its settlement's own wallet", async () => {
  const rows = await rowsOf(
    world,
    `SELECT DISTINCT s.env, '0x' || encode(w.wallet, 'hex') AS wallet FROM wallet_transactions w
      JOIN x402_settlements s ON s.id = w.reference ORDER BY s.env`
  )
  expect(rows).toEqual([
    { env: "live", wallet: relayers.live.toLowerCase() },
    { env: "test", wallet: relayers.test.toLowerCase() }
  ])
})
