// Reads in one statement whether anything that open dashboards show has changed, however many there are.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Env } from "../../../domain/Chain.ts"
import { MerchantId, type Tenant } from "../../../domain/Merchant.ts"
import { isNoticeable } from "../../../payments/isNoticeableSql.ts"
import { maxOpen } from "../alerts/maxOpen.ts"

export interface Watcher {
  /** The SHA-256 of its token, in hex. */
  readonly session: string
  readonly tenant: Tenant
}

const Row = Schema.Struct({
  merchant_id: MerchantId,
  env: Schema.NullOr(Env),
  /** The session of a watcher; null if it may no longer read. */
  session: Schema.NullOr(Schema.String),
  version: Schema.NullOr(Schema.String)
})
const decode = Schema.decodeUnknownEffect(Schema.Array(Row))

export const versionKey = ({ env, merchantId }: Tenant): string => `${merchantId} ${env}`
export const watcherKey = (session: string, merchantId: MerchantId): string => `${session} ${merchantId}`

/** Each tenant's state, and the watchers whose session and membership are still valid. */
export interface Look {
  readonly versions: ReadonlyMap<string, string>
  readonly watchers: ReadonlySet<string>
}

export class PageChangesRepo extends Context.Service<
  PageChangesRepo,
  {
    /** A single statement; each part reads the end of an index. */
    readonly look: (watchers: ReadonlyArray<Watcher>, at: Date) => Effect.Effect<Look>
  }
>()("quittance/dashboard/PageChangesRepo") {
  static readonly layer: Layer.Layer<PageChangesRepo, never, SqlClient.SqlClient> = Layer.effect(
    PageChangesRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      look: Effect.fn("PageChangesRepo.look")(function* (watchers, at) {
        const tenants = [...new Map(watchers.map(({ tenant }) => [versionKey(tenant), tenant])).values()]
        const ofTenant = sql`merchant_id = t.merchant_id AND env = t.env`
        const rows = yield* decode(
          yield* sql`
            SELECT t.merchant_id, t.env, NULL::text AS session, concat_ws(' ',
              (SELECT concat_ws(' ', max(created_at), max(reported_at)) FROM (
                SELECT created_at, reported_at FROM payments WHERE ${ofTenant}
                ORDER BY created_at DESC, id DESC LIMIT 20) newest),
              (SELECT max(settled_at) FROM payments WHERE ${ofTenant} AND status = 'settled'),
              (SELECT max(failed_at) FROM payments WHERE ${ofTenant} AND status = 'failed'),
              (SELECT id FROM alerts WHERE ${ofTenant} ORDER BY created_at DESC LIMIT 1),
              (SELECT count(*) FROM (
                SELECT 1 FROM alerts WHERE ${ofTenant} AND acknowledged_at IS NULL LIMIT ${maxOpen}) open),
              (SELECT concat_ws(' ', count(*), max(created_at)) FROM (
                SELECT created_at FROM alerts WHERE merchant_id IS NULL AND acknowledged_at IS NULL
                ORDER BY created_at DESC LIMIT ${maxOpen}) of_service),
              (SELECT max(block_time) FROM incoming_transfers WHERE ${ofTenant}),
              (SELECT count(*) FILTER (WHERE handled_at IS NULL AND kind IS NOT NULL) FROM (
                SELECT handled_at, kind FROM incoming_transfers
                WHERE ${ofTenant} AND payment_id IS NULL AND dropped_at IS NULL AND ${isNoticeable(sql)}
                ORDER BY block_time DESC, id DESC LIMIT ${maxOpen}) unexplained),
              (SELECT max(created_at) FROM refunds WHERE ${ofTenant}),
              (SELECT max(proven_at) FROM refunds WHERE ${ofTenant} AND status = 'proven'),
              (SELECT id FROM webhook_deliveries WHERE ${ofTenant} ORDER BY created_at DESC, id DESC LIMIT 1),
              (SELECT concat_ws(' ', id, updated_at, last_delivered_at, failing) FROM webhook_endpoints
                WHERE ${ofTenant} AND deleted_at IS NULL)) AS version
            FROM unnest(${tenants.map(({ merchantId }) => merchantId)}::uuid[], ${tenants.map(({ env }) => env)}::text[])
              AS t (merchant_id, env)
            UNION ALL
            SELECT w.merchant_id, NULL, w.hash, NULL
            FROM unnest(${watchers.map(({ session }) => session)}::text[],
              ${watchers.map(({ tenant }) => tenant.merchantId)}::uuid[]) AS w (hash, merchant_id)
            JOIN sessions s ON s.hash = decode(w.hash, 'hex') AND s.expires_at > ${at}
            JOIN merchant_members m ON m.user_id = s.user_id AND m.merchant_id = w.merchant_id`
        )
        return {
          versions: new Map(
            rows.flatMap(({ env, merchant_id, version }) =>
              env === null || version === null
                ? []
                : [[versionKey({ merchantId: merchant_id, env }), version]]
            )
          ),
          watchers: new Set(
            rows.flatMap(({ merchant_id, session }) =>
              session === null ? [] : [watcherKey(session, merchant_id)]
            )
          )
        }
      }, Effect.orDie)
    }))
  )
}
