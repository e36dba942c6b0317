// Intent tokens: what they commit to, how long they are valid, and every forgery of docs/threats.md 4 refused.
import { describe, expect } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { base64url, CompactSign, generateKeyPair } from "jose"
import { Address } from "../../../src/domain/Chain.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { networks } from "../../../src/domain/networks.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { type IntentClaims, IntentTokens } from "../../../src/payments/intents/IntentTokens.ts"
import { testConfig } from "../../support/memory.ts"
import { testEffect } from "../../support/run.ts"

const secretOf = (letter: string) => letter.repeat(40)
const keyed = (kid: string) => ({ kid, secret: Redacted.make(secretOf(kid)) })
const tokensWith = (...kids: ReadonlyArray<string>) =>
  IntentTokens.layer.pipe(Layer.provide(testConfig({ intentTokenSecrets: kids.map(keyed) })))

const claims: IntentClaims = {
  jti: PaymentId.make("01a1fc34-7205-710e-9410-874fee9a4996"),
  amount: AtomicUsdc.make(99_999_999_999_999_999_999n),
  intentUrl: "https://shop.example.com/1",
  merchant: MerchantId.make("01a1fc34-7205-710e-9410-874fee9a4997"),
  env: "test",
  receiver: Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
  token: { address: networks.test.usdc.address, chainId: 84532 }
}

const payload = {
  iss: "http://localhost:8787",
  aud: "http://localhost:8787",
  jti: claims.jti,
  iat: 0,
  exp: 300,
  amount: "1.00",
  intentUrl: claims.intentUrl,
  merchant: claims.merchant,
  env: "test",
  receiver: claims.receiver,
  token: claims.token
}

const forge = (header: Record<string, unknown>, body: unknown = payload, secret = secretOf("a")) =>
  Effect.promise(() =>
    new CompactSign(new TextEncoder().encode(JSON.stringify(body)))
      .setProtectedHeader({ alg: "HS256", typ: "intent+jwt", kid: "a", ...header })
      .sign(new TextEncoder().encode(secret), { crit: { "x-odd": true } })
  )

const verify = (token: string) => Effect.flatMap(IntentTokens, (tokens) => tokens.verify(token))
const refusal = (token: string) =>
  Effect.map(Effect.flip(verify(token)), (error) => error.code).pipe(Effect.provide(tokensWith("a")))

