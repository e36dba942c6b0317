// The SQL of a merchant's profile and receiving addresses after its creation.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, toBytes } from "../chain/ChainBytes.ts"
import type { Address } from "../domain/Chain.ts"
import { type Merchant, MerchantId } from "../domain/Merchant.ts"
import { makeReceiverRepo, type ReceiverHolder, type ReceiverPlace } from "./ReceiverRepo.ts"

export type Profile = Pick<
  Merchant,
  "name" | "logoUrl" | "identityAudience" | "boundTokensOnly" | "tokenLifetimeSeconds"
>

/** A merchant's rules for its buyers' tokens. Omitted rules stay. */
export type TokenRules = Partial<Pick<Merchant, "boundTokensOnly" | "tokenLifetimeSeconds">>

export interface ReceiverChange {
  readonly before: Address
  readonly after: Address
  /** The time at which the change takes effect; none if it already has. */
  readonly dueAt: Option.Option<Date>
  /** The address of a pending change that ends because the current address was requested again. */
  readonly withdrawn: Option.Option<Address>
}

/** A change that takes effect later. */
export interface Wait {
  readonly id: string
  readonly userId: string
  readonly at: Date
  readonly dueAt: Date
}

/** The outcome of a change. Taken: the address belongs to another merchant. */
export type ReceiverOutcome =
  | { readonly _tag: "Changed"; readonly change: ReceiverChange }
  | { readonly _tag: "Taken"; readonly holder: ReceiverHolder }
  | { readonly _tag: "Unknown" }

const decodeReceivers = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: MerchantId, before: AddressBytes }))
)

const decodeEnded = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ address: AddressBytes })))

const decodeRules = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ boundTokensOnly: Schema.Boolean, tokenLifetimeSeconds: Schema.Int }))
)

