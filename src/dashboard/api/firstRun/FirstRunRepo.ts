// The SQL of a merchant's progress through the first steps.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../../domain/Merchant.ts"

const Row = Schema.Struct({
  publishable_key: Schema.NullOr(Schema.String),
  used_key: Schema.Boolean,
  has_endpoint: Schema.Boolean,
  tried_playground: Schema.Boolean,
  paid: Schema.Boolean
})
const decodeRow = Schema.decodeUnknownEffect(Schema.Tuple([Row]))

/** A merchant with more payments has completed the steps, so older payments are not searched. */
const newest = 1_000

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    find: Effect.fn("FirstRunRepo.find")(function* ({ env, merchantId }: Tenant, playgroundUrl: string) {
      const [row] = yield* decodeRow(
        yield* sql`
          WITH newest AS (
            SELECT status, intent_url FROM payments WHERE merchant_id = ${merchantId} AND env = ${env}
            ORDER BY created_at DESC, id DESC LIMIT ${newest}
          )
          SELECT
            (SELECT public_key FROM api_keys
              WHERE merchant_id = ${merchantId} AND env = ${env} AND revoked_at IS NULL AND public_key IS NOT NULL
              ORDER BY created_at DESC LIMIT 1) AS publishable_key,
            EXISTS (SELECT FROM newest WHERE intent_url <> ${playgroundUrl}) OR EXISTS (SELECT FROM api_keys
              WHERE merchant_id = ${merchantId} AND env = ${env} AND kind = 'secret' AND last_used_at IS NOT NULL)
              AS used_key,
            EXISTS (SELECT FROM webhook_endpoints
              WHERE merchant_id = ${merchantId} AND env = ${env} AND deleted_at IS NULL) AS has_endpoint,
            EXISTS (SELECT FROM newest WHERE intent_url = ${playgroundUrl}) AS tried_playground,
            EXISTS (SELECT FROM newest WHERE status = 'settled') AS paid`
      )
      return row
    }, Effect.orDie)
  }
})

export class FirstRunRepo extends Context.Service<
  FirstRunRepo,
  {
    readonly find: (tenant: Tenant, playgroundUrl: string) => Effect.Effect<typeof Row.Type>
  }
>()("quittance/dashboard/FirstRunRepo") {
  static readonly layer: Layer.Layer<FirstRunRepo, never, SqlClient.SqlClient> = Layer.effect(
    FirstRunRepo,
    make
  )
}
