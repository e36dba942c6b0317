// Money of one network proves nothing on the other, however alike it is: the same wallet, receiver, amount, transaction
// hash or signature. What settles is delivered and booked on its own network only, to the atomic unit.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { concat, encodeFunctionData, erc20Abi, getAddress, type Hex, parseTransaction } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type Address, type Env, TransactionHash } from "../../src/domain/Chain.ts"
import { formatUsd } from "../../src/domain/Money.ts"
import { envs, networks } from "../../src/domain/networks.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { bodyV2, payPath, until } from "../x402/payloads.ts"
import { payBySignature, signTerms } from "../x402/relaying/signed.ts"
import { liveMnemonic, mnemonic } from "../x402/x402World.ts"
import { otherOf, wallsWorld } from "./wallsWorld.ts"

setDefaultTimeout(120_000)

const walls = await wallsWorld()
const { buyer, keys, receiver, rows, world } = walls
const shop = { ...world, keys }
const usd = 1_000_000n

const statusOf = async (env: Env, id: string) => (await walls.payment(env, id)).status
const send = async (env: Env, raw: Hex) => {
  const { publicClient } = world.chainOf(env)
  return walls.mined(env, await publicClient.request({ method: "eth_sendRawTransaction", params: [raw] }))
}
/** A transaction without a chain id: every chain takes it, under one hash. */
const anywhere = (nonce: number, to: Address, data: Hex) =>
  payer.signTransaction({ type: "legacy", nonce, to, data, gas: 200_000n, gasPrice: 10n ** 10n })
const payer = privateKeyToAccount(generatePrivateKey())
/** Forwards its call data to the token of its network. */
const forwarder = freshAddress()
const forwarding = (token: Address) => concat(["0x365f5f375f5f365f5f73", token, "0x5af100"])

const signatures: ReadonlyArray<readonly [signedFor: Env, name: "USDC" | "USD Coin", shownTo: Env]> =
  envs.flatMap((signedFor) =>
    (["USDC", "USD Coin"] as const).flatMap((name) =>
      envs.map((shownTo) => [signedFor, name, shownTo] as const)
    )
  )