const decodeProfiles = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      name: Schema.String,
      logoUrl: Schema.NullOr(Schema.String),
      identityAudience: Schema.NullOr(Schema.String),
      boundTokensOnly: Schema.Boolean,
      tokenLifetimeSeconds: Schema.Int
    })
  )
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const claims = yield* makeReceiverRepo

  const assignments = (rules: TokenRules) => sql`
    bound_tokens_only = coalesce(${rules.boundTokensOnly ?? null}::boolean, bound_tokens_only),
    token_lifetime_seconds = coalesce(${rules.tokenLifetimeSeconds ?? null}::integer, token_lifetime_seconds)`
  const ruleColumns = sql`
    bound_tokens_only AS "boundTokensOnly", token_lifetime_seconds AS "tokenLifetimeSeconds"`
  const profileColumns = sql`
    name, logo_url AS "logoUrl", identity_audience AS "identityAudience", ${ruleColumns}`

  return MerchantRepo.of({
    updateProfile: Effect.fn("MerchantRepo.updateProfile")(function* (id, change, was = {}) {
      const { identityAudience, logoUrl } = change
      const [updated] = yield* decodeProfiles(
        yield* sql`
          UPDATE merchants SET
            name = coalesce(${change.name ?? null}::text, name),
            logo_url = CASE WHEN ${logoUrl === undefined} THEN logo_url ELSE ${logoUrl ?? null}::text END,
            identity_audience = CASE WHEN ${identityAudience === undefined} THEN identity_audience
              ELSE ${identityAudience ?? null}::text END,
            ${assignments(change)}
          WHERE id = ${id}
            AND name = coalesce(${was.name ?? null}::text, name)
            AND (${was.logoUrl === undefined} OR logo_url IS NOT DISTINCT FROM ${was.logoUrl ?? null}::text)
            AND (${was.identityAudience === undefined}
              OR identity_audience IS NOT DISTINCT FROM ${was.identityAudience ?? null}::text)
            AND bound_tokens_only = coalesce(${was.boundTokensOnly ?? null}::boolean, bound_tokens_only)
            AND token_lifetime_seconds = coalesce(${was.tokenLifetimeSeconds ?? null}::integer, token_lifetime_seconds)
          RETURNING ${profileColumns}`
      )
      if (updated !== undefined) return Option.some({ profile: updated, updated: true })
      const [profile] = yield* decodeProfiles(
        yield* sql`SELECT ${profileColumns} FROM merchants WHERE id = ${id}`
      )
      return Option.map(Option.fromUndefinedOr(profile), (now) => ({ profile: now, updated: false }))
    }, Effect.orDie),

    updateTokenRules: Effect.fn("MerchantRepo.updateTokenRules")(function* (id, rules) {
      const [row] = yield* decodeRules(
        yield* sql`UPDATE merchants SET ${assignments(rules)} WHERE id = ${id} RETURNING ${ruleColumns}`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie),

    changeReceiver: (place, { holder, wait }) =>
      sql
        .withTransaction(
          Effect.gen(function* (): Effect.fn.Return<ReceiverOutcome, unknown> {
            const { merchantId, env, address } = place
            const column = sql.literal(`receiver_${env}`)
            // Locks in a fixed order, because two merchants may claim each other's address at the same time.
            const rows = yield* decodeReceivers(
              yield* sql`
                SELECT id, ${column} AS before FROM merchants
                WHERE id = ANY (${[merchantId, holder?.merchantId ?? merchantId]}::uuid[]) ORDER BY id FOR UPDATE`
            )
            const row = rows.find(({ id }) => id === merchantId)
            if (row === undefined) return { _tag: "Unknown" }
            if (holder === undefined || !(yield* claims.take(place, holder))) {
              const other = yield* claims.claim(place)
              if (Option.isSome(other)) return { _tag: "Taken", holder: other.value }
            }
            const waits = Option.filter(wait, () => row.before !== address)
            // Requesting the current address withdraws the pending change.
            const [ended] = yield* decodeEnded(
              yield* sql`
                UPDATE receiver_changes
                SET ended_at = now(), outcome = ${row.before === address ? "withdrawn" : "replaced"}
                WHERE merchant_id = ${merchantId} AND env = ${env} AND ended_at IS NULL
                RETURNING address`
            )
            yield* Option.match(waits, {
              onNone: () => sql`
                UPDATE merchants SET ${column} = ${toBytes(address)},
                  moved_receivers = array_remove(moved_receivers, ${env}::text)
                WHERE id = ${merchantId}`,
              onSome: ({ at, dueAt, id, userId }) => sql`
                INSERT INTO receiver_changes
                  (id, merchant_id, env, address, requested_by, requested_at, due_at)
                VALUES (${id}, ${merchantId}, ${env}, ${toBytes(address)}, ${userId}, ${at}, ${dueAt})`
            })
            if (holder !== undefined) {
              yield* sql`
                UPDATE merchants
                SET moved_receivers = array_append(array_remove(moved_receivers, ${env}::text), ${env}::text)
                WHERE id = ${holder.merchantId} AND id <> ${merchantId} AND ${column} = ${toBytes(address)}`
            }
            return {
              _tag: "Changed",
              change: {
                before: row.before,
                after: address,
                dueAt: Option.map(waits, ({ dueAt }) => dueAt),
                withdrawn:
                  row.before === address
                    ? Option.map(Option.fromUndefinedOr(ended), (change) => change.address)
                    : Option.none()
              }
            }
          })
        )
        .pipe(Effect.orDie, Effect.withSpan("MerchantRepo.changeReceiver"))
  })
})

export class MerchantRepo extends Context.Service<
  MerchantRepo,
  {
    /**
     * Updates the profile and returns it; none if the merchant does not exist. Omitted fields stay. Nothing is
     * updated if a field no longer has its expected value `was`.
     */
    readonly updateProfile: (
      id: MerchantId,
      change: Partial<Profile>,
      was?: Partial<Profile>
    ) => Effect.Effect<Option.Option<{ readonly profile: Profile; readonly updated: boolean }>>
    /** Returns the new rules; none if the merchant does not exist. */
    readonly updateTokenRules: (
      id: MerchantId,
      rules: TokenRules
    ) => Effect.Effect<Option.Option<Required<TokenRules>>>
    /**
     * Takes the address from `holder` if given; otherwise it must be unused or the merchant's own. Replaces a
     * pending change.
     */
    readonly changeReceiver: (
      place: ReceiverPlace,
      change: { readonly holder?: ReceiverHolder; readonly wait: Option.Option<Wait> }
    ) => Effect.Effect<ReceiverOutcome>
  }
>()("quittance/merchants/MerchantRepo") {
  static readonly layer: Layer.Layer<MerchantRepo, never, SqlClient.SqlClient> = Layer.effect(
    MerchantRepo,
    make
  )
}
