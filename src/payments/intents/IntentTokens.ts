// The signed commitment to an amount: a JWS that the merchant's server gets and
// the browser hands back, so that the browser cannot change the price.
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
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

const algorithm = "HS256"
const type = "intent+jwt"
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/

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

/** What an intent commits to. */
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

      // Signing is the whole work of creating an intent. The synchronous HMAC takes a tenth of
      // the time of WebCrypto's promise; reading tokens, where the dangers are, is jose's.
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
          if (!compactForm.test(token)) return yield* new InvalidIntentToken()
          const verified = yield* Effect.tryPromise({
            try: () => compactVerify(token, keyFor, { algorithms: [algorithm] }),
            catch: () => new InvalidIntentToken()
          })
          // Anything beside alg, typ and kid (jku, jwk, crit, b64 …) is refused.
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

      return IntentTokens.of({ sign, verify })
    })
  )
}
