// Who is calling. Merchants and their keys are issued here and every request's
// key is looked up here: never cached, so that a revoked key dies at once everywhere.
import { Context, DateTime, Effect, Layer, Option, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Address } from "../domain/Chain.ts"
import { InvalidApiKey } from "../domain/Errors.ts"
import {
  type ApiKey,
  defaultTokenLifetime,
  type Merchant,
  MerchantId,
  type Principal
} from "../domain/Merchant.ts"
import { issueKey, type KeyTerms } from "./issueKey.ts"
import { hashKey, parseKey } from "./KeyFormat.ts"
import { makeKeyRepo, type NewKey } from "./KeyRepo.ts"

export interface NewMerchant {
  readonly name: string
  readonly receivers: { readonly test: Address; readonly live: Address }
  readonly logoUrl?: string
  readonly identityAudience?: string
  readonly boundTokensOnly?: boolean
  readonly tokenLifetimeSeconds?: number
}

/** The keys a merchant starts with. Secret keys have full access. Shown once. */
export interface FirstKeys {
  readonly test: { readonly secret: string; readonly publishable: string }
  readonly live: { readonly secret: string; readonly publishable: string }
}

export interface IssuedKey {
  readonly id: string
  /** The whole key, shown once. */
  readonly key: string
}

export class KeyAuth extends Context.Service<
  KeyAuth,
  {
    /** The principal of a current key. One answer for missing, malformed, unknown and revoked keys. */
    readonly authenticate: (key: string) => Effect.Effect<Principal, InvalidApiKey>
    readonly createMerchant: (
      merchant: NewMerchant
    ) => Effect.Effect<{ readonly merchant: Merchant; readonly keys: FirstKeys }>
    readonly createKey: (merchantId: MerchantId, key: KeyTerms) => Effect.Effect<IssuedKey>
    /** Revokes a key and issues its successor at once. None where the key is unknown or revoked. */
    readonly rotateKey: (merchantId: MerchantId, keyId: string) => Effect.Effect<Option.Option<IssuedKey>>
    /** Whether there was a current key to revoke. */
    readonly revokeKey: (merchantId: MerchantId, keyId: string) => Effect.Effect<boolean>
    readonly listKeys: (merchantId: MerchantId) => Effect.Effect<ReadonlyArray<ApiKey>>
    readonly listMerchants: Effect.Effect<ReadonlyArray<Merchant>>
  }
