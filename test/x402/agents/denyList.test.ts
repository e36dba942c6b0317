// No agent signs from or to an address on the operator's deny list, whatever its own lists allow.
import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { DenyList } from "../../../src/chain/DenyList.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { Agents } from "../../../src/x402/agents/Agents.ts"
import { testDatabase } from "../../support/database.ts"
import { testConfig } from "../../support/memory.ts"
import { receiver } from "../../support/rawReceipts.ts"
import { liveEffect } from "../../support/run.ts"
import { requirementsV2 } from "../x402World.ts"

const payee = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

const list = new Set<Address>()
const stack = Agents.layer.pipe(
  Layer.provide(Layer.succeed(DenyList, { has: (one) => list.has(one), date: () => new Date(0) })),
  Layer.provideMerge(KeyAuth.layer),
  Layer.provideMerge(testDatabase.layer),
  Layer.provideMerge(Layer.merge(testConfig(), SecureRandom.layerWebCrypto))
)

liveEffect(
  "an agent signs, and repeats an answer, only while neither its payee nor its wallet is on the list",
  () =>
    Effect.gen(function* () {
      const [agents, keys] = [yield* Agents, yield* KeyAuth]
      const { merchant } = yield* keys.createMerchant({
        name: "Shop",
        receivers: { test: receiver, live: receiver }
      })
      const { agent, key } = yield* agents.provision({
        merchantId: merchant.id,
        env: "test",
        name: "Agent",
        capPerPayment: AtomicUsdc.make(5_000_000n),
        capPerDay: AtomicUsdc.make(20_000_000n),
        allowedHosts: null,
        allowedPayees: [payee]
      })
      const principal = yield* keys.authenticate(key)
      const sign = agents.sign(principal, {
        requestId: "one",
        resource: "https://api.example.com/weather",
        version: 2,
        accepts: [requirementsV2(1n, { payTo: payee })],
        described: { resource: undefined, extensions: undefined }
      })
      expect((yield* sign).created).toBeTrue()
      for (const one of [payee, agent.address]) {
        list.clear()
        list.add(one)
        const { code, message } = yield* Effect.flip(sign)
        expect<string>(code).toBe("AGENT_PAYEE_NOT_ALLOWED")
        expect(message).toContain("on the operator's deny list, and nothing was signed")
      }
      list.clear()
      expect((yield* sign).created).toBeFalse()
      expect(yield* agents.payments(agent.id, 20)).toHaveLength(1)
    }).pipe(Effect.provide(stack))
)
