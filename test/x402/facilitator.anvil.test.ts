// The facilitator against anvil and the real USDC: every reason of the reference, each kind of signature, and
// settlements with bad networks and several callers.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeAbiParameters, type Hex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { typedDataOf } from "../../src/x402/Authorization.ts"
import { signUp } from "../dashboard/person.ts"
import { create2Address, create2Call, create2Factory, erc1271Creation } from "../support/contracts.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { versions } from "./payloads.ts"
import { otherEnv, receiver, requirementsV1, requirementsV2, type X402World, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 1_500_000n
const now = () => BigInt(Math.floor(Date.now() / 1000))
type Payload = Awaited<ReturnType<X402World["authorize"]>>

const bodyV1 = (payload: Payload, requirements = requirementsV1(amount), outer: object = {}) => ({
  x402Version: 1,
  paymentPayload: { x402Version: 1, scheme: "exact", network: moneyNetwork.x402[1], payload, ...outer },
  paymentRequirements: requirements
})
const bodyV2 = (
  payload: Payload,
  requirements = requirementsV2(amount),
  accepted: object = requirements
) => ({
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    resource: {
      url: "https://api.example.com/weather",
      description: "Weather",
      mimeType: "application/json"
    },
    accepted,
    payload
  },
  paymentRequirements: requirements
})

const world = await x402World()

