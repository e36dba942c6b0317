// The SQL of merchants' own limits by finality level.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Finality } from "../../domain/Finality.ts"
import type { Tenant } from "../../domain/Merchant.ts"

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ finality: Finality, up_to: Schema.BigIntFromString }))
)

export class SettlementLimitRepo extends Context.Service<
  SettlementLimitRepo,
  {
    /** Atomic USDC, for the levels that have a limit. */
    readonly limits: (tenant: Tenant) => Effect.Effect<{ readonly [F in Finality]?: bigint }>
    /** Null removes the limit. */
    readonly set: (tenant: Tenant, finality: string, upTo: bigint | null) => Effect.Effect<void>
  }
>()("quittance/merchants/SettlementLimitRepo") {
  static readonly layer: Layer.Layer<SettlementLimitRepo, never, SqlClient.SqlClient> = Layer.effect(
    SettlementLimitRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      limits: Effect.fn("SettlementLimitRepo.limits")(function* ({ env, merchantId }: Tenant) {
        const rows = yield* decodeRows(
          yield* sql`
            SELECT finality, up_to::text AS up_to FROM merchant_settlement_limits
            WHERE merchant_id = ${merchantId} AND env = ${env}`
        )
        return Object.fromEntries(rows.map((row) => [row.finality, row.up_to]))
      }, Effect.orDie),
      set: Effect.fn("SettlementLimitRepo.set")(function* ({ env, merchantId }: Tenant, finality, upTo) {
        yield* upTo === null
          ? sql`
              DELETE FROM merchant_settlement_limits
              WHERE merchant_id = ${merchantId} AND env = ${env} AND finality = ${finality}`
          : sql`
              INSERT INTO merchant_settlement_limits (merchant_id, env, finality, up_to)
              VALUES (${merchantId}, ${env}, ${finality}, ${upTo.toString()}::numeric)
              ON CONFLICT (merchant_id, env, finality) DO UPDATE SET up_to = excluded.up_to`
      }, Effect.orDie)
    }))
  )
}
