// A token that only the chain can verify does not cause useless calls.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { ContractSignatures } from "../../../src/chain/ContractSignatures.ts"
import { BuyerIdentity } from "../../../src/payments/buyers/BuyerIdentity.ts"
import { createDidToken } from "../../../src/payments/buyers/createDidToken.ts"
import { liveEffect } from "../../support/run.ts"

describe("mayAskChain", () => {
  liveEffect("a contract wallet's token is verified on the chain only if that is allowed", () =>
    Effect.gen(function* () {
      let asked = 0
      const contracts = Layer.succeed(ContractSignatures, {
        verify: () =>
          Effect.sync(() => {
            asked++
            return true
          })
      })
      const signer = privateKeyToAccount(generatePrivateKey())
      const wallet = privateKeyToAccount(generatePrivateKey()).address
      // Signed by an owner's key in the name of a contract wallet: signature recovery cannot decide it.
      const token = yield* Effect.promise(() =>
        createDidToken(
          { address: wallet, signMessage: signer.signMessage },
          { audience: "https://pay.example.com", lifetimeSeconds: 60, now: Math.floor(Date.now() / 1000) }
        )
      )
      const verify = (mayAskChain: boolean) =>
        Effect.flatMap(BuyerIdentity, (buyers) =>
          buyers.verify(token, {
            audiences: ["https://pay.example.com"],
            env: "test",
            mayAskChain: Effect.succeed(mayAskChain)
          })
        ).pipe(Effect.provide(BuyerIdentity.layerDid.pipe(Layer.provide(contracts))))
      expect((yield* Effect.flip(verify(false))).reason).toBe("signature")
      expect(asked).toBe(0)
      expect(String((yield* verify(true)).address)).toBe(wallet)
      expect(asked).toBe(1)
    })
  )
})
