// The SQL of a merchant's profile and receiving addresses after its creation.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, toBytes } from "../chain/ChainBytes.ts"
import type { Address, Env } from "../domain/Chain.ts"
import type { Merchant, MerchantId } from "../domain/Merchant.ts"

export type Profile = Pick<Merchant, "name" | "logoUrl" | "identityAudience">

/** What a merchant asks of its buyers' tokens. What is left out stays as it is. */
export type TokenRules = Partial<Pick<Merchant, "boundTokensOnly" | "tokenLifetimeSeconds">>

export interface ReceiverChange {
  readonly before: Address
  readonly after: Address
}

const decodeReceivers = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ before: AddressBytes, after: AddressBytes }))
)

const decodeRules = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ boundTokensOnly: Schema.Boolean, tokenLifetimeSeconds: Schema.Int }))
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const assignments = (rules: TokenRules) => sql`
    bound_tokens_only = coalesce(${rules.boundTokensOnly ?? null}::boolean, bound_tokens_only),
    token_lifetime_seconds = coalesce(${rules.tokenLifetimeSeconds ?? null}::integer, token_lifetime_seconds)`
  const ruleColumns = sql`
    bound_tokens_only AS "boundTokensOnly", token_lifetime_seconds AS "tokenLifetimeSeconds"`

  return {
    /** The rules as they stand then; none where there is no such merchant. */
    updateProfile: Effect.fn("MerchantRepo.updateProfile")(function* (
      id: MerchantId,
      profile: Profile,
      rules: TokenRules = {}
    ) {
      const [row] = yield* decodeRules(
        yield* sql`
          UPDATE merchants SET name = ${profile.name}, logo_url = ${profile.logoUrl},
            identity_audience = ${profile.identityAudience}, ${assignments(rules)}
          WHERE id = ${id} RETURNING ${ruleColumns}`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie),

    /** As `updateProfile`, of the rules alone. */
    updateTokenRules: Effect.fn("MerchantRepo.updateTokenRules")(function* (
      id: MerchantId,
      rules: TokenRules
    ) {
      const [row] = yield* decodeRules(
        yield* sql`UPDATE merchants SET ${assignments(rules)} WHERE id = ${id} RETURNING ${ruleColumns}`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie),

    /** New intents name the new address; those that exist keep theirs. None where there is no such merchant. */
    changeReceiver: Effect.fn("MerchantRepo.changeReceiver")(function* (
      id: MerchantId,
      env: Env,
      receiver: Address
    ) {
      const column = sql.literal(env === "test" ? "receiver_test" : "receiver_live")
      const [row] = yield* decodeReceivers(
        yield* sql`
          WITH old AS (SELECT id, ${column} AS before FROM merchants WHERE id = ${id} FOR UPDATE)
          UPDATE merchants m SET ${column} = ${toBytes(receiver)} FROM old WHERE m.id = old.id
          RETURNING old.before, m.${column} AS after`
      )
      return Option.fromUndefinedOr<ReceiverChange | undefined>(row)
    }, Effect.orDie)
  }
})

export class MerchantRepo extends Context.Service<MerchantRepo, Effect.Success<typeof make>>()(
  "quittance/keys/MerchantRepo"
) {
  static readonly layer: Layer.Layer<MerchantRepo, never, SqlClient.SqlClient> = Layer.effect(
    MerchantRepo,
    make
  )
}