for (const env of envs) {
  const other = otherOf(env)
  const [here, there] = [networks[env].name, networks[other].name]

  describe(`a payment on ${here}`, () => {
    test(`waits for a transaction that only ${there} has, and is settled by its own`, async () => {
      const { payment } = await walls.open(env, "5.00")
      const elsewhere = await walls.transfer(other, buyer, receiver, 5n * usd)
      for (const declared of [env, other]) {
        const body = await walls.evidence(declared, payment.id, elsewhere, 5n * usd)
        const answer = await world.call("PATCH", `/payments/${payment.id}`, keys[env].publishable, body)
        expect([202, 422]).toContain(answer.status)
      }
      await Bun.sleep(6_000)
      expect(await statusOf(env, payment.id)).toBe("pending")
      const own = await walls.transfer(env, buyer, receiver, 5n * usd)
      await until(async () => (await walls.report(env, payment.id, own, 5n * usd)).status === 200)
    })

    test(`is not reported with a buyer token for a payment on ${there}`, async () => {
      const [{ payment }, theirs] = [await walls.open(env, "5.00"), await walls.open(other, "5.00")]
      const hash = await walls.transfer(env, buyer, receiver, 5n * usd)
      const body = {
        ...(await walls.evidence(env, payment.id, hash, 5n * usd)),
        buyerDidToken: await walls.tokenFor(theirs.payment.id)
      }
      const path = `/payments/${payment.id}`
      const answer = await world.call("PATCH", path, keys[env].publishable, body)
      expect([answer.status, answer.body.error.code]).toEqual([401, "INVALID_BUYER_TOKEN"])
      const announced = { buyerDidToken: body.buyerDidToken, method: "transfer" }
      const refused = await world.call("POST", `${path}/attempts`, keys[env].publishable, announced)
      expect([refused.status, refused.body.error.code]).toEqual([401, "INVALID_BUYER_TOKEN"])
      await until(async () => (await walls.report(env, payment.id, hash, 5n * usd)).status === 200)
    })

    test(`is not refunded by a transfer on ${there}`, async () => {
      const { id } = await walls.paid(env, 2n * usd)
      const elsewhere = await walls.transfer(other, receiver, buyer.address, 2n * usd)
      const secret = keys[env].secret
      const asked = { paymentId: id, transactionId: elsewhere }
      const made = await world.call("POST", "/refunds", secret, asked)
      expect([made.status, made.body.refund.status]).toEqual([201, "pending"])
      const path = `/refunds/${made.body.refund.id}`
      await Bun.sleep(6_000)
      expect((await world.call("GET", path, secret)).body.refund.status).toBe("pending")
      const own = await walls.transfer(env, receiver, buyer.address, 2n * usd)
      await until(async () => {
        const named = await world.call("POST", `${path}/transaction`, secret, { transactionId: own })
        return named.body.refund?.status === "proven"
      })
    })

    test(`by a signature: its wallet, budget and nonce are ${here}'s`, async () => {
      const { payment } = await walls.open(env, "1.00")
      const signed = await signTerms(shop, payment.id, buyer, buyer.address, env)
      await until(async () => (await payBySignature(shop, payment.id, signed, env)).status === 200)
    })

    test(`an agent's spending does not count against the caps of ${there}'s agents`, async () => {
      const [own, theirs] = [await walls.agentOf(env), await walls.agentOf(other)]
      const { payment } = await walls.open(env, "2.00")
      const url = `${world.baseUrl}/api/v1${payPath(shop, payment.id, env)}`
      const asked = await fetch(url)
      const header = asked.headers.get("payment-required") ?? ""
      const paymentRequired = JSON.parse(Buffer.from(header, "base64").toString())
      const sign = (key: string) =>
        world.call("POST", "/agent/x402/payments", key, {
          requestId: crypto.randomUUID(),
          resource: url,
          paymentRequired
        })
      expect((await sign(theirs.key)).body.error.code).toBe("X402_REQUIREMENTS_UNSUPPORTED")
      const signed = await sign(own.key)
      const { name, value } = signed.body.header
      await until(async () => (await fetch(url, { headers: { [name]: value } })).status === 200)
      const remaining = async (of: typeof own) =>
        (await world.call("GET", "/agent", of.key)).body.agent.remaining
      expect([await remaining(own), await remaining(theirs)]).toEqual(["8.00", "10.00"])
    })
  })
}

describe("one hash on both networks", () => {
  /** Reports the hash for a payment on each network, and again for another payment there. */
  const reports = async (hash: TransactionHash, atomic: bigint, answers: Record<string, number>) => {
    for (const env of envs) {
      const amount = formatUsd(atomic)
      const [{ payment }, second] = [await walls.open(env, amount), await walls.open(env, amount)]
      const says = async (id: string) => (await walls.report(env, id, hash, atomic, payer)).status
      await until(async () => (await says(payment.id)) === answers[env])
      expect(await says(second.payment.id)).toBe(422)
      expect(await statusOf(env, payment.id)).toBe(answers[env] === 200 ? "settled" : "pending")
    }
  }

  test("a transaction that moves USDC on one network pays only there", async () => {
    let nonce = 0
    for (const env of envs) await walls.fund(env, payer, 100n * usd)
    for (const env of envs) {
      const other = otherOf(env)
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [receiver, 3n * usd] })
      const raw = await anywhere(nonce++, networks[env].usdc.address, data)
      const [hash, same] = [await send(env, raw), await send(other, raw)]
      expect(same).toBe(hash)
      await reports(hash, 3n * usd, { [env]: 200, [other]: 422 })
    }
  })

  test("a transaction that moves USDC on both networks pays one payment on each, with one event", async () => {
    let hash = TransactionHash.make(`0x${"0".repeat(64)}`)
    for (const env of envs) {
      const { address } = networks[env].usdc
      const args = [forwarder, 10n * usd] as const
      const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args })
      await send(
        env,
        await payer.signTransaction({
          type: "eip1559",
          chainId: networks[env].chainId,
          nonce: 2,
          to: address,
          data: approve,
          gas: 200_000n,
          maxFeePerGas: 10n ** 10n
        })
      )
      await Effect.runPromise(world.chainOf(env).rpc("anvil_setCode", [forwarder, forwarding(address)]))
    }
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transferFrom",
      args: [payer.address, receiver, 4n * usd]
    })
    const raw = await anywhere(3, forwarder, data)
    for (const env of envs) hash = await send(env, raw)
    await reports(hash, 4n * usd, { test: 200, live: 200 })
    const delivered = await rows(
      `SELECT d.env, c.chain_id FROM webhook_deliveries d JOIN claimed_transfers c ON c.payment_id = d.payment_id
        WHERE c.transaction_id = '\\x${hash.slice(2)}' ORDER BY d.env`
    )
    expect(delivered).toEqual([
      { env: "live", chain_id: 42161 },
      { env: "test", chain_id: 84532 }
    ])
  })
})

