// Buyers' identity tokens (DID tokens) that are unsigned, expired, or for another audience.
import { Effect } from "effect"
import { base64OfUtf8, createDidToken } from "../buyers/createDidToken.ts"
import { under } from "./ask.ts"
import { account, stranger } from "./authorizations.ts"
import { type Case, skipAll } from "./Case.ts"
import { refused } from "./refused.ts"
import type { ProbedShop } from "./Shop.ts"

interface Forgery {
  readonly name: string
  readonly reference: string
  readonly token: unknown
}

const did = "EIP-191, did:ethr"

const forge = async ({ audience }: ProbedShop): Promise<ReadonlyArray<Forgery>> => {
  const now = Math.floor(Date.now() / 1000)
  const claimOf = (changes: object = {}) =>
    JSON.stringify({
      iat: now,
      ext: now + 900,
      iss: `did:ethr:${account.address}`,
      sub: account.address,
      aud: audience,
      nbf: now,
      tid: crypto.randomUUID(),
      ...changes
    })
  const proofOf = (claim: string) => account.signMessage({ message: claim })
  const wrapped = (...parts: ReadonlyArray<unknown>) => base64OfUtf8(JSON.stringify(parts))
  const one = (name: string, reference: string, token: unknown): Forgery => ({ name, reference, token })
  /** Well signed by the throwaway key over just this claim. */
  const signed = async (name: string, reference: string, changes: object) => {
    const claim = claimOf(changes)
    return one(name, reference, wrapped(await proofOf(claim), claim))
  }
  const claim = claimOf()
  const proof = await proofOf(claim)
  const good = wrapped(proof, claim)
  return [
    one("other-signer", `${did}, CWE-347`, wrapped(await stranger.signMessage({ message: claim }), claim)),
    one("proof-of-another-claim", `${did}, CWE-347`, wrapped(proof, claimOf())),
    one("proof-empty", `${did}, CWE-347`, wrapped("0x", claim)),
    one("proof-short", `${did}, CWE-347`, wrapped(proof.slice(0, -2), claim)),
    one("proof-zeros", `${did}, CWE-347`, wrapped(`0x${"00".repeat(65)}`, claim)),
    await signed("expired", `${did}, CWE-613`, { iat: now - 1_800, nbf: now - 1_800, ext: now - 900 }),
    await signed("not-yet-valid", did, { iat: now + 3_600, nbf: now + 3_600, ext: now + 7_200 }),
    await signed("expiry-text", did, { ext: "never" }),
    await signed("expiry-missing", did, { ext: undefined }),
    await signed("audience-other", `${did}, CWE-345`, { aud: "https://probe.example" }),
    await signed("audience-empty", `${did}, CWE-345`, { aud: "" }),
    await signed("audience-list", `${did}, CWE-345`, { aud: [audience] }),
    await signed("audience-prefix", `${did}, CWE-345`, { aud: `${audience}.probe.example` }),
    await signed("issuer-other", `${did}, CWE-345`, { iss: `did:ethr:${stranger.address}` }),
    await signed("issuer-zero-address", `${did}, CWE-345`, { iss: `did:ethr:0x${"00".repeat(20)}` }),
    await signed("issuer-other-method", did, { iss: `did:web:${account.address}` }),
    one(
      "replayed-from-elsewhere",
      `${did}, CWE-294`,
      await createDidToken(account, { audience: "https://other-shop.example", lifetimeSeconds: 900, now })
    ),
    one("three-parts", did, wrapped(proof, claim, claim)),
    one("claim-not-json", did, wrapped(await proofOf("probe"), "probe")),
    one("not-base64", did, `${good}!`),
    one("cut-off", did, good.slice(0, -40)),
    one("nul-behind", `${did}, CWE-158`, `${good}\u0000`),
    one("in-array", did, [good]),
    one("empty", did, ""),
    one("of-1-mb", "CWE-770", "A".repeat(1_000_000))
  ]
}

/** At the faucet, which asks for nothing but the token. Granted test funds would be the finding. */
export const buyerTokenCases = Effect.fnUntraced(function* (shop: ProbedShop) {
  const forgeries = yield* Effect.promise(() => forge(shop))
  const cases = forgeries.map(
    ({ name, reference, token }): Case =>
      refused("tokens", `buyer-token-${name}`, reference, {
        method: "POST",
        url: under(shop.url, "api/v1/checkout/test-funds"),
        headers: { authorization: `Bearer ${shop.publishableKey}`, "content-type": "application/json" },
        body: JSON.stringify({ buyerDidToken: token })
      })
  )
  return shop.env === "test"
    ? cases
    : skipAll(cases, "buyers' tokens are shown to the faucet, which takes test keys")
})
