// What one of three nodes says of gas and of the relaying wallet keeps no payment from being made.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Behaviour } from "../support/rpcProxy.ts"
import { bodyV2 } from "./payloads.ts"
import { startX402World, type X402World } from "./x402World.ts"

setDefaultTimeout(90_000)
let world: X402World
beforeAll(async () => {
  world = await startX402World({}, 3)
}, 120_000)
afterAll(() => world.close(), 120_000)
afterEach(() => world.node.behave(() => undefined))

const amount = 10_000n
const tells =
  (told: string, result: string): Behaviour =>
  (method) =>
    method === told ? { result } : undefined

for (const [name, behaviour] of [
  ["takes more gas than is paid for", tells("eth_estimateGas", "0x989680")],
  ["takes all the gas that is paid for", tells("eth_estimateGas", "0x27100")],
  ["takes hardly any gas", tells("eth_estimateGas", "0x5208")],
  ["is sent by a wallet without ETH", tells("eth_getBalance", "0x0")],
  ["costs more than any wallet has", tells("eth_gasPrice", "0x3635c9adc5dea00000")]
] as const)
  test(`a node of three that says that the transfer ${name} refuses nothing`, async () => {
    const account = await world.payer()
    world.node.behave(behaviour)
    for (let time = 0; time < 4; time++) {
      const payload = await world.authorize(account, amount)
      const { body } = await world.call(
        "POST",
        "/x402/settle",
        world.keys.test.secret,
        bodyV2(payload, amount)
      )
      expect(body).toMatchObject({ success: true })
    }
  })
