// Issues merchants and their keys, and looks up the key of every request. Nothing is cached, so every instance rejects
// a revoked key at once.
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { type Address, Env } from "../../domain/Chain.ts"
import { InvalidApiKey, ReceiverTaken } from "../../domain/Errors.ts"
import {
  type ApiKey,
  defaultTokenLifetime,
  type Merchant,
  MerchantId,
  type Principal
} from "../../domain/Merchant.ts"
import { startPeriodic } from "../../platform/workers/startWorker.ts"
import { issueKey, type KeyTerms } from "./issueKey.ts"
import { hashKey, parseKey } from "./KeyAuth/KeyFormat.ts"
import { KeyRepo, type NewKey } from "./KeyAuth/KeyRepo.ts"

export interface NewMerchant {
  readonly name: string
  readonly receivers: { readonly [E in Env]: Address }
  readonly logoUrl?: string
  readonly identityAudience?: string
  readonly boundTokensOnly?: boolean
  readonly tokenLifetimeSeconds?: number
}

/** The first keys of a merchant. Its secret keys have full access. Shown once. */
export type FirstKeys = {
  readonly [E in Env]: { readonly secret: string; readonly publishable: string }
}

export interface IssuedKey {
  readonly id: string
  /** The whole key, shown once. */
  readonly key: string
}

export class KeyAuth extends Context.Service<
  KeyAuth,
  {
    /** The principal of a current key. Missing, malformed, unknown and revoked keys fail the same way. */
    readonly authenticate: (key: string) => Effect.Effect<Principal, InvalidApiKey>
    /** Creates a merchant and claims its receiving addresses: no other merchant gets them. */
    readonly createMerchant: (
      merchant: NewMerchant
    ) => Effect.Effect<{ readonly merchant: Merchant; readonly keys: FirstKeys }, ReceiverTaken>
    /** Like `createMerchant`, with only test keys. */
    readonly createTestMerchant: (
      merchant: NewMerchant
    ) => Effect.Effect<{ readonly merchant: Merchant; readonly keys: Pick<FirstKeys, "test"> }, ReceiverTaken>
    readonly createKey: (merchantId: MerchantId, key: KeyTerms) => Effect.Effect<IssuedKey>
    /** Atomically replaces a key by its successor. None if the key is unknown, revoked or an agent's. */
    readonly rotateKey: (merchantId: MerchantId, keyId: string) => Effect.Effect<Option.Option<IssuedKey>>
    /** True if there was a current key to revoke. */
    readonly revokeKey: (merchantId: MerchantId, keyId: string) => Effect.Effect<boolean>
    /** True if there was a current key to name; null removes its name. */
    readonly nameKey: (merchantId: MerchantId, keyId: string, name: string | null) => Effect.Effect<boolean>
    readonly listKeys: (merchantId: MerchantId) => Effect.Effect<ReadonlyArray<ApiKey>>
    readonly listMerchants: Effect.Effect<ReadonlyArray<Merchant>>
  }
