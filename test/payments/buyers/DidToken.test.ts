// The buyer's DID token: Magic's published tokens, the service's own, and every way to forge one.
import { describe, expect } from "bun:test"
import { Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { privateKeyToAccount } from "viem/accounts"
import { ContractSignatures } from "../../../src/chain/ContractSignatures.ts"
import { RpcUnavailable } from "../../../src/chain/Verification.ts"
import { audiencesOf } from "../../../src/payments/buyers/audiencesOf.ts"
import { type BuyerExpectation, BuyerIdentity } from "../../../src/payments/buyers/BuyerIdentity.ts"
import { base64OfUtf8, createDidToken } from "../../../src/payments/buyers/createDidToken.ts"
import { testEffect } from "../../support/run.ts"
import magic from "./magic-did-tokens.data.json" with { type: "json" }

const now = 1_790_000_000
const origin = "https://pay.example"
const buyer = privateKeyToAccount(`0x${"a1".repeat(32)}`)
const other = privateKeyToAccount(`0x${"b2".repeat(32)}`)

const verify = (
  token: string,
  audiences: ReadonlyArray<string> = [origin],
  contracts = ContractSignatures.layerNone
) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(now * 1000)
    const identity = yield* BuyerIdentity
    const result = yield* Effect.result(identity.verify(token, { audiences, env: "test" }))
    return String(Result.isSuccess(result) ? result.success.address : result.failure.reason)
  }).pipe(Effect.provide(BuyerIdentity.layerDid.pipe(Layer.provide(contracts))))

const make = (options: { audience?: string; lifetimeSeconds?: number; now?: number } = {}) =>
  Effect.promise(() => createDidToken(buyer, { audience: origin, lifetimeSeconds: 900, now, ...options }))

/** A token around any claim, signed by the buyer over exactly that text. */
const sign = (claim: string) =>
  Effect.promise(async () =>
    base64OfUtf8(JSON.stringify([await buyer.signMessage({ message: claim }), claim]))
  )

const claim = (changes: Record<string, unknown> = {}) =>
  JSON.stringify({
    iat: now,
    ext: now + 900,
    iss: `did:ethr:${buyer.address}`,
    sub: "x",
    aud: origin,
    nbf: now,
    tid: "1",
    ...changes
  })

describe("Magic's published tokens", () => {
  const expected: Record<string, string> = {
    VALID_DIDT: "0xB2ec9b61699762491b6542278E9dFEC9050f8089",
    VALID_DIDT_WITH_INVALID_RECOVERY_BIT: "signature",
    VALID_FUTURE_MARKED_DIDT: "not_yet_valid",
    INVALID_DIDT_MALFORMED_CLAIM: "malformed",
    INVALID_SIGNER_DIDT: "issuer",
    EXPIRED_DIDT: "expired",
    VALID_ATTACHMENT_DIDT: "0xa1b4c0942647e790cFa2779A5Cd6d8DA9e2C8A8D"
  }
  const audienceOf = (token: string) =>
    /\\"aud\\":\\"([^\\]*)/.exec(Buffer.from(token, "base64").toString("utf8"))?.[1] ?? "none"

  for (const { name, token, expect: says } of magic.tokens) {
    testEffect(`${name}: ${says}`, () =>
      Effect.gen(function* () {
        const verdict = yield* verify(token, [audienceOf(token)])
        if (says.startsWith("valid")) expect(verdict).toStartWith("0x")
        else expect(verdict).not.toStartWith("0x")
        if (name in expected && name !== "VALID_ATTACHMENT_DIDT") expect(verdict).toBe(expected[name] ?? "")
      })
    )
    testEffect(`${name} is refused for another audience`, () =>
      Effect.map(verify(token, [origin]), (verdict) => expect(verdict).not.toStartWith("0x"))
    )
  }
})

