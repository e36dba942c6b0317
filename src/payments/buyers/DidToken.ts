// Reads Magic's DID tokens (base64 of `[proof, claim]`, both strings) and checks everything but the signature. Pure,
// and fails closed.
import { Effect, Schema } from "effect"
import { parseAddress } from "../../chain/Address.ts"
import type { Address } from "../../domain/Chain.ts"
import { BuyerTokenRefused } from "./BuyerTokenRefused.ts"

/** Long enough for the deployment data of an ERC-6492 signature. */
const maxTokenLength = 16_384
const leewaySeconds = 300

export interface DidToken {
  /** Signature of `claim`: hex, of any length for contract wallets. */
  readonly proof: `0x${string}`
  /** The exact signed text. */
  readonly claim: string
  readonly issuer: string
  readonly audience: string
  /** Unix seconds. */
  readonly expiresAt: number
  readonly notBefore: number
  readonly issuedAt: number
  /** `tid`, which the signer chose. */
  readonly id: string
}

export interface DidExpectation {
  readonly audiences: ReadonlyArray<string>
  readonly maxSeconds?: number
}

const Proof = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})+$/))
const Envelope = Schema.fromJsonString(Schema.Tuple([Proof, Schema.String]))
const Claim = Schema.fromJsonString(
  Schema.Struct({
    iat: Schema.Finite,
    ext: Schema.Finite,
    nbf: Schema.Finite,
    iss: Schema.String,
    sub: Schema.String,
    aud: Schema.String,
    tid: Schema.String
  })
)
const decodeEnvelope = Schema.decodeUnknownEffect(Envelope)
const decodeClaim = Schema.decodeUnknownEffect(Claim)

// Canonical alphabet only, padding optional: Magic's own suite has both.
const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/

const decodeBase64 = (token: string): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
    Uint8Array.from(atob(token.replace(/=+$/, "")), (character) => character.charCodeAt(0))
  )

/** Fails with `malformed` for anything that is not a token of bounded size. */
export const readDidToken = Effect.fnUntraced(
  function* (token: string) {
    if (token.length > maxTokenLength || !base64Form.test(token)) {
      return yield* BuyerTokenRefused.because("malformed")
    }
    const text = yield* Effect.try(() => decodeBase64(token))
    const [proof, claim] = yield* decodeEnvelope(text)
    const { iss, aud, ext, nbf, iat, tid } = yield* decodeClaim(claim)
    const didToken: DidToken = {
      proof,
      claim,
      issuer: iss,
      audience: aud,
      expiresAt: ext,
      notBefore: nbf,
      issuedAt: iat,
      id: tid
    }
    return didToken
  },
  Effect.mapError(() => BuyerTokenRefused.because("malformed"))
)

/**
 * The address that the token claims, if its times and audience are valid at `now` (Unix seconds). The signature is
 * still to be checked.
 * The lifetime starts at `iat` or `nbf`, whichever is earlier.
 */
export const judgeDidClaim = (
  token: DidToken,
  { audiences, maxSeconds }: DidExpectation,
  now: number
): Effect.Effect<Address, BuyerTokenRefused> => {
  const address = token.issuer.startsWith("did:ethr:")
    ? parseAddress(token.issuer.slice("did:ethr:".length))
    : undefined
  if (address === undefined) return Effect.fail(BuyerTokenRefused.because("issuer"))
  if (!(token.expiresAt > now)) return Effect.fail(BuyerTokenRefused.because("expired"))
  if (!(token.notBefore <= now + leewaySeconds)) {
    return Effect.fail(BuyerTokenRefused.because("not_yet_valid"))
  }
  if (!audiences.includes(token.audience)) return Effect.fail(BuyerTokenRefused.because("audience"))
  const life = token.expiresAt - Math.min(token.issuedAt, token.notBefore)
  if (maxSeconds !== undefined && life > maxSeconds) {
    return Effect.fail(BuyerTokenRefused.because("lifetime"))
  }
  return Effect.succeed(address)
}
