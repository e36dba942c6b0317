// Intent tokens that a Quittance did not sign, or not like this.
import { createHmac } from "node:crypto"
import { Effect } from "effect"
import { base64url, CompactSign, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose"
import { under } from "./ask.ts"
import { type Case, skipAll } from "./Case.ts"
import { refused } from "./refused.ts"
import type { ProbedShop } from "./Shop.ts"

interface Forgery {
  readonly name: string
  readonly reference: string
  /** Sent as `intentToken`, as it is. */
  readonly token: unknown
}

const part = (value: unknown): string => base64url.encode(JSON.stringify(value))

const hmac = (
  header: object,
  payload: object,
  secret: string,
  hash: "sha256" | "sha384" | "sha512" = "sha256"
) => {
  const signed = `${part(header)}.${part(payload)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest("base64url")}`
}

/** Keys that people leave in configurations, and values that the header's `kid` may lead to. */
const guesses = ["", "secret", "changeme", "your-256-bit-secret", "quittance", "null", "undefined"]

const forge = async (
  shop: ProbedShop,
  [token, second]: readonly [string, string]
): Promise<ReadonlyArray<Forgery>> => {
  const header = decodeProtectedHeader(token)
  const payload = decodeJwt(token)
  const [first = "", body = "", signature = ""] = token.split(".")
  const [, otherBody = "", otherSignature = ""] = second.split(".")
  const one = (name: string, reference: string, value: unknown): Forgery => ({
    name,
    reference,
    token: value
  })
  /** Under the true signature, which no longer fits. */
  const altered = (name: string, reference: string, changes: object) =>
    one(name, reference, `${first}.${part({ ...payload, ...changes })}.${signature}`)
  const headed = (name: string, reference: string, changes: object, guess = "") =>
    one(name, reference, hmac({ ...header, ...changes }, payload, guess))

  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true })
  const jwk = await exportJWK(publicKey)
  const asymmetric = await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ ...header, alg: "ES256", jwk })
    .sign(privateKey)

  return [
    ...(
      [
        ["none", "none"],
        ["none-capitalized", "None"],
        ["none-upper-case", "NONE"],
        ["none-mixed-case", "nOnE"],
        ["empty", ""]
      ] as const
    ).map(([name, alg]) =>
      one(`alg-${name}`, "RFC 8725 2.1, CWE-347", `${part({ ...header, alg })}.${body}.`)
    ),
    one(
      "alg-none-with-signature",
      "RFC 8725 2.1, CWE-347",
      `${part({ ...header, alg: "none" })}.${body}.${signature}`
    ),
    one(
      "alg-missing",
      "RFC 7515 4.1.1, CWE-347",
      `${part({ typ: header.typ, kid: header.kid })}.${body}.${signature}`
    ),
    one("alg-hs384", "RFC 8725 3.1, CWE-347", hmac({ ...header, alg: "HS384" }, payload, "secret", "sha384")),
    one("alg-hs512", "RFC 8725 3.1, CWE-347", hmac({ ...header, alg: "HS512" }, payload, "secret", "sha512")),
    one("alg-es256-own-jwk", "RFC 8725 2.1, CWE-347", asymmetric),
    one("alg-hmac-by-publishable-key", "RFC 8725 3.5, CWE-347", hmac(header, payload, shop.publishableKey)),
    ...guesses.map((guess) =>
      one(`secret-${guess === "" ? "empty" : guess}`, "RFC 8725 3.5, CWE-521", hmac(header, payload, guess))
    ),
    one(
      "secret-jwk-in-header",
      "RFC 8725 3.1, CWE-347",
      hmac({ ...header, jwk: { kty: "oct", k: part("k") } }, payload, "k")
    ),
    headed("jku", "RFC 8725 3.10, CWE-918", { jku: "https://probe.example/keys" }),
    headed("x5u", "RFC 8725 3.10, CWE-918", { x5u: "https://probe.example/cert" }),
    headed("kid-path", "RFC 8725 3.10, CWE-22", { kid: "../../../../dev/null" }),
    headed("kid-sql", "RFC 8725 3.10, CWE-89", { kid: "' UNION SELECT 'k' --" }),
    headed("kid-prototype", "CWE-1321", { kid: "__proto__" }),
    headed("kid-array", "RFC 7515 4.1.4", { kid: [header.kid] }),
    headed("crit", "RFC 7515 4.1.11", { crit: ["probe"], probe: true }),
    headed("b64-false", "RFC 7797 6", { crit: ["b64"], b64: false }),
    headed("typ-jwt", "RFC 8725 3.11", { typ: "JWT" }),
    headed("typ-missing", "RFC 8725 3.11", { typ: undefined }),
    one("signature-stripped", "RFC 8725 2.1, CWE-347", `${first}.${body}.`),
    one("signature-and-dot-stripped", "RFC 7515 7.1", `${first}.${body}`),
    one(
      "signature-altered",
      "RFC 7515 5.2, CWE-347",
      `${first}.${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`
    ),
    one("signature-cut", "RFC 7515 5.2, CWE-347", `${first}.${body}.${signature.slice(0, 20)}`),
    one("signature-of-zeros", "RFC 7515 5.2, CVE-2022-21449", `${first}.${body}.${"A".repeat(43)}`),
    one("signature-of-another", "RFC 7515 5.2, CWE-347", `${first}.${body}.${otherSignature}`),
    one("payload-of-another", "RFC 7515 5.2, CWE-347", `${first}.${otherBody}.${signature}`),
    altered("amount-altered", "RFC 7515 5.2, CWE-345", { amount: "0.01" }),
    altered("receiver-altered", "RFC 7515 5.2, CWE-345", { receiver: `0x${"11".repeat(20)}` }),
    altered("merchant-altered", "RFC 7515 5.2, CWE-345", { merchant: crypto.randomUUID() }),
    altered("env-altered", "RFC 7515 5.2, CWE-345", { env: shop.env === "test" ? "live" : "test" }),
    altered("expiry-later", "RFC 7519 4.1.4, CWE-613", { exp: 4_102_444_800 }),
    altered("expired", "RFC 7519 4.1.4, CWE-613", { iat: 0, exp: 300 }),
    altered("audience-altered", "RFC 7519 4.1.3", { aud: "https://probe.example" }),
    one("expired-guessed-secret", "RFC 7519 4.1.4", hmac(header, { ...payload, iat: 0, exp: 300 }, "secret")),
    one("space-around", "RFC 7515 2", ` ${token} `),
    one("line-end", "RFC 7515 2", `${token}\n`),
    one("nul-behind", "RFC 7515 2, CWE-158", `${token}\u0000`),
    one("nul-inside", "RFC 7515 2, CWE-158", `${first}\u0000.${body}.${signature}`),
    one("padded", "RFC 7515 2", `${token}=`),
    one("percent-encoded", "RFC 7515 2", token.replaceAll(".", "%2e")),
    one("lone-surrogate", "RFC 8259 8.2", `${token}\ud800`),
    one("json-serialization", "RFC 7515 7.2", { protected: first, payload: body, signature }),
    one("in-array", "RFC 7515 7.1", [token]),
    one("five-parts", "RFC 7516 7.1", `${token}.${body}.${signature}`)
  ]
}

