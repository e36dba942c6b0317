// Encryption of secrets that must be readable again, such as webhook signing secrets and authenticator secrets:
// AES-256-GCM, with the key's id beside the ciphertext so that keys can rotate.
import { createCipheriv, createDecipheriv } from "node:crypto"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { AppConfig } from "./AppConfig.ts"

export interface Sealed {
  readonly kid: string
  /** 12 bytes nonce, ciphertext, 16 bytes tag. */
  readonly ciphertext: Uint8Array
}

export class SecretBox extends Context.Service<
  SecretBox,
  {
    /** Seals under the newest key. `context` (such as an endpoint id) is authenticated as well. */
    readonly seal: (secret: Redacted.Redacted<string>, context: string) => Effect.Effect<Sealed>
    /** Dies if ENCRYPTION_KEYS no longer contains the key, or the ciphertext was altered. */
    readonly open: (sealed: Sealed, context: string) => Effect.Effect<Redacted.Redacted<string>>
  }
>()("quittance/platform/SecretBox") {
  static readonly layer: Layer.Layer<SecretBox, never, AppConfig | SecureRandom.SecureRandom> = Layer.effect(
    SecretBox,
    Effect.gen(function* () {
      const { encryptionKeys } = yield* AppConfig
      const random = yield* SecureRandom.SecureRandom
      const keys = new Map(
        encryptionKeys.map(({ kid, secret }) => [kid, Buffer.from(Redacted.value(secret), "base64")])
      )
      const newest = encryptionKeys[0]?.kid ?? ""
      const keyOf = (kid: string) => {
        const key = keys.get(kid)
        if (key === undefined) {
          throw new Error(
            `ENCRYPTION_KEYS lacks the key \`${kid}\`; add it back until its secrets are re-encrypted`
          )
        }
        return key
      }

      const unseal = ({ kid, ciphertext }: Sealed, context: string) => {
        const bytes = Buffer.from(ciphertext)
        const decipher = createDecipheriv("aes-256-gcm", keyOf(kid), bytes.subarray(0, 12))
          .setAAD(Buffer.from(context))
          .setAuthTag(bytes.subarray(-16))
        return Redacted.make(
          Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString("utf8")
        )
      }
      /** Weakly keyed by the sealed value, so a burst to one endpoint decrypts its secret once. */
      const opened = new WeakMap<Sealed, { readonly context: string; readonly secret: Redacted.Redacted }>()

      return SecretBox.of({
        seal: Effect.fnUntraced(function* (secret, context) {
          const nonce = yield* random.randomBytes(12)
          const cipher = createCipheriv("aes-256-gcm", keyOf(newest), nonce).setAAD(Buffer.from(context))
          const ciphertext = Buffer.concat([
            nonce,
            cipher.update(Redacted.value(secret), "utf8"),
            cipher.final(),
            cipher.getAuthTag()
          ])
          return { kid: newest, ciphertext }
        }),
        open: (sealed, context) =>
          Effect.sync(() => {
            const cached = opened.get(sealed)
            if (cached?.context === context) return cached.secret
            const secret = unseal(sealed, context)
            opened.set(sealed, { context, secret })
            return secret
          })
      })
    })
  )
}