>()("quittance/keys/KeyAuth") {
  static readonly layer: Layer.Layer<KeyAuth, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =
    Layer.effect(
      KeyAuth,
      Effect.gen(function* () {
        const repo = yield* makeKeyRepo
        const issue = yield* makeIssuer

        const used = new Set<string>()
        const flushUsed = Effect.gen(function* () {
          if (used.size === 0) return
          const ids = [...used]
          used.clear()
          yield* repo.touchKeys(ids, yield* DateTime.nowAsDate)
        })
        yield* flushUsed.pipe(
          Effect.catchCause((cause) => Effect.logWarning("Key use times were not stored", cause)),
          Effect.repeat(Schedule.spaced("30 seconds")),
          Effect.forkScoped
        )

        const authenticate = Effect.fnUntraced(function* (key: string) {
          if (parseKey(key) === undefined) return yield* new InvalidApiKey()
          const principal = yield* repo.findPrincipal(key)
          if (Option.isNone(principal)) return yield* new InvalidApiKey()
          used.add(principal.value.keyId)
          return principal.value
        })

        return KeyAuth.of({
          authenticate,
          createMerchant: Effect.fn("KeyAuth.createMerchant")(function* (input) {
            const made = yield* issue.merchant(input)
            yield* repo.insertMerchant(made.merchant, made.newKeys, yield* DateTime.nowAsDate)
            return { merchant: made.merchant, keys: made.keys }
          }),
          createKey: Effect.fn("KeyAuth.createKey")(function* (merchantId, input) {
            const { key, newKey } = yield* issue.key(input)
            yield* repo.insertKey(merchantId, newKey, yield* DateTime.nowAsDate)
            return { id: newKey.id, key }
          }),
          rotateKey: Effect.fn("KeyAuth.rotateKey")(function* (merchantId, keyId) {
            const old = (yield* repo.findKeys(merchantId)).find((one) => one.id === keyId)
            if (old === undefined) return Option.none()
            const { key, newKey } = yield* issue.key(old)
            const replaced = yield* repo.replaceKey(merchantId, keyId, newKey, yield* DateTime.nowAsDate)
            return replaced ? Option.some({ id: newKey.id, key }) : Option.none()
          }),
          revokeKey: Effect.fn("KeyAuth.revokeKey")(function* (merchantId, keyId) {
            return yield* repo.revokeKey(merchantId, keyId, yield* DateTime.nowAsDate)
          }),
          listKeys: repo.findKeys,
          listMerchants: repo.findMerchants()
        })
      })
    )

  /** Merchants and keys in this process, gone with it. */
  static readonly layerMemory: Layer.Layer<KeyAuth, never, SecureRandom.SecureRandom> = Layer.effect(
    KeyAuth,
    Effect.gen(function* () {
      const issue = yield* makeIssuer
      const merchants = new Map<string, Merchant>()
      const keys = new Map<string, { merchant: Merchant; hash: string; key: ApiKey }>()

      const store = (merchant: Merchant, newKey: NewKey, at: Date) =>
        keys.set(newKey.id, {
          merchant,
          hash: Buffer.from(newKey.hash).toString("hex"),
          key: { ...newKey, createdAt: at, lastUsedAt: null, revokedAt: null }
        })
      const current = (merchantId: MerchantId, keyId: string) => {
        const found = keys.get(keyId)
        return found?.merchant.id === merchantId && found.key.revokedAt === null ? found : undefined
      }
      const revoke = (keyId: string, at: Date) => {
        const found = keys.get(keyId)
        if (found !== undefined) keys.set(keyId, { ...found, key: { ...found.key, revokedAt: at } })
      }

      return KeyAuth.of({
        authenticate: Effect.fnUntraced(function* (key) {
          const hash = parseKey(key) === undefined ? "" : Buffer.from(hashKey(key)).toString("hex")
          const found = [...keys.values()].find((one) => one.hash === hash && one.key.revokedAt === null)
          if (found === undefined) return yield* new InvalidApiKey()
          const { id, kind, env, permission } = found.key
          return { keyId: id, kind, env, permission, merchant: found.merchant }
        }),
        createMerchant: Effect.fnUntraced(function* (input) {
          const made = yield* issue.merchant(input)
          const at = yield* DateTime.nowAsDate
          merchants.set(made.merchant.id, made.merchant)
          for (const newKey of made.newKeys) store(made.merchant, newKey, at)
          return { merchant: made.merchant, keys: made.keys }
        }),
        createKey: Effect.fnUntraced(function* (merchantId, input) {
          const { key, newKey } = yield* issue.key(input)
          const merchant = merchants.get(merchantId)
          if (merchant === undefined) return yield* Effect.die(new Error(`No merchant ${merchantId}`))
          store(merchant, newKey, yield* DateTime.nowAsDate)
          return { id: newKey.id, key }
        }),
        rotateKey: Effect.fnUntraced(function* (merchantId, keyId) {
          const old = current(merchantId, keyId)
          if (old === undefined) return Option.none()
          const { key, newKey } = yield* issue.key(old.key)
          const at = yield* DateTime.nowAsDate
          revoke(keyId, at)
          store(old.merchant, newKey, at)
          return Option.some({ id: newKey.id, key })
        }),
        revokeKey: Effect.fnUntraced(function* (merchantId, keyId) {
          const at = yield* DateTime.nowAsDate
          if (current(merchantId, keyId) === undefined) return false
          revoke(keyId, at)
          return true
        }),
        listKeys: (merchantId) =>
          Effect.sync(() =>
            [...keys.values()].filter((one) => one.merchant.id === merchantId).map((one) => one.key)
          ),
        listMerchants: Effect.sync(() => [...merchants.values()])
      })
    })
  )
}

const makeIssuer = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom

  const key = (input: KeyTerms) => Effect.provideService(issueKey(input), SecureRandom.SecureRandom, random)

  const merchant = Effect.fnUntraced(function* (input: NewMerchant) {
    const made: Merchant = {
      id: MerchantId.make(yield* random.uuidV7()),
      name: input.name,
      logoUrl: input.logoUrl ?? null,
      receivers: input.receivers,
      identityAudience: input.identityAudience ?? null,
      boundTokensOnly: input.boundTokensOnly ?? false,
      tokenLifetimeSeconds: input.tokenLifetimeSeconds ?? defaultTokenLifetime
    }
    const testSecret = yield* key({ kind: "secret", env: "test", permission: "manage" })
    const testPublishable = yield* key({ kind: "publishable", env: "test", permission: "read" })
    const liveSecret = yield* key({ kind: "secret", env: "live", permission: "manage" })
    const livePublishable = yield* key({ kind: "publishable", env: "live", permission: "read" })
    const keys: FirstKeys = {
      test: { secret: testSecret.key, publishable: testPublishable.key },
      live: { secret: liveSecret.key, publishable: livePublishable.key }
    }
    const newKeys = [testSecret, testPublishable, liveSecret, livePublishable].map((one) => one.newKey)
    return { merchant: made, keys, newKeys }
  })

  return { key, merchant }
})