describe("tokens of the service's own checkout", () => {
  testEffect("a fresh token proves its signer, in EIP-55 spelling", () =>
    Effect.gen(function* () {
      expect(yield* verify(yield* make())).toBe(buyer.address)
      expect(yield* verify(yield* make({ audience: "merchant" }), [origin, "merchant"])).toBe(buyer.address)
    })
  )
  testEffect("the issuer's letter case does not matter", () =>
    Effect.gen(function* () {
      const lower = yield* sign(claim({ iss: `did:ethr:${buyer.address.toLowerCase()}` }))
      expect(yield* verify(lower)).toBe(buyer.address)
    })
  )
  testEffect("text beyond ASCII is signed and read as UTF-8", () =>
    Effect.gen(function* () {
      expect(yield* verify(yield* sign(claim({ sub: "Zoë 支付 👛" })))).toBe(buyer.address)
    })
  )
  testEffect("the times: expiry is exclusive, not-before has 300 s leeway", () =>
    Effect.gen(function* () {
      expect(yield* verify(yield* sign(claim({ ext: now })))).toBe("expired")
      expect(yield* verify(yield* sign(claim({ ext: now + 1 })))).toBe(buyer.address)
      expect(yield* verify(yield* sign(claim({ nbf: now + 300 })))).toBe(buyer.address)
      expect(yield* verify(yield* sign(claim({ nbf: now + 301 })))).toBe("not_yet_valid")
      expect(yield* verify(yield* sign(claim({ ext: 1.0000000000016881e21 })))).toBe(buyer.address)
    })
  )
  testEffect("buyer token: other audience, expired, not yet valid, other signer", () =>
    Effect.gen(function* () {
      expect(yield* verify(yield* make({ audience: "https://evil.example" }))).toBe("audience")
      expect(yield* verify(yield* make(), [])).toBe("audience")
      expect(yield* verify(yield* make({ now: now - 1000 }))).toBe("expired")
      expect(yield* verify(yield* make({ now: now + 1000 }))).toBe("not_yet_valid")
      expect(yield* verify(yield* sign(claim({ iss: `did:ethr:${other.address}` })))).toBe("signature")
    })
  )
  testEffect("a proof of one claim does not carry another", () =>
    Effect.gen(function* () {
      const proof = yield* Effect.promise(() => buyer.signMessage({ message: claim() }))
      const changed = base64OfUtf8(JSON.stringify([proof, claim({ aud: origin, tid: "2" })]))
      expect(yield* verify(changed)).toBe("signature")
    })
  )
})

describe("a token's lifetime and id", () => {
  const judge = (token: string, expectation: Partial<BuyerExpectation> = {}) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now * 1000)
      const identity = yield* BuyerIdentity
      const result = yield* Effect.result(
        identity.verify(token, { audiences: [origin], env: "test", ...expectation })
      )
      return Result.isSuccess(result) ? result.success.tokenId : result.failure.reason
    }).pipe(Effect.provide(BuyerIdentity.layerDid.pipe(Layer.provide(ContractSignatures.layerNone))))

  testEffect("`tid` is returned with the address", () =>
    Effect.gen(function* () {
      const token = yield* Effect.promise(() =>
        createDidToken(buyer, { audience: origin, lifetimeSeconds: 900, now, id: "a payment" })
      )
      expect(yield* judge(token)).toBe("a payment")
    })
  )
  testEffect("a token with too long a lifetime is refused, counted from `iat` and from `nbf`", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
        [{ ext: now + 3600 }, "1"],
        [{ ext: now + 3601 }, "lifetime"],
        [{ ext: now + 3600, iat: now - 1 }, "lifetime"],
        [{ ext: now + 3600, nbf: now - 1 }, "lifetime"],
        // According to its `iat`, issued a moment before it ends in 2286.
        [{ ext: 9_999_999_999, iat: 9_999_999_990 }, "lifetime"],
        [{ ext: 1.0000000000016881e21, iat: 1.0000000000016881e21 }, "lifetime"]
      ]
      for (const [changes, verdict] of cases) {
        expect(yield* judge(yield* sign(claim(changes)), { maxSeconds: 3600 })).toBe(verdict)
      }
    })
  )
  testEffect("in memory, the id follows the address", () =>
    Effect.gen(function* () {
      const identity = yield* BuyerIdentity
      const prove = (token: string) => identity.verify(token, { audiences: [], env: "test" })
      expect((yield* prove(`buyer:${buyer.address}`)).tokenId).toBeUndefined()
      expect((yield* prove(`buyer:${buyer.address}:one`)).tokenId).toBe("one")
      expect(String((yield* prove(`buyer:${buyer.address}:one`)).address)).toBe(buyer.address)
    }).pipe(Effect.provide(BuyerIdentity.layerMemory))
  )
  testEffect("a merchant with its own audience accepts no other", () =>
    Effect.gen(function* () {
      expect(audiencesOf({ identityAudience: null }, origin)).toEqual([origin])
      const acme = { audiences: audiencesOf({ identityAudience: "acme" }, origin) }
      expect(yield* judge(yield* make(), acme)).toBe("audience")
      expect(yield* judge(yield* sign(claim({ aud: "acme" })), acme)).toBe("1")
    })
  )
})

