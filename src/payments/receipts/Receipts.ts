// Receipts of settled payments, signed once (ES256) and stored as signed: they read and verify the same even after
// keys and names change.
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { CompactSign, decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK } from "jose"
import { PaymentNotSettled } from "../../domain/Errors.ts"
import { formatUsd } from "../../domain/Money.ts"
import { networks } from "../../domain/networks.ts"
import type { Payment, PaymentSummary } from "../../domain/Payment.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { SecretBox } from "../../platform/SecretBox.ts"
import { Receipt } from "./Api.ts"
import { type ReceiptKey, ReceiptRepo, type StoredReceipt } from "./Receipts/ReceiptRepo.ts"

export interface SignedReceipt {
  readonly receipt: typeof Receipt.Encoded
  readonly url: string
  readonly jws: string
}

/** The parts of a payment that a receipt contains. */
export type ReceiptedPayment = PaymentSummary & Pick<Payment, "receiver">

const algorithm = "ES256"
const decodeReceipt = Schema.decodeUnknownEffect(Schema.toEncoded(Receipt))
const decodeJwkJson = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
)
const decodeJwk = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
)

const make = Effect.gen(function* () {
  const repo = yield* ReceiptRepo
  const box = yield* SecretBox
  const random = yield* SecureRandom.SecureRandom
  const { baseUrl } = yield* AppConfig

  /** The newest key that ENCRYPTION_KEYS still opens; a new one if there is none. */
  const signingKey = Effect.gen(function* () {
    for (const key of yield* repo.keys) {
      const opened = yield* Effect.option(
        Effect.catchDefect(box.open(key.sealed, key.kid), () =>
          Effect.fail("sealed under a key that is gone")
        )
      )
      if (Option.isSome(opened)) {
        const jwk = yield* Effect.orDie(decodeJwk(Redacted.value(opened.value)))
        return { kid: key.kid, jwk }
      }
    }
    const kid = yield* random.uuidV7()
    const pair = yield* Effect.promise(() => generateKeyPair(algorithm, { extractable: true }))
    const [jwk, publicJwk] = yield* Effect.promise(() =>
      Promise.all([exportJWK(pair.privateKey), exportJWK(pair.publicKey)])
    )
    const key: ReceiptKey = {
      kid,
      publicJwk: JSON.stringify({ ...publicJwk, kid, alg: algorithm, use: "sig" }),
      sealed: yield* box.seal(Redacted.make(JSON.stringify(jwk)), kid)
    }
    yield* repo.addKey(key, yield* DateTime.nowAsDate)
    return { kid, jwk }
  })
  const [cachedSigner, forget] = yield* Effect.cachedInvalidateWithTTL(
    Effect.flatMap(signingKey, ({ jwk, kid }) =>
      Effect.map(
        Effect.promise(() => importJWK(jwk satisfies JWK, algorithm)),
        (key) => ({ key, kid })
      )
    ),
    Duration.infinity
  )
  // A failure is not cached: the next request tries again.
  const signer = Effect.onError(cachedSigner, () => forget)
  const did = `did:web:${encodeURIComponent(new URL(baseUrl).host)}`

  const shown = Effect.fnUntraced(function* ({ id, jws }: StoredReceipt) {
    const receipt = yield* Effect.orDie(decodeReceipt(decodeJwt(jws)))
    return { receipt, url: `${baseUrl}/receipt/${id}`, jws }
  })

  return Receipts.of({
    issue: Effect.fn("Receipts.issue")(function* (payment, merchant) {
      const { reported, settledAt } = payment
      if (payment.status !== "settled" || reported === null || settledAt === null)
        return yield* new PaymentNotSettled()
      const issued = yield* repo.ofPayment(payment.id)
      if (Option.isSome(issued)) return yield* shown(issued.value)
      const { key, kid } = yield* signer
      const { chainId, usdc } = networks[payment.env]
      const id = Buffer.from(yield* random.randomBytes(18)).toString("base64url")
      const receipt: typeof Receipt.Encoded = {
        iss: baseUrl,
        jti: id,
        iat: Math.floor(settledAt.getTime() / 1000),
        paymentId: payment.id,
        refCode: payment.refCode,
        merchant,
        amount: formatUsd(payment.amount),
        currency: "USD",
        env: payment.env,
        settledAt: settledAt.toISOString(),
        payer: reported.evidence.payer,
        receiver: payment.receiver,
        transactionId: reported.evidence.transactionId,
        token: { address: usdc.address, chainId }
      }
      const jws = yield* Effect.promise(() =>
        new CompactSign(new TextEncoder().encode(JSON.stringify(receipt)))
          .setProtectedHeader({ alg: algorithm, kid, typ: "receipt+jws" })
          .sign(key)
      )
      return yield* shown(yield* repo.store(payment.id, { id, jws }, yield* DateTime.nowAsDate))
    }),
    read: Effect.fn("Receipts.read")(function* (id) {
      const stored = yield* repo.find(id)
      return Option.isNone(stored) ? Option.none() : Option.some(yield* shown(stored.value))
    }),
    signX402: Effect.fn("Receipts.signX402")(function* (payload) {
      const { key, kid } = yield* signer
      const canonical = JSON.stringify(payload, Object.keys(payload).sort())
      return yield* Effect.promise(() =>
        new CompactSign(new TextEncoder().encode(canonical))
          .setProtectedHeader({ alg: algorithm, kid: `${did}#${kid}` })
          .sign(key)
      )
    }),
    didDocument: Effect.map(repo.keys, (keys) => {
      const methods = keys.map(({ kid, publicJwk }) => ({
        id: `${did}#${kid}`,
        type: "JsonWebKey",
        controller: did,
        publicKeyJwk: decodeJwkJson(publicJwk)
      }))
      return {
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
        id: did,
        verificationMethod: methods,
        assertionMethod: methods.map((method) => method.id)
      }
    }),
    jwks: Effect.map(repo.keys, (keys) => `{"keys":[${keys.map(({ publicJwk }) => publicJwk).join(",")}]}`)
  })
})

export class Receipts extends Context.Service<
  Receipts,
  {
    /** The receipt of a settled payment. Each payment has exactly one. */
    readonly issue: (
      payment: ReceiptedPayment,
      merchant: string
    ) => Effect.Effect<SignedReceipt, PaymentNotSettled>
    readonly read: (id: string) => Effect.Effect<Option.Option<SignedReceipt>>
    /**
     * Signs a flat x402 offer or receipt in canonical form (RFC 8785) as a JWS, with a key that `didDocument` lists.
     */
    readonly signX402: (payload: Readonly<Record<string, string | number>>) => Effect.Effect<string>
    /** The public keys as a DID document (did:web). */
    readonly didDocument: Effect.Effect<object>
    /** The public keys (RFC 7517) as JSON. */
    readonly jwks: Effect.Effect<string>
  }
>()("quittance/payments/Receipts") {
  static readonly layer: Layer.Layer<
    Receipts,
    never,
    AppConfig | SqlClient.SqlClient | SecretBox | SecureRandom.SecureRandom
  > = Layer.effect(Receipts, make).pipe(Layer.provide(ReceiptRepo.layer))

  /** Signs receipts and stores none: none can be found again, and no key is published. */
  static readonly layerNone: Layer.Layer<Receipts, never, AppConfig | SecretBox | SecureRandom.SecureRandom> =
    Layer.effect(Receipts, make).pipe(Layer.provide(ReceiptRepo.layerNone))
}
