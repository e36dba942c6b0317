// The signed commitment to an amount: a JWS that the merchant's server receives and the browser returns, so the
// browser cannot change the price.
import { timingSafeEqual } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { base64url, type CompactJWSHeaderParameters, compactVerify } from "jose"
import { Address, Env } from "../../domain/Chain.ts"
import { InvalidIntentToken } from "../../domain/Errors.ts"
import { MerchantId } from "../../domain/Merchant.ts"
import { formatUsd, UsdAmount } from "../../domain/Money.ts"
import { envs, networks } from "../../domain/networks.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { AppConfig } from "../../platform/AppConfig.ts"

/** docs/contract.md 8: seconds for which a token opens a payment. */
const intentTokenLifetime = 300

/** The length of a resume code's proof: 80 bits, enough against rate-limited guesses online. */
const proofBytes = 10
const decodeId = Schema.decodeUnknownOption(PaymentId)

const algorithm = "HS256"
const type = "intent+jwt"
const compactJwtPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/

const Claims = Schema.Struct({
  iss: Schema.String,
  aud: Schema.String,
  jti: PaymentId,
  iat: Schema.Int,
  exp: Schema.Int,
  amount: UsdAmount,
  intentUrl: Schema.String,
  merchant: MerchantId,
  env: Env,
  receiver: Address,
  token: Schema.Struct({
    address: Address,
    chainId: Schema.Literals(envs.map((env) => networks[env].chainId))
  })
})

const Header = Schema.Struct({
  alg: Schema.Literal(algorithm),
  typ: Schema.Literal(type),
  kid: Schema.String
})

/** The commitment of an intent. */
export type IntentClaims = Pick<
  typeof Claims.Type,
  "jti" | "amount" | "intentUrl" | "merchant" | "env" | "receiver" | "token"
>

/** A verified token; `expired` tokens may only replay a payment that exists. */
export interface VerifiedIntent {
  readonly claims: IntentClaims
  readonly expired: boolean
}

export class IntentTokens extends Context.Service<
  IntentTokens,
  {
    readonly sign: (claims: IntentClaims) => Effect.Effect<string>
    readonly verify: (token: string) => Effect.Effect<VerifiedIntent, InvalidIntentToken>
    /** A code for a payment's token, short enough to be scanned. Only holders of the token get it. */
    readonly resumeCodeOf: (id: PaymentId) => string
    /** The payment of a code. */
    readonly readResumeCode: (code: string) => Option.Option<PaymentId>
  }
>()("quittance/payments/IntentTokens") {
  static readonly layer: Layer.Layer<IntentTokens, never, AppConfig> = Layer.effect(
    IntentTokens,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const keys = new Map(
        yield* Effect.forEach(config.intentTokenSecrets, ({ kid, secret }) =>
          Effect.promise(async () => {
            const bytes = new TextEncoder().encode(Redacted.value(secret))
            // Imported once: jose would import raw bytes again for every token.
            const key = await crypto.subtle.importKey(
              "raw",
              bytes,
              { name: "HMAC", hash: "SHA-256" },
              false,
              ["verify"]
            )
            return [kid, key] as const
          })
        )
      )
      const newest = config.intentTokenSecrets[0]
      if (newest === undefined) return yield* Effect.die(new Error("INTENT_TOKEN_SECRETS is empty"))
      const decodeClaims = Schema.decodeUnknownEffect(Schema.fromJsonString(Claims))
      const decodeHeader = Schema.decodeUnknownEffect(Header, { onExcessProperty: "error" })
      const utf8 = new TextDecoder("utf-8", { fatal: true })

      // Signing is nearly all the work of creating an intent, and the synchronous HMAC takes a tenth of the time of
      // WebCrypto's promise. Reading tokens is where the dangers are, so jose does it.
      const header = base64url.encode(JSON.stringify({ alg: algorithm, typ: type, kid: newest.kid }))
      const secret = Redacted.value(newest.secret)
      const signedAt = ({ amount, ...claims }: IntentClaims, millis: number) => {
        const iat = Math.floor(millis / 1000)
        const payload: typeof Claims.Encoded = {
          ...claims,
          iss: config.baseUrl,
          aud: config.baseUrl,
          iat,
          exp: iat + intentTokenLifetime,
          amount: formatUsd(amount)
        }
        const signed = `${header}.${Buffer.from(JSON.stringify(payload)).toString("base64url")}`
        return `${signed}.${new Bun.CryptoHasher("sha256", secret).update(signed).digest("base64url")}`
      }
      const sign = (claims: IntentClaims) =>
        Effect.map(Clock.currentTimeMillis, (millis) => signedAt(claims, millis))

      const keyFor = (protectedHeader: CompactJWSHeaderParameters) => {
        const key = protectedHeader.kid === undefined ? undefined : keys.get(protectedHeader.kid)
        if (key === undefined) throw new Error("unknown kid")
        return key
      }

      const verify = Effect.fnUntraced(
        function* (token: string) {
          // base64url decoders skip stray characters: reject them first.
          if (!compactJwtPattern.test(token)) return yield* new InvalidIntentToken()
          const verified = yield* Effect.tryPromise({
            try: () => compactVerify(token, keyFor, { algorithms: [algorithm] }),
            catch: () => new InvalidIntentToken()
          })
          // Any other header than alg, typ and kid (jku, jwk, crit, b64 …) is refused.
          yield* decodeHeader(verified.protectedHeader)
          const claims = yield* decodeClaims(utf8.decode(verified.payload))
          if (claims.iss !== config.baseUrl || claims.aud !== config.baseUrl) {
            return yield* new InvalidIntentToken()
          }
          const now = (yield* Clock.currentTimeMillis) / 1000
          return { claims, expired: now >= claims.exp }
        },
        Effect.catchTag("SchemaError", () => Effect.fail(new InvalidIntentToken()))
      )

      const resumeProof = (secretOf: string, id: Uint8Array) =>
        new Bun.CryptoHasher("sha256", secretOf).update("resume ").update(id).digest().subarray(0, proofBytes)
      const resumeCodeOf = (id: PaymentId) => {
        const bytes = Buffer.from(id.replaceAll("-", ""), "hex")
        return Buffer.concat([bytes, resumeProof(secret, bytes)]).toString("base64url")
      }
      const readResumeCode = (code: string): Option.Option<PaymentId> => {
        const bytes = Buffer.from(code, "base64url")
        if (bytes.length !== 16 + proofBytes || bytes.toString("base64url") !== code) return Option.none()
        const [id, proof] = [bytes.subarray(0, 16), bytes.subarray(16)]
        const isProven = config.intentTokenSecrets.some((key) =>
          timingSafeEqual(resumeProof(Redacted.value(key.secret), id), proof)
        )
        const uuid = id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
        return isProven ? decodeId(uuid) : Option.none()
      }

      return IntentTokens.of({ sign, verify, resumeCodeOf, readResumeCode })
    })
  )
}