describe("x402 facilitator", () => {
  const settle = (body: unknown, key = world.keys[world.env].secret) =>
    world.call("POST", "/x402/settle", key, body)
  const verify = (body: unknown, key = world.keys[world.env].secret) =>
    world.call("POST", "/x402/verify", key, body)
  const payments = async () =>
    (await world.call("GET", "/payments?limit=100", world.keys[world.env].secret)).body
      .payments as ReadonlyArray<{
      readonly status: string
      readonly payerType: string
      readonly reportedTransactionId?: string
    }>
  const broadcasts = () => world.node.calls.filter((method) => method === "eth_sendRawTransaction").length

  test("lists what it supports: `exact` on its network, in the versions that name it, and the relayer", async () => {
    const { body } = await world.call("GET", "/x402/supported", world.keys[world.env].secret)
    expect(body.kinds).toEqual(
      versions.map((x402Version) => ({
        x402Version,
        scheme: "exact",
        network: moneyNetwork.x402[x402Version] ?? ""
      }))
    )
    expect(body.signers["eip155:*"]).toHaveLength(1)
    if (moneyNetwork.execution === "open") {
      const live = await world.call("GET", "/x402/supported", world.keys[otherEnv].secret)
      expect(live.body.kinds).toEqual([])
      expect(live.body.signers).toEqual(body.signers)
    }
  })

  for (const version of versions) {
    const bodyOf = version === 1 ? bodyV1 : bodyV2
    test(`version ${version}: settles, notifies the merchant once, and returns success once`, async () => {
      const account = await world.payer()
      const before = await world.balanceOf(receiver)
      const body = bodyOf(await world.authorize(account, amount))
      expect<unknown>((await verify(body)).body).toEqual({ isValid: true, payer: account.address })
      const first = await settle(body)
      expect(first.body).toMatchObject({
        success: true,
        payer: account.address,
        network: moneyNetwork.x402[version]
      })
      expect(await world.balanceOf(receiver)).toBe(before + amount)
      expect((await settle(body)).body).toMatchObject({
        success: false,
        errorReason: "invalid_exact_evm_nonce_already_used",
        transaction: ""
      })
      expect((await verify(body)).body.invalidReason).toBe("invalid_exact_evm_nonce_already_used")
      const { body: list } = await world.call("GET", "/payments?limit=1", world.keys[world.env].secret)
      expect(list.payments[0]).toMatchObject({
        status: "settled",
        payerType: "agent",
        amount: "1.50",
        payerAddress: account.address,
        // In version 1 the merchant's requirements contain the resource; in version 2 the payer's payload does.
        intentUrl: version === 1 ? "https://api.example.com/weather" : world.baseUrl,
        reportedTransactionId: first.body.transaction
      })
      for (let wait = 0; wait < 600 && !isDelivered(first.body.transaction); wait++) await Bun.sleep(50)
      expect(world.delivered.filter((one) => one.transactionId === first.body.transaction)).toHaveLength(1)
    })
  }
  const isDelivered = (transactionId: string) =>
    world.delivered.some((one) => one.transactionId === transactionId)

  // The reference facilitator's reasons, under its own names; judgeExact.test.ts has those that need no chain.
  const refusals: ReadonlyArray<{
    readonly reason: string
    readonly name: string
    readonly body: (account: PrivateKeyAccount) => Promise<unknown>
    readonly usdc?: bigint
  }> = [
    {
      reason: "invalid_exact_evm_scheme",
      name: "another scheme",
      body: async (account) =>
        bodyV2(await world.authorize(account, amount), requirementsV2(amount, { scheme: "upto" }))
    },
    {
      reason: "invalid_exact_evm_signature",
      name: "another signer",
      body: async (account) => {
        const other = await world.authorize(await world.payer(0n), amount)
        const own = await world.authorize(account, amount)
        return bodyV2({ ...own, signature: other.signature })
      }
    },
    {
      reason: "invalid_exact_evm_signature",
      name: "a value changed after signing",
      body: async (account) => {
        const signed = await world.authorize(account, amount)
        const authorization = { ...signed.authorization, value: "1" }
        return bodyV2({ ...signed, authorization }, requirementsV2(1n))
      }
    },
    {
      reason: "invalid_exact_evm_signature",
      name: "a signature of no bytes",
      body: async (account) => bodyV2({ ...(await world.authorize(account, amount)), signature: "0x" })
    },
    {
      reason: "asset_not_deployed_contract",
      name: "an asset without code",
      body: async (account) =>
        bodyV2(await world.authorize(account, amount), requirementsV2(amount, { asset: account.address }))
    },
    {
      reason: "invalid_exact_evm_eip3009_not_supported",
      name: "a contract that is not USDC",
      body: async (account) =>
        bodyV2(
          await world.authorize(account, amount),
          requirementsV2(amount, { asset: "0xcA11bde05977b3631167028862bE2a173976CA11" })
        )
    },
    {
      reason: "invalid_exact_evm_insufficient_balance",
      name: "a poor payer",
      usdc: amount - 1n,
      body: async (account) => bodyV2(await world.authorize(account, amount))
    },
    {
      reason: "invalid_exact_evm_nonce_already_used",
      name: "a nonce that was used elsewhere",
      body: async (account) => {
        const signed = await world.authorize(account, amount)
        await relayBySomebodyElse(signed)
        return bodyV2(signed)
      }
    },
    {
      reason: "invalid_exact_evm_transaction_simulation_failed",
      name: "a payer that Circle has blacklisted",
      body: async (account) => {
        const signed = await world.authorize(account, amount)
        await blacklist(account.address)
        return bodyV2(signed)
      }
    }
  ]

  const usdc = moneyNetwork.usdc.address
  const relayBySomebodyElse = async ({ signature, authorization }: Payload) => {
    const { request } = await world.chain.publicClient.simulateContract({
      account: world.chain.account(5),
      address: usdc,
      abi: [
        {
          type: "function",
          name: "transferWithAuthorization",
          stateMutability: "nonpayable",
          inputs: ["address", "address", "uint256", "uint256", "uint256", "bytes32", "bytes"].map((type) => ({
            type
          })),
          outputs: []
        }
      ],
      functionName: "transferWithAuthorization",
      args: [
        authorization["from"],
        authorization["to"],
        BigInt(authorization["value"] ?? 0),
        BigInt(authorization["validAfter"] ?? 0),
        BigInt(authorization["validBefore"] ?? 0),
        authorization["nonce"],
        signature
      ]
    })
    const hash = await world.chain.walletClient(5).writeContract(request)
    await world.chain.publicClient.waitForTransactionReceipt({ hash })
    return hash
  }
  const blacklist = async (address: Hex) => {
    const hash = await world.chain.walletClient(0).writeContract({
      address: usdc,
      abi: [
        {
          type: "function",
          name: "blacklist",
          stateMutability: "nonpayable",
          inputs: [{ type: "address" }],
          outputs: []
        }
      ],
      functionName: "blacklist",
      args: [address]
    })
    await world.chain.publicClient.waitForTransactionReceipt({ hash })
  }

  for (const { reason, name, body, usdc: funds } of refusals) {
    test(`${reason}: ${name}; nothing is sent and no payment is created`, async () => {
      const account = await world.payer(funds)
      const sent = await body(account)
      const known = (await payments()).length
      const before = broadcasts()
      expect((await verify(sent)).body).toMatchObject({ isValid: false, invalidReason: reason })
      expect((await settle(sent)).body).toMatchObject({
        success: false,
        errorReason: reason,
        transaction: ""
      })
      expect(broadcasts()).toBe(before)
      expect(await payments()).toHaveLength(known)
    })
  }

  test("the other network's key settles nothing", async () => {
    const account = await world.payer()
    const body = bodyV2(await world.authorize(account, amount))
    const answer = await settle(body, world.keys[otherEnv].secret)
    expect(answer.body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_network_mismatch" })
  })

  test("input that is not x402 is refused with the place that is wrong", async () => {
    const answer = await settle({
      x402Version: 2,
      paymentPayload: {},
      paymentRequirements: requirementsV2(1n)
    })
    expect(answer.status).toBe(400)
    expect(answer.body.error.details?.[0]?.path).toStartWith("body.paymentPayload.")
    const payload = await world.authorize(await world.payer(0n), 1n)
    const wrong = await verify(bodyV2(payload, requirementsV2(-1n), requirementsV2(1n)))
    expect(wrong.body.error.details?.[0]?.path).toStartWith("body.paymentRequirements.")
  })

  const contractWallet = async () => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const creation = erc1271Creation(Address.make(owner.address))
    const wallet = Address.make(create2Address(creation))
    await Effect.runPromise(world.chain.mint(wallet, amount))
    const sign = async (seal: (signature: Hex) => Hex) => {
      const authorization = {
        from: wallet,
        to: receiver,
        value: amount,
        validAfter: now() - 600n,
        validBefore: now() + 60n,
        nonce: generatePrivateKey()
      }
      const signature = seal(await owner.signTypedData(typedDataOf(moneyNetwork, authorization)))
      return {
        signature,
        authorization: {
          ...authorization,
          value: amount.toString(),
          validAfter: authorization.validAfter.toString(),
          validBefore: authorization.validBefore.toString()
        }
      }
    }
    return { creation, wallet, sign }
  }
  const deploy = async (creation: Hex) => {
    const hash = await world.chain
      .walletClient(6)
      .sendTransaction({ to: create2Factory, data: create2Call(creation) })
    await world.chain.publicClient.waitForTransactionReceipt({ hash })
  }
  /** ERC-6492: the call that deploys the wallet, the inner signature, and the magic suffix. */
  const wrap = (creation: Hex) => (signature: Hex) =>
    `${encodeAbiParameters([{ type: "address" }, { type: "bytes" }, { type: "bytes" }], [create2Factory, create2Call(creation), signature])}${"6492".repeat(16)}` as Hex
  // A contract's signature has no fixed length; here the length distinguishes it from an account's.
  const lengthen = (signature: Hex): Hex => `${signature}00`

  test("ERC-1271: a deployed contract wallet pays", async () => {
    const { creation, wallet, sign } = await contractWallet()
    await deploy(creation)
    const body = bodyV2(await sign((signature) => signature))
    const answer = await settle(body)
    expect(answer.body).toMatchObject({ success: true, payer: wallet })
    expect(await world.balanceOf(wallet)).toBe(0n)
    const bad = bodyV2(await sign(lengthen))
    expect((await verify(bad)).body.isValid).toBe(false)
  })

  test("ERC-6492: an undeployed wallet is deployed with its payment, in one transaction", async () => {
    const { creation, wallet, sign } = await contractWallet()
    const body = bodyV2(await sign(wrap(creation)))
    expect<unknown>((await verify(body)).body).toEqual({ isValid: true, payer: wallet })
    expect(await world.chain.publicClient.getCode({ address: wallet })).toBeUndefined()
    expect((await settle(body)).body).toMatchObject({ success: true, payer: wallet })
    expect(await world.chain.publicClient.getCode({ address: wallet })).toBeString()
    expect(await world.balanceOf(wallet)).toBe(0n)
  })

  test("one authorization pays for one resource: the same one for another is refused", async () => {
    const account = await world.payer()
    const payload = await world.authorize(account, amount)
    const first = versions.includes(1) ? bodyV1(payload) : bodyV2(payload)
    expect((await settle(first)).body.success).toBe(true)
    const other = await settle(
      versions.includes(1)
        ? bodyV1(payload, requirementsV1(amount, { resource: "https://api.example.com/other" }))
        : {
            ...first,
            paymentPayload: {
              ...first.paymentPayload,
              resource: { url: "https://api.example.com/other", description: "", mimeType: "" }
            }
          }
    )
    expect(other.body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_nonce_already_used" })
  })

  test("a broadcast whose answer is lost is one transaction, and settles", async () => {
    const account = await world.payer()
    const before = await world.balanceOf(receiver)
    const body = bodyV2(await world.authorize(account, amount))
    let lost = 0
    world.node.behave((method) => {
      if (method !== "eth_sendRawTransaction" || lost > 2) return undefined
      lost += 1
      return { change: () => ({ garbage: true }) }
    })
    expect((await settle(body)).body.success).toBe(true)
    expect(await world.balanceOf(receiver)).toBe(before + amount)
  })

  test("a node that is down during the broadcast: pending, and completed when it is back", async () => {
    const account = await world.payer()
    const body = bodyV2(await world.authorize(account, amount))
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" ? { raw: new Response("down", { status: 503 }) } : undefined
    )
    const first = await settle(body)
    expect(first.body).toMatchObject({ success: false, errorReason: "settlement_pending" })
    expect(first.body.transaction).toStartWith("0x")
    world.node.behave(() => undefined)
    // No request is repeated: the reconciler completes it.
    for (let wait = 0; wait < 600 && !(await payments()).some(isFirst(first.body.transaction)); wait++) {
      await Bun.sleep(100)
    }
    expect((await settle(body)).body).toMatchObject({ success: true, transaction: first.body.transaction })
  }, 180_000)
  const isFirst = (transactionId: string) => (payment: { readonly reportedTransactionId?: string }) =>
    payment.reportedTransactionId === transactionId

  test("a transaction with a good status that moved nothing is not a payment", async () => {
    const account = await world.payer()
    const body = bodyV2(await world.authorize(account, amount))
    world.node.behave((method) =>
      method === "eth_getTransactionReceipt"
        ? {
            change: (receipt) =>
              receipt === null || typeof receipt !== "object" ? receipt : { ...receipt, logs: [] }
          }
        : undefined
    )
    const answer = await settle(body)
    expect(answer.body.success).toBe(false)
    expect(answer.body.errorReason).toBe("invalid_exact_evm_transfer_event_mismatch")
  }, 180_000)

  test("an address that has moved to another merchant receives no payments for the former one's resources", async () => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const payTo = Address.make(owner.address)
    const former = await signUp(world.baseUrl, payTo)
    const next = await signUp(world.baseUrl, Address.make(privateKeyToAccount(generatePrivateKey()).address))
    const path = `/merchants/${next.merchantId}/${world.env}/receiver`
    const asked = await next.call("PATCH", path, { receiver: payTo })
    const signature = await owner.signMessage({ message: asked.body.error.details?.[0]?.expected ?? "" })
    expect((await next.call("PATCH", path, { receiver: payTo, signature })).status).toBe(200)

    const account = await world.payer()
    const body = bodyV2(
      await world.authorize(account, amount, { to: payTo }),
      requirementsV2(amount, { payTo })
    )
    const verified = await world.call("POST", "/x402/verify", former.keys[world.env].secret, body)
    expect(verified.body).toMatchObject({
      isValid: false,
      invalidReason: "invalid_exact_evm_recipient_mismatch"
    })
    const settled = await world.call("POST", "/x402/settle", former.keys[world.env].secret, body)
    expect(settled.body.success).toBe(false)
    expect(await world.balanceOf(payTo)).toBe(0n)
  })
})