describe("forged forms are refused", () => {
  const times: ReadonlyArray<readonly [string, string]> = [
    ["text", '"9999999999"'],
    ["null", "null"],
    ["overflow", "1e999"],
    ["negative overflow", "-1e999"],
    ["object", "{}"],
    ["true", "true"],
    ["array", "[9999999999]"]
  ]
  for (const field of ["ext", "nbf", "iat"]) {
    for (const [name, value] of times) {
      testEffect(`${field} as ${name} is malformed`, () =>
        Effect.gen(function* () {
          const text = claim({ [field]: "@" }).replace('"@"', value)
          expect(yield* verify(yield* sign(text))).toBe("malformed")
        })
      )
    }
    testEffect(`${field} absent is malformed`, () =>
      Effect.gen(function* () {
        expect(yield* verify(yield* sign(claim({ [field]: undefined })))).toBe("malformed")
      })
    )
  }
  for (const iss of [
    "",
    "did:ethr:",
    "did:ethr:0x12",
    `did:pkh:${buyer.address}`,
    buyer.address,
    ` did:ethr:${buyer.address}`
  ]) {
    testEffect(`issuer ${JSON.stringify(iss)} is refused`, () =>
      Effect.gen(function* () {
        expect(yield* verify(yield* sign(claim({ iss })))).toBe("issuer")
      })
    )
  }
  testEffect("a text that is no token is malformed", () =>
    Effect.gen(function* () {
      const valid = yield* make()
      const proof = "0x00"
      const cases = [
        "",
        "buyer",
        "{}",
        `${valid}!`,
        ` ${valid}`,
        valid.slice(1),
        base64OfUtf8("null"),
        base64OfUtf8("[]"),
        base64OfUtf8(JSON.stringify([proof])),
        base64OfUtf8(JSON.stringify([proof, claim(), "x"])),
        base64OfUtf8(JSON.stringify([proof, JSON.parse(claim())])),
        base64OfUtf8(JSON.stringify(["", claim()])),
        base64OfUtf8(JSON.stringify(["0x0", claim()])),
        base64OfUtf8(JSON.stringify([proof, "not json"])),
        base64OfUtf8(JSON.stringify([proof, claim({ aud: [origin] })])),
        base64OfUtf8("[".repeat(6000)),
        btoa("\xff\xfe"),
        btoa("A".repeat(20_000)),
        valid.replace(/.$/, "-")
      ]
      for (const token of cases)
        expect([token.slice(0, 40), yield* verify(token)]).toEqual([token.slice(0, 40), "malformed"])
    })
  )
  testEffect("a validly signed token beyond the size limit is not even decoded", () =>
    Effect.gen(function* () {
      expect(yield* verify(yield* sign(claim({ sub: "x".repeat(10_000) })))).toBe(buyer.address)
      expect(yield* verify(yield* sign(claim({ sub: "x".repeat(13_000) })))).toBe("malformed")
    })
  )
  testEffect("bytes that are not UTF-8 are not read as the replacement character", () =>
    Effect.gen(function* () {
      const text = claim({ sub: "\ufffd" })
      const proof = yield* Effect.promise(() => buyer.signMessage({ message: text }))
      const bytes = Buffer.from(JSON.stringify([proof, text]), "utf8").toString("latin1")
      expect(yield* verify(btoa(bytes))).toBe(buyer.address)
      expect(yield* verify(btoa(bytes.replace("\xef\xbf\xbd", "\xff")))).toBe("malformed")
    })
  )
  testEffect("a proof that is no signature is refused, whatever its length", () =>
    Effect.gen(function* () {
      for (const bytes of [1, 64, 65, 66, 3000]) {
        const token = base64OfUtf8(JSON.stringify([`0x${"11".repeat(bytes)}`, claim()]))
        expect(yield* verify(token)).toBe("signature")
      }
    })
  )
})

describe("contract wallets", () => {
  const answers = (answer: boolean | "down") => {
    let calls = 0
    const layer = Layer.succeed(ContractSignatures, {
      verify: () =>
        Effect.suspend(() => {
          calls += 1
          return answer === "down"
            ? Effect.fail(new RpcUnavailable({ reason: "rpc_unavailable", message: "down" }))
            : Effect.succeed(answer)
        })
    })
    return { layer, calls: () => calls }
  }
  testEffect("the chain is queried only if signature recovery does not decide", () =>
    Effect.gen(function* () {
      const yes = answers(true)
      expect(yield* verify(yield* make(), [origin], yes.layer)).toBe(buyer.address)
      expect(yes.calls()).toBe(0)
      const foreign = yield* sign(claim({ iss: `did:ethr:${other.address}` }))
      expect(yield* verify(foreign, [origin], yes.layer)).toBe(other.address)
      expect(yes.calls()).toBe(1)
      expect(yield* verify(foreign, [origin], answers(false).layer)).toBe("signature")
      expect(yield* verify(foreign, [origin], answers("down").layer)).toBe("unavailable")
    })
  )
  testEffect("expired or foreign tokens cause no calls to the chain", () =>
    Effect.gen(function* () {
      const yes = answers(true)
      expect(yield* verify(yield* sign(claim({ ext: now - 1 })), [origin], yes.layer)).toBe("expired")
      expect(yield* verify(yield* sign(claim({ aud: "x" })), [origin], yes.layer)).toBe("audience")
      expect(yes.calls()).toBe(0)
    })
  )
})

testEffect("layerMemory: the token contains the address", () =>
  Effect.gen(function* () {
    const identity = yield* BuyerIdentity
    const expectation = { audiences: [], env: "test" } as const
    const { address } = yield* identity.verify(`buyer:${buyer.address.toLowerCase()}`, expectation)
    expect(String(address)).toBe(buyer.address)
    expect((yield* Effect.flip(identity.verify("buyer:0x12", expectation))).reason).toBe("malformed")
  }).pipe(Effect.provide(BuyerIdentity.layerMemory))
)
