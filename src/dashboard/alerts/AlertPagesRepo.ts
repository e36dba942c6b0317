// The SQL of the alerts' page and of the badge on every page.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MerchantId, Uuid } from "../../domain/Merchant.ts"
import type { Member } from "../Session.ts"

type Tenant = Member["tenant"]

const AlertRow = Schema.Struct({
  id: Uuid,
  merchant_id: Schema.NullOr(MerchantId),
  kind: Schema.String,
  subject: Schema.String,
  message: Schema.String,
  created_at: Schema.Date,
  acknowledged_at: Schema.NullOr(Schema.Date)
})
export type AlertRow = typeof AlertRow.Type

const decodeAlerts = Schema.decodeUnknownEffect(Schema.Array(AlertRow))
const decodeCount = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ count: Schema.Int })]))
const decodeScopes = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ merchant_id: Schema.NullOr(MerchantId) }))
)

/** The badge stops counting here. */
const countLimit = 100
const pageLimit = 100

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal("id, merchant_id, kind, subject, message, created_at, acknowledged_at")

  /** The merchant's in this environment, and the service's; a node's alert names its environment first. */
  const visible = ({ merchantId, env }: Tenant) => sql`
    ((merchant_id = ${merchantId} AND env = ${env})
      OR (merchant_id IS NULL AND subject NOT LIKE ${`${env === "test" ? "live" : "test"} %`}))`

  return {
    countOpen: Effect.fn("AlertPagesRepo.countOpen")(function* (tenant: Tenant) {
      const [row] = yield* decodeCount(
        yield* sql`
          SELECT count(*)::int AS count FROM (
            SELECT 1 FROM alerts WHERE acknowledged_at IS NULL AND ${visible(tenant)} LIMIT ${countLimit}) open`
      )
      return row.count
    }, Effect.orDie),

    list: Effect.fn("AlertPagesRepo.list")(function* (tenant: Tenant) {
      return yield* decodeAlerts(
        yield* sql`
          SELECT ${columns} FROM (
            (SELECT ${columns} FROM alerts WHERE ${visible(tenant)} AND acknowledged_at IS NULL
              ORDER BY created_at DESC LIMIT ${pageLimit})
            UNION ALL
            (SELECT ${columns} FROM alerts WHERE ${visible(tenant)} AND acknowledged_at IS NOT NULL
              ORDER BY created_at DESC LIMIT ${pageLimit})
          ) both_kinds
          ORDER BY (acknowledged_at IS NULL) DESC, created_at DESC LIMIT ${pageLimit}`
      )
    }, Effect.orDie),

    /** Whose the alert is; none where the tenant does not see it. */
    scopeOf: Effect.fn("AlertPagesRepo.scopeOf")(function* (tenant: Tenant, id: string) {
      const [row] = yield* decodeScopes(
        yield* sql`SELECT merchant_id FROM alerts WHERE id = ${id} AND ${visible(tenant)}`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ merchant_id }) =>
        merchant_id === null ? ("service" as const) : ("merchant" as const)
      )
    }, Effect.orDie),

    acknowledge: Effect.fn("AlertPagesRepo.acknowledge")(function* (tenant: Tenant, id: string, at: Date) {
      yield* sql`
        UPDATE alerts SET acknowledged_at = ${at}
        WHERE id = ${id} AND acknowledged_at IS NULL AND ${visible(tenant)}`
    }, Effect.orDie)
  }
})

export class AlertPagesRepo extends Context.Service<AlertPagesRepo, Effect.Success<typeof make>>()(
  "quittance/dashboard/AlertPagesRepo"
) {
  static readonly layer: Layer.Layer<AlertPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    AlertPagesRepo,
    make
  )
}
