// The SQL of merchants and API keys.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { addressFromBytes, toBytes } from "../../../chain/ChainBytes.ts"
import { Env } from "../../../domain/Chain.ts"
import { ReceiverTaken } from "../../../domain/Errors.ts"
import {
  type ApiKey,
  KeyKind,
  type Merchant,
  MerchantId,
  Permission,
  type Principal,
  Uuid
} from "../../../domain/Merchant.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { batched } from "../../../platform/database/batched.ts"
import { makeReceiverRepo } from "../../ReceiverRepo.ts"
import { hashKey } from "./KeyFormat.ts"

const MerchantRow = Schema.Struct({
  merchant_id: MerchantId,
  name: Schema.String,
  logo_url: Schema.NullOr(Schema.String),
  receiver_test: Schema.Uint8Array,
  receiver_live: Schema.Uint8Array,
  moved_receivers: Schema.Array(Env),
  identity_audience: Schema.NullOr(Schema.String),
  bound_tokens_only: Schema.Boolean,
  token_lifetime_seconds: Schema.Int
})

const toMerchant = (row: typeof MerchantRow.Type): Merchant => ({
  id: row.merchant_id,
  name: row.name,
  logoUrl: row.logo_url,
  receivers: { test: addressFromBytes(row.receiver_test), live: addressFromBytes(row.receiver_live) },
  ...(row.moved_receivers.length === 0 ? {} : { movedReceivers: row.moved_receivers }),
  identityAudience: row.identity_audience,
  boundTokensOnly: row.bound_tokens_only,
  tokenLifetimeSeconds: row.token_lifetime_seconds
})

const PrincipalRow = Schema.Struct({
  ...MerchantRow.fields,
  hash: Schema.Uint8Array,
  id: Uuid,
  kind: KeyKind,
  env: Env,
  permission: Permission
})

const toPrincipal = (row: typeof PrincipalRow.Type): Principal => ({
  keyId: row.id,
  kind: row.kind,
  env: row.env,
  permission: row.permission,
  merchant: toMerchant(row)
})

const KeyRow = Schema.Struct({
  id: Uuid,
  kind: KeyKind,
  env: Env,
  permission: Permission,
  prefix: Schema.String,
  last_four: Schema.String,
  name: Schema.NullOr(Schema.String),
  public_key: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  last_used_at: Schema.NullOr(Schema.Date),
  revoked_at: Schema.NullOr(Schema.Date)
})

const toApiKey = (row: typeof KeyRow.Type): ApiKey => ({
  id: row.id,
  kind: row.kind,
  env: row.env,
  permission: row.permission,
  prefix: row.prefix,
  lastFour: row.last_four,
  name: row.name,
  publicKey: row.public_key,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at
})

/** The interval in which only one instance writes a key's last use. */
const touchMillis = 60_000

/** A key to be stored: everything but its secret part. */
export interface NewKey {
  readonly id: string
  readonly kind: KeyKind
  readonly env: Env
  readonly permission: Permission
  readonly hash: Uint8Array
  readonly prefix: string
  readonly lastFour: string
  readonly name: string | null
  /** The whole key, only for a publishable key. */
  readonly publicKey: string | null
}

// The service wrote these rows and their constraints hold, so types are parsed but checks are not repeated.
const decodePrincipals = Schema.decodeUnknownEffect(Schema.Array(PrincipalRow), { disableChecks: true })
const decodeKeys = Schema.decodeUnknownEffect(Schema.Array(KeyRow))
const decodeMerchants = Schema.decodeUnknownEffect(Schema.Array(MerchantRow))

