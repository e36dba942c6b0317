// The SQL of the deliveries' pages.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../../domain/Merchant.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { DeliveryAttempt, DeliveryStatus, EventType } from "../../../domain/Webhook.ts"
import { EpochMillis } from "../../../platform/database/EpochMillis.ts"
import { Replica } from "../../../platform/database/Replica.ts"

const Hex = Schema.Uint8ArrayFromHex

const deliveryFields = {
  id: Uuid,
  type: EventType,
  status: DeliveryStatus,
  payment_id: Schema.NullOr(Uuid),
  ref_code: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  due_at: Schema.NullOr(Schema.Date)
}
const attemptFields = { ...DeliveryAttempt.fields, startedAt: EpochMillis }

const DeliveryRow = Schema.Struct({
  ...deliveryFields,
  attempts: Schema.Array(Schema.Struct(attemptFields))
})
export type DeliveryRow = typeof DeliveryRow.Type

const DetailRow = Schema.Struct({
  ...deliveryFields,
  body: Schema.Uint8Array,
  attempts: Schema.Array(
    Schema.Struct({
      ...attemptFields,
      requestHead: Schema.NullOr(Schema.String),
      responseBody: Schema.NullOr(Hex)
    })
  )
})
export type DetailRow = typeof DetailRow.Type

const decodeDeliveries = Schema.decodeUnknownEffect(Schema.Array(DeliveryRow))
const decodeDetails = Schema.decodeUnknownEffect(Schema.Array(DetailRow))

const attemptPairs = `'number', a.number, 'manual', a.manual,
  'startedAt', (extract(epoch FROM a.started_at) * 1000)::bigint::text, 'durationMs', a.duration_ms,
  'responseStatus', a.response_status, 'failure', a.failure`
const attempts = (pairs: string) => `coalesce((
  SELECT json_agg(json_build_object(${pairs}) ORDER BY a.number)
  FROM webhook_attempts a WHERE a.delivery_id = d.id), '[]') AS attempts`

const columns = `d.id, d.type, d.status, d.payment_id, d.created_at, d.due_at,
  (SELECT p.ref_code FROM payments p WHERE p.id = d.payment_id) AS ref_code`
const listColumns = `${columns}, ${attempts(attemptPairs)}`
const detailColumns = `${columns}, d.body, ${attempts(`${attemptPairs}, 'requestHead', a.request_head,
  'responseBody', encode(a.response_body, 'hex')`)}`

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return DeliveryPagesRepo.of({
    list: Effect.fn("DeliveryPagesRepo.list")(function* (tenant, page) {
      const status = page.status === undefined ? sql`` : sql`AND d.status = ${page.status}`
      const after =
        page.startingAfter === undefined
          ? sql``
          : sql`AND (d.created_at, d.id) < (
              SELECT last.created_at, last.id FROM webhook_deliveries last
              WHERE last.id = ${page.startingAfter} AND last.merchant_id = ${tenant.merchantId}
                AND last.env = ${tenant.env})`
      // Written as a literal: with a parameter, Postgres plans the statement on a large table again each time.
      const limit = sql.literal(`LIMIT ${page.limit}`)
      return yield* decodeDeliveries(
        yield* sql`
          SELECT ${sql.literal(listColumns)} FROM webhook_deliveries d
          WHERE d.merchant_id = ${tenant.merchantId} AND d.env = ${tenant.env} ${status} ${after}
          ORDER BY d.created_at DESC, d.id DESC ${limit}`
      )
    }, Effect.orDie),

    find: Effect.fn("DeliveryPagesRepo.find")(function* (tenant, id) {
      const [row] = yield* decodeDetails(
        yield* sql`
          SELECT ${sql.literal(detailColumns)} FROM webhook_deliveries d
          WHERE d.id = ${id} AND d.merchant_id = ${tenant.merchantId} AND d.env = ${tenant.env}`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie)
  })
})

export class DeliveryPagesRepo extends Context.Service<
  DeliveryPagesRepo,
  {
    readonly list: (
      tenant: Tenant,
      page: { readonly limit: number; readonly status?: DeliveryStatus; readonly startingAfter?: string }
    ) => Effect.Effect<ReadonlyArray<DeliveryRow>>
    readonly find: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<DetailRow>>
  }
>()("quittance/dashboard/DeliveryPagesRepo") {
  static readonly layer: Layer.Layer<DeliveryPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    DeliveryPagesRepo,
    Effect.gen(function* () {
      const onPrimary = yield* make
      const replica = yield* Replica
      if (replica === undefined) return onPrimary
      const onReplica = yield* Effect.provideService(make, SqlClient.SqlClient, replica.sql)
      return {
        list: (...query) => replica.read(onReplica.list(...query), onPrimary.list(...query)),
        find: (...query) => replica.read(onReplica.find(...query), onPrimary.find(...query))
      }
    })
  )
}