describe("a signature", () => {
  for (const [signedFor, name, shownTo] of signatures) {
    const isValid = signedFor === shownTo && name === networks[signedFor].usdc.domainName
    test(`for ${networks[signedFor].name} by the name ${name} is ${isValid ? "valid" : "refused"} on ${networks[shownTo].name}`, async () => {
      const options = { env: signedFor, to: receiver, domain: { name } }
      const payload = await world.authorize(buyer, usd, options)
      const body = bodyV2(payload, usd, { payTo: receiver }, {}, shownTo)
      const answer = await world.call("POST", "/x402/verify", keys[shownTo].secret, body)
      expect(answer.body).toMatchObject({ isValid })
    })
  }
})

test("each endpoint and each feed has the events of its own network only", async () => {
  for (const env of envs) {
    const { events } = (await world.call("GET", "/events?limit=100", keys[env].secret)).body
    const ids = events.map(({ event }) => event.id).toSorted()
    const got = () => [...new Set(walls.delivered[env].map(({ id }) => id))].toSorted()
    await until(async () => got().length === ids.length)
    expect(got()).toEqual(ids)
    for (const one of walls.delivered[env]) {
      expect(one.livemode).toBe(env === "live")
      if (one.type !== "payment.settled") continue
      expect(one.tokenChanges.map(({ chainId }) => chainId)).toEqual([networks[env].chainId])
    }
  }
})

test("no wallet has signed for two networks, and no wallet is derived for both", async () => {
  const sent = await rows(
    `SELECT '0x' || encode(wallet, 'hex') AS wallet, '0x' || encode(unnest(versions), 'hex') AS raw
      FROM wallet_transactions`
  )
  const chains = new Map<string, Set<number | undefined>>()
  for (const { raw, wallet } of sent) {
    const found = chains.get(String(wallet)) ?? new Set()
    chains.set(String(wallet), found.add(parseTransaction(String(raw) as Hex).chainId))
  }
  const ids = [...chains.values()].map((one) => [...one])
  expect(ids.every(({ length }) => length === 1)).toBe(true)
  expect(new Set(ids.flat())).toEqual(new Set([84532, 42161]))
  const agents = await rows("SELECT env, '0x' || encode(address, 'hex') AS address FROM agents")
  const addresses = agents.map(({ address }) => String(address))
  expect(new Set(addresses).size).toBe(addresses.length)
  expect(addresses.filter((address) => chains.has(address))).toEqual([])
  expect<string>(mnemonic).not.toBe(liveMnemonic)
})

test("each network's books are separate, and agree with its chain to the atomic unit", async () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const period = { from: day(-1), to: day(1) }
  for (const env of envs) {
    const get = (path: string) =>
      world.call("GET", `${path}?${new URLSearchParams(period)}`, keys[env].secret)
    const held = await world.balanceOf(receiver, env)
    await until(async () => (await get("/statement")).body.balances?.closing === formatUsd(held), 60_000)
    expect((await get("/statement")).body.balances).toMatchObject({ opening: "0.00", difference: "0.00" })
    for (const kind of ["payments", "refunds", "transfers"]) {
      const query = new URLSearchParams({ ...period, format: "json" })
      const exported = await world.call("GET", `/exports/${kind}?${query}`, keys[env].secret)
      const hashes = JSON.stringify(exported.body).match(/0x[0-9a-f]{64}/g) ?? []
      expect(hashes.length).toBeGreaterThan(0)
      for (const hash of new Set(hashes)) {
        const { logs } = await world
          .chainOf(env)
          .publicClient.getTransactionReceipt({ hash: TransactionHash.make(hash) })
        expect(logs.map(({ address }) => getAddress(address))).toContain(networks[env].usdc.address)
      }
    }
  }
})