const makeKeyRepo = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const claims = yield* makeReceiverRepo

  const findPrincipals = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
    const hashed = [...new Set(keys)].map((key) => ({ key, hash: hashKey(key) }))
    const keyOf = new Map(hashed.map(({ hash, key }) => [hash.toHex(), key]))
    // By SELECT, because a plan that depends on the number of keys would be made again for each request.
    const rows = yield* sql`
      SELECT k.hash, k.id, k.kind, k.env, k.permission, m.id AS merchant_id, m.name, m.logo_url,
        m.receiver_test, m.receiver_live, m.moved_receivers, m.identity_audience, m.bound_tokens_only,
        m.token_lifetime_seconds
      FROM api_keys k JOIN merchants m ON m.id = k.merchant_id
      WHERE k.hash = ANY((SELECT ${hashed.map(({ hash }) => hash)}::bytea[])::bytea[]) AND k.revoked_at IS NULL`
    const principals = new Map(
      (yield* decodePrincipals(rows)).map((row) => [keyOf.get(row.hash.toHex()), toPrincipal(row)])
    )
    return keys.map((key) => Option.fromUndefinedOr(principals.get(key)))
  }, Effect.orDie)

  /** The principal of a current key. One statement serves all requests of an event-loop turn. */
  const findPrincipal = yield* batched(findPrincipals)

  const insertKey = Effect.fn("KeyRepo.insertKey")(function* (merchantId: MerchantId, key: NewKey, at: Date) {
    yield* sql`
      INSERT INTO api_keys
        (id, merchant_id, kind, env, permission, hash, prefix, last_four, name, public_key, created_at)
      VALUES (${key.id}, ${merchantId}, ${key.kind}, ${key.env}, ${key.permission}, ${key.hash},
        ${key.prefix}, ${key.lastFour}, ${key.name}, ${key.publicKey}, ${at})`
  }, Effect.orDie)

  /** Inserts the merchant with its first keys and receiving addresses: all or nothing. */
  const insertMerchant = Effect.fn("KeyRepo.insertMerchant")(
    (merchant: Merchant, keys: ReadonlyArray<NewKey>, at: Date) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`
          INSERT INTO merchants (id, name, logo_url, receiver_test, receiver_live, identity_audience,
            bound_tokens_only, token_lifetime_seconds, created_at)
          VALUES (${merchant.id}, ${merchant.name}, ${merchant.logoUrl}, ${toBytes(merchant.receivers.test)},
            ${toBytes(merchant.receivers.live)}, ${merchant.identityAudience}, ${merchant.boundTokensOnly},
            ${merchant.tokenLifetimeSeconds}, ${at})`
            for (const key of keys) yield* insertKey(merchant.id, key, at)
            for (const env of Env.literals) {
              const address = merchant.receivers[env]
              const holder = yield* claims.claim({ merchantId: merchant.id, env, address })
              if (Option.isSome(holder)) return yield* new ReceiverTaken()
            }
          })
        )
        .pipe(Effect.catchIf((error) => !(error instanceof ReceiverTaken), Effect.die))
  )

  /** Revokes a key and stores its successor in one statement. False if there was nothing to revoke. */
  const replaceKey = Effect.fn("KeyRepo.replaceKey")(function* (
    merchantId: MerchantId,
    keyId: string,
    successor: Pick<NewKey, "id" | "hash" | "lastFour" | "publicKey">,
    at: Date
  ) {
    const rows = yield* sql`
      WITH revoked AS (
        UPDATE api_keys SET revoked_at = ${at}
        WHERE id = ${keyId} AND merchant_id = ${merchantId} AND revoked_at IS NULL AND kind <> 'agent'
        RETURNING kind, env, permission, prefix, name
      )
      INSERT INTO api_keys
        (id, merchant_id, kind, env, permission, hash, prefix, last_four, name, public_key, created_at)
      SELECT ${successor.id}, ${merchantId}, kind, env, permission, ${successor.hash}, prefix,
        ${successor.lastFour}, name, ${successor.publicKey}::text, ${at}::timestamptz
      FROM revoked
      RETURNING id`
    return rows.length > 0
  }, Effect.orDie)

  /** An agent ends with its key. Its row is locked first, in the same order as revoking the agent. */
  const revokeKey = Effect.fn("KeyRepo.revokeKey")(function* (
    merchantId: MerchantId,
    keyId: string,
    at: Date
  ) {
    const rows = yield* sql`
      WITH revoked_agent AS (
        UPDATE agents SET status = 'revoked', updated_at = ${at}
        WHERE key_id = ${keyId} AND merchant_id = ${merchantId} AND status <> 'revoked' RETURNING id
      )
      UPDATE api_keys SET revoked_at = ${at}
      WHERE id = ${keyId} AND merchant_id = ${merchantId} AND revoked_at IS NULL
        AND (SELECT count(*) FROM revoked_agent) >= 0
      RETURNING id`
    return rows.length > 0
  }, Effect.orDie)

  const nameKey = Effect.fn("KeyRepo.nameKey")(function* (
    merchantId: MerchantId,
    keyId: string,
    name: string | null
  ) {
    const rows = yield* sql`
      UPDATE api_keys SET name = ${name}
      WHERE id = ${keyId} AND merchant_id = ${merchantId} AND revoked_at IS NULL RETURNING id`
    return rows.length > 0
  }, Effect.orDie)

  const findKeys = Effect.fn("KeyRepo.findKeys")(function* (merchantId: MerchantId) {
    const rows = yield* sql`
      SELECT id, kind, env, permission, prefix, last_four, name, public_key, created_at, last_used_at, revoked_at
      FROM api_keys WHERE merchant_id = ${merchantId} ORDER BY created_at, id`
    return (yield* decodeKeys(rows)).map(toApiKey)
  }, Effect.orDie)

  const findMerchants = Effect.fn("KeyRepo.findMerchants")(function* () {
    const rows = yield* sql`
      SELECT id AS merchant_id, name, logo_url, receiver_test, receiver_live, moved_receivers, identity_audience,
        bound_tokens_only, token_lifetime_seconds
      FROM merchants ORDER BY created_at, id`
    return (yield* decodeMerchants(rows)).map(toMerchant)
  }, Effect.orDie)

  const touchKeys = Effect.fnUntraced(function* (keyIds: ReadonlyArray<string>, at: Date) {
    yield* sql`
      UPDATE api_keys SET last_used_at = ${at}
      WHERE id = ANY(${keyIds}::uuid[])
        AND (last_used_at IS NULL OR last_used_at <= ${plusMillis(at, -touchMillis)})`
  }, Effect.orDie)

  return {
    findPrincipal,
    insertMerchant,
    insertKey,
    replaceKey,
    revokeKey,
    nameKey,
    findKeys,
    findMerchants,
    touchKeys
  }
})

export class KeyRepo extends Context.Service<KeyRepo, Effect.Success<typeof makeKeyRepo>>()(
  "quittance/merchants/KeyRepo"
) {
  static readonly layer: Layer.Layer<KeyRepo, never, SqlClient.SqlClient> = Layer.effect(KeyRepo, makeKeyRepo)
}