>()("quittance/merchants/KeyAuth") {
  static readonly layer: Layer.Layer<KeyAuth, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =
    Layer.effect(
      KeyAuth,
      Effect.gen(function* () {
        const repo = yield* KeyRepo
        const issue = yield* makeIssuer

        const used = new Set<string>()
        const flushUsed = Effect.gen(function* () {
          if (used.size === 0) return
          const ids = [...used]
          used.clear()
          yield* repo.touchKeys(ids, yield* DateTime.nowAsDate)
        })
        // Stores the collected times on shutdown, or a rarely used key would look unused.
        yield* Effect.addFinalizer(() => flushUsed.pipe(Effect.timeout("1 second"), Effect.ignoreCause))
        yield* startPeriodic("Storing last-used times of keys", Effect.sleep("30 seconds"), flushUsed, "Warn")

        const authenticate = (key: string) => {
          if (parseKey(key) === undefined) return Effect.fail(new InvalidApiKey())
          return Effect.flatMap(repo.findPrincipal(key), (principal) => {
            if (Option.isNone(principal)) return Effect.fail(new InvalidApiKey())
            used.add(principal.value.keyId)
            return Effect.succeed(principal.value)
          })
        }

        return KeyAuth.of({
          authenticate,
          createMerchant: Effect.fn("KeyAuth.createMerchant")(function* (input) {
            const merchant = yield* issue.merchant(input)
            const test = yield* issue.keys("test")
            const live = yield* issue.keys("live")
            const newKeys = [...test.newKeys, ...live.newKeys]
            yield* repo.insertMerchant(merchant, newKeys, yield* DateTime.nowAsDate)
            return { merchant, keys: { test: test.keys, live: live.keys } }
          }),
          createTestMerchant: Effect.fn("KeyAuth.createTestMerchant")(function* (input) {
            const merchant = yield* issue.merchant(input)
            const { keys, newKeys } = yield* issue.keys("test")
            yield* repo.insertMerchant(merchant, newKeys, yield* DateTime.nowAsDate)
            return { merchant, keys: { test: keys } }
          }),
          createKey: Effect.fn("KeyAuth.createKey")(function* (merchantId, input) {
            const { key, newKey } = yield* issue.key(input)
            yield* repo.insertKey(merchantId, newKey, yield* DateTime.nowAsDate)
            return { id: newKey.id, key }
          }),
          rotateKey: Effect.fn("KeyAuth.rotateKey")(function* (merchantId, keyId) {
            const old = (yield* repo.findKeys(merchantId)).find((key) => key.id === keyId)
            if (old === undefined) return Option.none()
            const { key, newKey } = yield* issue.key(old)
            const replaced = yield* repo.replaceKey(merchantId, keyId, newKey, yield* DateTime.nowAsDate)
            return replaced ? Option.some({ id: newKey.id, key }) : Option.none()
          }),
          revokeKey: Effect.fn("KeyAuth.revokeKey")(function* (merchantId, keyId) {
            return yield* repo.revokeKey(merchantId, keyId, yield* DateTime.nowAsDate)
          }),
          nameKey: repo.nameKey,
          listKeys: repo.findKeys,
          listMerchants: repo.findMerchants()
        })
      })
    ).pipe(Layer.provide(KeyRepo.layer))

  /** Merchants and keys in memory. */
  static readonly layerMemory: Layer.Layer<KeyAuth, never, SecureRandom.SecureRandom> = Layer.effect(
    KeyAuth,
    Effect.gen(function* () {
      const issue = yield* makeIssuer
      const merchants = new Map<string, Merchant>()
      const receivers = new Set<string>()
      const keys = new Map<string, { merchant: Merchant; hash: string; key: ApiKey }>()

      const store = (merchant: Merchant, newKey: NewKey, at: Date) =>
        keys.set(newKey.id, {
          merchant,
          hash: newKey.hash.toHex(),
          key: { ...newKey, createdAt: at, lastUsedAt: null, revokedAt: null }
        })
      const insert = Effect.fnUntraced(function* (merchant: Merchant, newKeys: ReadonlyArray<NewKey>) {
        const at = yield* DateTime.nowAsDate
        const places = Env.literals.map((env) => `${env} ${merchant.receivers[env]}`)
        if (places.some((place) => receivers.has(place))) return yield* new ReceiverTaken()
        for (const place of places) receivers.add(place)
        merchants.set(merchant.id, merchant)
        for (const newKey of newKeys) store(merchant, newKey, at)
      })
      const current = (merchantId: MerchantId, keyId: string) => {
        const stored = keys.get(keyId)
        return stored?.merchant.id === merchantId && stored.key.revokedAt === null ? stored : undefined
      }
      const revoke = (keyId: string, at: Date) => {
        const stored = keys.get(keyId)
        if (stored !== undefined) keys.set(keyId, { ...stored, key: { ...stored.key, revokedAt: at } })
      }

      return KeyAuth.of({
        authenticate: Effect.fnUntraced(function* (key) {
          const hash = parseKey(key) === undefined ? "" : hashKey(key).toHex()
          const stored = [...keys.values()].find(
            (entry) => entry.hash === hash && entry.key.revokedAt === null
          )
          if (stored === undefined) return yield* new InvalidApiKey()
          const { id, kind, env, permission } = stored.key
          return { keyId: id, kind, env, permission, merchant: stored.merchant }
        }),
        createMerchant: Effect.fnUntraced(function* (input) {
          const merchant = yield* issue.merchant(input)
          const test = yield* issue.keys("test")
          const live = yield* issue.keys("live")
          yield* insert(merchant, [...test.newKeys, ...live.newKeys])
          return { merchant, keys: { test: test.keys, live: live.keys } }
        }),
        createTestMerchant: Effect.fnUntraced(function* (input) {
          const merchant = yield* issue.merchant(input)
          const { keys: issued, newKeys } = yield* issue.keys("test")
          yield* insert(merchant, newKeys)
          return { merchant, keys: { test: issued } }
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
          if (old === undefined || old.key.kind === "agent") return Option.none()
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
        nameKey: (merchantId, keyId, name) =>
          Effect.sync(() => {
            const stored = current(merchantId, keyId)
            if (stored !== undefined) keys.set(keyId, { ...stored, key: { ...stored.key, name } })
            return stored !== undefined
          }),
        listKeys: (merchantId) =>
          Effect.sync(() =>
            [...keys.values()].filter((entry) => entry.merchant.id === merchantId).map((entry) => entry.key)
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
    return {
      id: MerchantId.make(yield* random.uuidV7()),
      name: input.name,
      logoUrl: input.logoUrl ?? null,
      receivers: input.receivers,
      identityAudience: input.identityAudience ?? null,
      boundTokensOnly: input.boundTokensOnly ?? false,
      tokenLifetimeSeconds: input.tokenLifetimeSeconds ?? defaultTokenLifetime
    } satisfies Merchant
  })

  const keys = Effect.fnUntraced(function* (env: Env) {
    const secret = yield* key({ kind: "secret", env, permission: "manage" })
    const publishable = yield* key({ kind: "publishable", env, permission: "read" })
    return {
      keys: { secret: secret.key, publishable: publishable.key },
      newKeys: [secret.newKey, publishable.newKey]
    }
  })

  return { key, keys, merchant }
})
