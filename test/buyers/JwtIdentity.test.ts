// JWTs of an identity provider: a real key set served over HTTP, and each claim broken in turn.
import { expect } from "bun:test"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose"
import { type BuyerExpectation, BuyerIdentity } from "../../src/buyers/BuyerIdentity.ts"
import { testEffect } from "../support/run.ts"

const now = 1_790_000_000
const wallet = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
const issuer = "https://id.example"
const audience = "quittance"
const origin = "https://pay.example"

const provider = Effect.gen(function* () {
  const keys = yield* Effect.promise(() => generateKeyPair("ES256"))
  const foreign = yield* Effect.promise(() => generateKeyPair("ES256"))
  const jwk = { ...(yield* Effect.promise(() => exportJWK(keys.publicKey))), kid: "one", alg: "ES256" }
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, fetch: () => Response.json({ keys: [jwk] }) })),
    (running) => Effect.promise(() => running.stop(true))
  )
  return { privateKey: keys.privateKey, foreignKey: foreign.privateKey, jwksUrl: String(server.url) }
})

const payload = (changes: Record<string, unknown> = {}): JWTPayload => ({
  iss: issuer,
  aud: audience,
  exp: now + 60,
  wallet: { address: wallet.toLowerCase() },
  ...changes
})
const sign = (key: CryptoKey, claims: JWTPayload) =>
  Effect.promise(() => new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(key))

const verifyWith =
  (jwksUrl: string, addressClaim = "wallet.address", expectation: Partial<BuyerExpectation> = {}) =>
  (token: string) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now * 1000)
      const identity = yield* BuyerIdentity
      const result = yield* Effect.result(
        identity.verify(token, { audiences: [origin], env: "test", ...expectation })
      )
      if (Result.isFailure(result)) return result.failure.reason
      const { address, tokenId } = result.success
      return tokenId === undefined ? String(address) : `${address} ${tokenId}`
    }).pipe(Effect.provide(BuyerIdentity.layerJwt({ jwksUrl, issuer, audience, origin, addressClaim })))

testEffect("a signed token proves the address in the configured claim", () =>
  Effect.gen(function* () {
    const { privateKey, jwksUrl } = yield* provider
    expect(yield* verifyWith(jwksUrl)(yield* sign(privateKey, payload()))).toBe(wallet)
    const flat = payload({ "https://id.example/wallet": wallet })
    expect(yield* verifyWith(jwksUrl, "https://id.example/wallet")(yield* sign(privateKey, flat))).toBe(
      wallet
    )
  })
)

testEffect("each broken claim is refused by its name", () =>
  Effect.gen(function* () {
    const { privateKey, foreignKey, jwksUrl } = yield* provider
    const verify = verifyWith(jwksUrl)
    const cases: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
      [{ exp: now }, "expired"],
      [{ nbf: now + 60 }, "not_yet_valid"],
      [{ aud: "other" }, "audience"],
      [{ aud: undefined }, "audience"],
      [{ iss: "https://evil.example" }, "issuer"],
      [{ exp: undefined }, "malformed"],
      [{ wallet: undefined }, "address"],
      [{ wallet: { address: "0x12" } }, "address"],
      [{ wallet: { address: [wallet] } }, "address"]
    ]
    for (const [changes, reason] of cases) {
      expect(yield* verify(yield* sign(privateKey, payload(changes)))).toBe(reason)
    }
    expect(yield* verify(yield* sign(foreignKey, payload()))).toBe("signature")
    expect(yield* verify(new UnsecuredJWT(payload()).encode())).not.toStartWith("0x")
    expect(yield* verify("a.b.c")).toBe("malformed")
    expect(yield* verify("x".repeat(20_000))).toBe("malformed")
  })
)

testEffect("the token's id comes with the address", () =>
  Effect.gen(function* () {
    const { privateKey, jwksUrl } = yield* provider
    expect(yield* verifyWith(jwksUrl)(yield* sign(privateKey, payload({ jti: "one" })))).toBe(`${wallet} one`)
  })
)

testEffect("a merchant's own audience takes the place of the configured one", () =>
  Effect.gen(function* () {
    const { privateKey, jwksUrl } = yield* provider
    const verify = verifyWith(jwksUrl, undefined, { audiences: ["acme"] })
    expect(yield* verify(yield* sign(privateKey, payload()))).toBe("audience")
    expect(yield* verify(yield* sign(privateKey, payload({ aud: "acme" })))).toBe(wallet)
    expect(yield* verifyWith(jwksUrl)(yield* sign(privateKey, payload({ aud: "acme" })))).toBe("audience")
  })
)

testEffect("a token made for a longer life than is asked for is refused", () =>
  Effect.gen(function* () {
    const { privateKey, jwksUrl } = yield* provider
    const verify = verifyWith(jwksUrl, undefined, { longestSeconds: 3600 })
    const cases: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
      [{ exp: now + 3600 }, wallet],
      [{ exp: now + 3601 }, "lifetime"],
      [{ exp: now + 1, iat: now - 3599 }, wallet],
      [{ exp: now + 1, iat: now - 3600 }, "lifetime"],
      [{ exp: now + 1, nbf: now - 3600 }, "lifetime"]
    ]
    for (const [changes, verdict] of cases) {
      expect(yield* verify(yield* sign(privateKey, payload(changes)))).toBe(verdict)
    }
  })
)

testEffect("an HMAC keyed with public data and a dead key server prove nothing", () =>
  Effect.gen(function* () {
    const { privateKey, jwksUrl } = yield* provider
    const hmac = yield* Effect.promise(() =>
      new SignJWT(payload()).setProtectedHeader({ alg: "HS256", kid: "one" }).sign(new Uint8Array(32))
    )
    expect(yield* verifyWith(jwksUrl)(hmac)).toBe("signature")
    const dead = verifyWith("http://127.0.0.1:1/jwks")
    expect(yield* dead(yield* sign(privateKey, payload()))).toBe("unavailable")
  })
)
