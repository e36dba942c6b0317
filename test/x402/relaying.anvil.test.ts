// The transactions that the relayer wallet pays for: simulated exactly as they are sent, within the budgets of their
// merchant and payer.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Context, Effect } from "effect"
import { encodeAbiParameters, type Hex, pad, toHex } from "viem"
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { typedDataOf } from "../../src/x402/Authorization.ts"
import { assemble } from "../support/assembler.ts"
import { create2Address, create2Call, create2Factory, erc1271Creation } from "../support/contracts.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import {
  bodyV2,
  broadcasts,
  carries,
  headerOf,
  openPayment,
  type Payload,
  payPath,
  relayElsewhere,
  rowsOf,
  someRelayedWei,
  transfer
} from "./payloads.ts"
import { receiver, startX402World, type X402World, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 10_000n
const { relayWei } = moneyNetwork
const random = () => toHex(crypto.getRandomValues(new Uint8Array(32)))

/** Code whose `isValidSignature` accepts anything, unless `trap` leaves a 1 on the stack: then it burns all its gas. */
const trappedWallet = (trap: string): Hex =>
  assemble(`
    ${trap} =burn JUMPI
    ${pad("0x1626ba7e", { dir: "right" })} 0x00 MSTORE
    0x20 0x00 RETURN
  @burn
    =burn JUMP
  `)

const settleIn = (world: X402World, payload: object, key = world.keys[world.env].secret) =>
  world.call("POST", "/x402/settle", key, bodyV2(payload, amount))
const walletPayload = async (
  world: X402World,
  code: Hex | undefined,
  signature: Hex = `0x${"12".repeat(70)}`
) => {
  const wallet = Address.make(privateKeyToAddress(generatePrivateKey()))
  if (code !== undefined) await Effect.runPromise(world.chain.rpc("anvil_setCode", [wallet, code]))
  await Effect.runPromise(world.chain.mint(wallet, amount))
  const now = BigInt(Math.floor(Date.now() / 1000))
  return {
    signature,
    authorization: {
      from: wallet,
      to: receiver,
      value: amount.toString(),
      validAfter: (now - 600n).toString(),
      validBefore: (now + 60n).toString(),
      nonce: random()
    }
  }
}

const world = await x402World()

describe("a transaction is simulated as it is sent", () => {
  for (const [name, trap] of [
    ["is given more gas than is paid for", "0x1e8480 GAS LT"],
    ["is called without a sender", "ORIGIN"],
    ["is called without a gas price", "GASPRICE"]
  ] as const) {
    test(`a wallet that accepts only while it ${name} is refused, and costs nothing`, async () => {
      const payload = await walletPayload(world, trappedWallet(`${trap} ISZERO ISZERO`))
      const sent = broadcasts(world)
      const { body: verified } = await world.call(
        "POST",
        "/x402/verify",
        world.keys[world.env].secret,
        bodyV2(payload, amount)
      )
      expect(verified.invalidReason).toBe("invalid_exact_evm_transaction_simulation_failed")
      expect(verified.invalidMessage).toMatch(/^The transfer (reverts|needs more than)/)
      expect((await settleIn(world, payload)).body.errorReason).toBe(
        "invalid_exact_evm_transaction_simulation_failed"
      )
      expect(broadcasts(world)).toBe(sent)
    })
  }

  test("an honest wallet of the same make pays", async () => {
    const payload = await walletPayload(world, trappedWallet("0x00"))
    expect((await settleIn(world, payload)).body.success).toBe(true)
  })

  /** Runs `race` between the service's simulation and its broadcast, for each settle. */
  const settleRaced = async (payload: Payload, race: () => Promise<unknown>) => {
    let raced = false
    world.node.behave(async (method, params) => {
      if (!carries(method, params, payload) || raced) return undefined
      raced = true
      await race()
      return undefined
    })
    return (await settleIn(world, payload)).body
  }

  test("after three reverts of a payer's authorizations, none of them is relayed that day", async () => {
    const account = await world.payer(amount)
    for (let time = 0; time < 3; time++) {
      const payload = await world.authorize(account, amount)
      const body = await settleRaced(payload, () => transfer(world, account, amount))
      expect(body.errorReason).toBe("invalid_exact_evm_transaction_failed")
      await Effect.runPromise(world.chain.mint(Address.make(account.address), amount))
    }
    const sent = broadcasts(world)
    const { body } = await settleIn(world, await world.authorize(account, amount))
    expect(body).toMatchObject({ success: false, errorReason: "relay_payer_reverts", transaction: "" })
    expect(body.errorMessage).toContain("Three transactions of this payer have reverted")
    expect(broadcasts(world)).toBe(sent)
    const other = await world.payer()
    expect((await settleIn(world, await world.authorize(other, amount))).body.success).toBe(true)
  }, 180_000)

  test("a payer whose authorizations somebody else relays first has paid, and is not limited", async () => {
    const account = await world.payer()
    for (let time = 0; time < 4; time++) {
      const payload = await world.authorize(account, amount)
      expect((await settleRaced(payload, () => relayElsewhere(world, payload))).success).toBe(true)
    }
    expect((await settleIn(world, await world.authorize(account, amount))).body.success).toBe(true)
  }, 180_000)
})

describe("budgets", () => {
  let world: Awaited<ReturnType<typeof startX402World>>
  afterEach(() => world.close(), 120_000)
  /** Another merchant with the same receiver, which earlier releases allowed. */
  const anotherMerchant = async () => {
    await rowsOf(world, "DELETE FROM merchant_receivers")
    const made = await Effect.runPromise(
      Context.get(world.context, KeyAuth).createMerchant({
        name: "Other Inc.",
        receivers: { test: receiver, live: receiver }
      })
    )
    return made.keys[world.env].secret
  }
  /** Settles until a settlement is refused; returns the reason, and the number before it. */
  const settleOn = async (
    payer: () => ReturnType<X402World["payer"]>,
    key = world.keys[world.env].secret
  ) => {
    for (let settled = 0; settled < 30; settled++) {
      const { body } = await settleIn(world, await world.authorize(await payer(), amount), key)
      if (!body.success) return { settled, reason: body.errorReason, message: body.errorMessage }
    }
    throw new Error("nothing was refused")
  }

  test("a merchant's daily budget is its own: once it is exhausted, others continue", async () => {
    world = await startX402World({ [relayWei.merchant.setting]: String(someRelayedWei) })
    const { settled, reason, message } = await settleOn(() => world.payer())
    expect(settled).toBeGreaterThan(0)
    expect(reason).toBe("relay_merchant_budget_exceeded")
    expect(message).toContain(relayWei.merchant.setting)
    const account = await world.payer()
    const key = await anotherMerchant()
    expect((await settleIn(world, await world.authorize(account, amount), key)).body.success).toBe(true)
  }, 180_000)

  test("a payer's daily budget is its own, across merchants", async () => {
    world = await startX402World({ [relayWei.payer.setting]: String(someRelayedWei) })
    const account = await world.payer()
    const { settled, reason } = await settleOn(async () => account)
    expect(settled).toBeGreaterThan(0)
    expect(reason).toBe("relay_payer_budget_exceeded")
    const key = await anotherMerchant()
    const elsewhere = await settleIn(world, await world.authorize(account, amount), key)
    expect(elsewhere.body.errorReason).toBe("relay_payer_budget_exceeded")
    expect((await settleIn(world, await world.authorize(await world.payer(), amount))).body.success).toBe(
      true
    )
  }, 180_000)

  const verified = async () =>
    (
      await world.call(
        "POST",
        "/x402/verify",
        world.keys[world.env].secret,
        bodyV2(await world.authorize(await world.payer(), amount), amount)
      )
    ).body

  test("a payment that would not be relayed does not verify, so that no resource is served for it", async () => {
    world = await startX402World({ [relayWei.merchant.setting]: "1000" })
    expect(await verified()).toMatchObject({ isValid: false, invalidReason: "relay_price_too_high" })
  })

  test("while the relayer wallet is empty no payment verifies, until it is funded", async () => {
    world = await startX402World()
    const { body } = await world.call("GET", "/x402/supported", world.keys[world.env].secret)
    const relayer = Address.make(body.signers["eip155:*"]?.[0] ?? "")
    await Effect.runPromise(world.chain.setEth(relayer, 0n))
    expect(await verified()).toMatchObject({ isValid: false, invalidReason: "relay_wallet_empty" })
    await Effect.runPromise(world.chain.setEth(relayer, 10n ** 20n))
    await Bun.sleep(2_100)
    expect((await verified()).isValid).toBe(true)
  })

  test("a wallet of an unlisted factory is not deployed on the relayer wallet's gas", async () => {
    world = await startX402World({ X402_FACTORIES: "0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a" })
    const owner = privateKeyToAccount(generatePrivateKey())
    const creation = erc1271Creation(Address.make(owner.address))
    const wallet = Address.make(create2Address(creation))
    await Effect.runPromise(world.chain.mint(wallet, amount))
    const now = BigInt(Math.floor(Date.now() / 1000))
    const authorization = {
      from: wallet,
      to: receiver,
      value: amount,
      validAfter: now - 600n,
      validBefore: now + 60n,
      nonce: random()
    }
    const inner = await owner.signTypedData(typedDataOf(moneyNetwork, authorization))
    const wrapped = encodeAbiParameters(
      [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
      [create2Factory, create2Call(creation), inner]
    )
    const payload = {
      signature: `${wrapped}${"6492".repeat(16)}`,
      authorization: {
        ...authorization,
        value: amount.toString(),
        validAfter: authorization.validAfter.toString(),
        validBefore: authorization.validBefore.toString()
      }
    }
    const sent = broadcasts(world)
    const { body } = await settleIn(world, payload)
    expect(body).toMatchObject({ success: false, errorReason: "eip6492_factory_not_allowed" })
    expect(body.errorMessage).toContain("X402_FACTORIES")
    expect(broadcasts(world)).toBe(sent)
    // Once its owner has deployed it, it pays.
    const hash = await world.chain
      .walletClient(6)
      .sendTransaction({ to: create2Factory, data: create2Call(creation) })
    await world.chain.publicClient.waitForTransactionReceipt({ hash })
    expect((await settleIn(world, payload)).body.success).toBe(true)
  }, 180_000)

  test("the reserve is left for merchants that have used little", async () => {
    world = await startX402World({
      [relayWei.merchant.setting]: "20000000000000000",
      RELAY_RESERVE_WEI: "99999999999999999999"
    })
    const { settled, reason } = await settleOn(() => world.payer())
    expect(settled).toBeGreaterThan(0)
    expect(reason).toBe("relay_reserve_reached")
    const key = await anotherMerchant()
    const account = await world.payer()
    expect((await settleIn(world, await world.authorize(account, amount), key)).body.success).toBe(true)
  }, 180_000)

  test("a payment's own address is limited by client: a stranger's flood blocks nobody else", async () => {
    world = await startX402World({ TRUSTED_PROXY_HOPS: "1" })
    const id = await openPayment(world, "0.01")
    const from = (client: string, headers: Readonly<Record<string, string>> = {}) =>
      world.call("GET", payPath(world, id), undefined, undefined, { "x-forwarded-for": client, ...headers })
    const flood = await Promise.all(Array.from({ length: 60 }, () => from("203.0.113.7")))
    const limited = flood.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThan(5)
    expect(limited[0]?.headers.get("retry-after")).toBeTruthy()
    const account = await world.payer()
    const paid = await from("198.51.100.4", headerOf(await world.authorize(account, amount)))
    expect(paid.status).toBe(200)
  }, 180_000)
})
