// One of three nodes lies about gas, code and the relayer wallet: payments are made all the same.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeAbiParameters, toHex } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { typedDataOf } from "../../src/x402/Authorization.ts"
import { create2Address, create2Call, create2Factory, erc1271Creation } from "../support/contracts.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import type { Behaviour } from "../support/rpcProxy.ts"
import { bodyV2 } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World({}, 3)

const amount = 10_000n
const tells =
  (told: string, result: string): Behaviour =>
  (method) =>
    method === told ? { result } : undefined

for (const [name, behaviour] of [
  ["needs more gas than is paid for", tells("eth_estimateGas", "0x989680")],
  ["needs all the gas that is paid for", tells("eth_estimateGas", "0x27100")],
  ["needs hardly any gas", tells("eth_estimateGas", "0x5208")],
  ["is sent by a wallet without ETH", tells("eth_getBalance", "0x0")],
  ["costs more than any wallet has", tells("eth_gasPrice", "0x3635c9adc5dea00000")]
] as const)
  test(`a node of three that says that the transfer ${name} causes no refusal`, async () => {
    const account = await world.payer()
    world.node.behave(behaviour)
    for (let time = 0; time < 4; time++) {
      const payload = await world.authorize(account, amount)
      const { body } = await world.call(
        "POST",
        "/x402/settle",
        world.keys[world.env].secret,
        bodyV2(payload, amount)
      )
      expect(body).toMatchObject({ success: true })
    }
  })

/** Signed by the owner of a wallet that is deployed with its first payment. */
const undeployed = async () => {
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
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32)))
  }
  const inner = await owner.signTypedData(typedDataOf(moneyNetwork, authorization))
  const wrapped = encodeAbiParameters(
    [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
    [create2Factory, create2Call(creation), inner]
  )
  return {
    signature: `${wrapped}${"6492".repeat(16)}`,
    authorization: {
      ...authorization,
      value: amount.toString(),
      validAfter: authorization.validAfter.toString(),
      validBefore: authorization.validBefore.toString()
    }
  }
}

for (const [name, code] of [
  ["every address has code", "0x60"],
  ["no address has code", "0x"]
] as const)
  test(`a node of three that says that ${name} causes no refusal of an undeployed wallet`, async () => {
    const payload = await undeployed()
    world.node.behave(tells("eth_getCode", code))
    const { body } = await world.call(
      "POST",
      "/x402/settle",
      world.keys[world.env].secret,
      bodyV2(payload, amount)
    )
    expect(body).toMatchObject({ success: true })
  })
