// Webhooks cannot reach BASE_URL: the deployment's own name, or its address, however it is written.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer, Result } from "effect"
import { makeDialler } from "../../../src/platform/egress/Dialler.ts"
import { EgressPolicy } from "../../../src/platform/egress/EgressPolicy.ts"
import { checkEgressUrl } from "../../../src/platform/egress/EgressUrl.ts"
import { Resolver } from "../../../src/platform/egress/Resolver.ts"
import { testConfig } from "../../support/memory.ts"
import { testEffect } from "../../support/run.ts"

const policyOf = (baseUrl: string) =>
  Effect.map(
    Layer.build(EgressPolicy.layer.pipe(Layer.provide(testConfig({ baseUrl })))),
    Context.get(EgressPolicy)
  )

/** Every name resolves to this one address. */
const found = (address: string) =>
  Resolver.of({ resolve: () => Effect.succeed([address]), resolveLocal: () => Effect.succeed([address]) })

const own = [
  ["https://[2A01:04F8::00:1]", "2a01:4f8::1"],
  ["https://[2a01:4f8::1]:8443", "2a01:4f8:0:0:0:0:0:1"],
  ["https://9.9.9.9", "9.9.9.9"]
] as const

describe("no webhook is posted to this deployment", () => {
  for (const [baseUrl, address] of own)
    testEffect(`at the address of ${baseUrl}, whatever name resolves to it`, () =>
      Effect.gen(function* () {
        const { locate } = makeDialler(yield* policyOf(baseUrl), found(address))
        const url = new URL("https://shop.example.com/hook")
        expect(yield* Effect.flip(locate(url, false))).toBe("blocked")
      })
    )

  testEffect("at the name of BASE_URL", () =>
    Effect.gen(function* () {
      const policy = yield* policyOf("https://pay.quittance.dev")
      expect(checkEgressUrl("https://pay.quittance.dev:8443/hook", policy)).toEqual(Result.fail("own_host"))
    })
  )
})