describe("IntentTokens", () => {
  testEffect("a token carries its claims to the last digit, and expires after five minutes", () =>
    Effect.gen(function* () {
      const tokens = yield* IntentTokens
      const token = yield* tokens.sign(claims)
      expect(yield* tokens.verify(token)).toMatchObject({ claims, expired: false })
      yield* TestClock.adjust("299 seconds")
      expect((yield* tokens.verify(token)).expired).toBe(false)
      yield* TestClock.adjust("1 second")
      expect((yield* tokens.verify(token)).expired).toBe(true)
    }).pipe(Effect.provide(tokensWith("a")))
  )

  testEffect("the control: a forgery with the right secret and form verifies", () =>
    Effect.gen(function* () {
      const token = yield* forge({})
      expect((yield* verify(token)).claims.amount).toBe(AtomicUsdc.make(1_000_000n))
    }).pipe(Effect.provide(tokensWith("a")))
  )

  testEffect("secrets rotate: the newest signs, every listed one verifies, a dropped one does not", () =>
    Effect.gen(function* () {
      const old = yield* Effect.flatMap(IntentTokens, (tokens) => tokens.sign(claims)).pipe(
        Effect.provide(tokensWith("a"))
      )
      yield* verify(old).pipe(Effect.provide(tokensWith("b", "a")))
      const fresh = yield* Effect.flatMap(IntentTokens, (tokens) => tokens.sign(claims)).pipe(
        Effect.provide(tokensWith("b", "a"))
      )
      expect(JSON.parse(new TextDecoder().decode(base64url.decode(fresh.split(".")[0] ?? "")))).toEqual({
        alg: "HS256",
        typ: "intent+jwt",
        kid: "b"
      })
      const error = yield* Effect.flip(verify(old)).pipe(Effect.provide(tokensWith("b")))
      expect(error.code).toBe("INVALID_INTENT_TOKEN")
    })
  )

  const headers: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
    ["no kid", { kid: undefined }],
    ["an unknown kid", { kid: "z" }],
    ["a kid that is a path", { kid: "../../dev/null" }],
    ["no typ", { typ: undefined }],
    ["typ JWT", { typ: "JWT" }],
    ["alg HS384", { alg: "HS384" }],
    ["alg HS512", { alg: "HS512" }],
    ["jku", { jku: "https://evil.example.com/keys" }],
    ["jwk", { jwk: { kty: "oct", k: "AAAA" } }],
    ["x5u", { x5u: "https://evil.example.com/cert" }],
    ["crit", { crit: ["x-odd"], "x-odd": 1 }],
    ["b64 false", { b64: false, crit: ["b64"] }],
    ["a further member", { extra: 1 }]
  ]
  for (const [name, header] of headers) {
    testEffect(`refuses a header with ${name}`, () =>
      Effect.gen(function* () {
        const secret = header["alg"] === undefined ? secretOf("a") : "a".repeat(64)
        const token = yield* forge(header, payload, secret).pipe(
          Effect.catchDefect(() => Effect.succeed("x.y.z"))
        )
        expect(yield* refusal(token)).toBe("INVALID_INTENT_TOKEN")
      })
    )
  }

  const bodies: ReadonlyArray<readonly [string, unknown]> = [
    ["another issuer", { ...payload, iss: "https://evil.example.com" }],
    ["another audience", { ...payload, aud: "https://evil.example.com" }],
    ["an audience list", { ...payload, aud: [payload.aud] }],
    ["a jti that is no UUID", { ...payload, jti: "1" }],
    ["an amount of zero", { ...payload, amount: "0" }],
    ["an amount that is a number", { ...payload, amount: 1 }],
    ["an unknown environment", { ...payload, env: "staging" }],
    ["another chain id", { ...payload, token: { ...payload.token, chainId: 1 } }],
    ["an exp that is text", { ...payload, exp: "300" }],
    ["a list", []],
    ["null", null],
    ...["iss", "aud", "jti", "iat", "exp", "amount", "intentUrl", "merchant", "env", "receiver", "token"].map(
      (missing) => [`no ${missing}`, { ...payload, [missing]: undefined }] as const
    )
  ]
  for (const [name, body] of bodies) {
    testEffect(`refuses a payload with ${name}`, () =>
      Effect.gen(function* () {
        expect(yield* refusal(yield* forge({}, body))).toBe("INVALID_INTENT_TOKEN")
      })
    )
  }

  testEffect("refuses a token that is spelled differently, cut, padded or wrapped", () =>
    Effect.gen(function* () {
      const token = yield* forge({})
      const [header = "", body = "", signature = ""] = token.split(".")
      for (const text of [
        ` ${token} `,
        `${token}\n`,
        `${token}\u0000`,
        `${header}\u0000.${body}.${signature}`,
        `${token}=`,
        `${token}\ud800`,
        token.replaceAll(".", "%2e"),
        `${token}.${body}.${signature}`,
        `${header}.${body}.`,
        `${header}.${body}`,
        `${header}.${body}.${signature.slice(0, 20)}`,
        `${header}.${body}.${"A".repeat(43)}`,
        "",
        "..",
        ".".repeat(8_000),
        `${base64url.encode("[".repeat(5_000))}.e30.AA`
      ])
        expect([text, yield* refusal(text)]).toEqual([text, "INVALID_INTENT_TOKEN"])
    })
  )

  testEffect("refuses alg none, another secret and an asymmetric key", () =>
    Effect.gen(function* () {
      const encode = (value: unknown) => base64url.encode(JSON.stringify(value))
      const [, body = "", signature = ""] = (yield* forge({})).split(".")
      for (const alg of ["none", "None", "NONE", "nOnE", "", undefined]) {
        const header = encode({ alg, typ: "intent+jwt", kid: "a" })
        for (const end of ["", signature, "A".repeat(43)])
          expect(yield* refusal(`${header}.${body}.${end}`)).toBe("INVALID_INTENT_TOKEN")
      }
      expect(yield* refusal(yield* forge({}, payload, secretOf("b")))).toBe("INVALID_INTENT_TOKEN")
      const asymmetric = yield* Effect.promise(async () => {
        const { privateKey } = await generateKeyPair("ES256")
        return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
          .setProtectedHeader({ alg: "ES256", typ: "intent+jwt", kid: "a" })
          .sign(privateKey)
      })
      expect(yield* refusal(asymmetric)).toBe("INVALID_INTENT_TOKEN")
    })
  )
})