/** Those that need no token of the service's. */
const bare: ReadonlyArray<Forgery> = [
  { name: "empty", reference: "RFC 7515 7.1", token: "" },
  { name: "dots", reference: "RFC 7515 7.1", token: ".." },
  { name: "null", reference: "RFC 7515 7.1", token: null },
  { name: "number", reference: "RFC 7515 7.1", token: 1 },
  { name: "object", reference: "RFC 7515 7.1", token: {} },
  {
    name: "of-9-kb",
    reference: "CWE-770",
    token: `${"a".repeat(3_000)}.${"b".repeat(3_000)}.${"c".repeat(3_000)}`
  },
  { name: "of-1-mb", reference: "CWE-770", token: "a".repeat(1_000_000) },
  { name: "of-8000-dots", reference: "CWE-1333", token: ".".repeat(8_000) },
  { name: "header-20000-deep", reference: "CWE-674", token: `${base64url.encode("[".repeat(5_000))}.e30.AA` }
]

export const intentTokenCases = Effect.fnUntraced(function* (shop: ProbedShop) {
  const casesOf = (forgeries: ReadonlyArray<Forgery>): ReadonlyArray<Case> =>
    forgeries.map(({ name, reference, token }) =>
      refused("tokens", `intent-token-${name}`, reference, {
        method: "POST",
        url: under(shop.url, "api/v1/payments"),
        headers: { authorization: `Bearer ${shop.publishableKey}`, "content-type": "application/json" },
        body: JSON.stringify({ intentToken: token })
      })
    )
  const { intentTokens } = shop
  if (intentTokens !== undefined) {
    return [...casesOf(yield* Effect.promise(() => forge(shop, intentTokens))), ...casesOf(bare)]
  }
  // Named as they would be, around a token of nobody's.
  const standIn = hmac({ alg: "HS256", typ: "intent+jwt", kid: "probe" }, {}, "probe")
  const forged = casesOf(yield* Effect.promise(() => forge(shop, [standIn, standIn])))
  return [...skipAll(forged, "no token to alter: a live key needs --secret-key"), ...casesOf(bare)]
})
