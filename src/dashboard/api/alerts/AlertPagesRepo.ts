// The SQL of the alerts' page and of the badge on each page.

import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AlertKind } from "../../../domain/AlertKind.ts"
import { MerchantId, Uuid } from "../../../domain/Merchant.ts"
import { orUnknown } from "../../../domain/orUnknown.ts"
import { isNoticeable } from "../../../payments/isNoticeableSql.ts"
import { CurrentMember, type Member } from "../Session.ts"
import { maxOpen } from "./maxOpen.ts"

/** The member who reads the alerts. */
type Reader = Pick<Member, "tenant" | "user">

const AlertRow = Schema.Struct({
  id: Uuid,
  merchant_id: Schema.NullOr(MerchantId),
  kind: orUnknown(AlertKind),
  subject: Schema.String,
  message: Schema.String,
  created_at: Schema.Date,
  acknowledged_at: Schema.NullOr(Schema.Date),
  acknowledged_by: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String)
})
export type AlertRow = typeof AlertRow.Type

const decodeAlerts = Schema.decodeUnknownEffect(Schema.Array(AlertRow))
const decodeDone = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ acknowledged_by: Schema.NullOr(Schema.String), note: Schema.NullOr(Schema.String) })
  )
)
const decodeCount = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ count: Schema.Int })]))
const decodeScopes = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ merchant_id: Schema.NullOr(MerchantId), is_own: Schema.Boolean }))
)

const pageLimit = 100

export type AlertStatus = "open" | "decided"

export interface AlertRows {
  readonly rows: ReadonlyArray<AlertRow>
  readonly hasMore: boolean
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(
    "id, merchant_id, kind, subject, message, created_at, acknowledged_at, acknowledged_by, note"
  )

  /**
   * The alerts that the reader sees. Transfers that nothing explains are listed separately.
   * - the merchant's alerts of this environment;
   * - alerts to this member, of both environments;
   * - alerts to this operator, on any page;
   * - the service's alerts about this network, or all networks.
   */
  const visible = ({ tenant: { merchantId, env }, user }: Reader) => sql`
    kind <> 'incoming_transfer' AND ((merchant_id = ${merchantId} AND env = ${env} AND user_id IS NULL)
      OR (merchant_id = ${merchantId} AND user_id = ${user.id})
      OR (merchant_id IS NULL AND user_id = ${user.id})
      OR (merchant_id IS NULL AND user_id IS NULL AND (env IS NULL OR env = ${env})))`

  return AlertPagesRepo.of({
    countOpen: Effect.gen(function* () {
      const reader = yield* CurrentMember
      const [row] = yield* decodeCount(
        yield* sql`
          SELECT count(*)::int AS count FROM (
            (SELECT 1 FROM alerts WHERE acknowledged_at IS NULL AND ${visible(reader)} LIMIT ${maxOpen})
            UNION ALL
            (SELECT 1 FROM incoming_transfers
              WHERE merchant_id = ${reader.tenant.merchantId} AND env = ${reader.tenant.env}
                AND payment_id IS NULL AND dropped_at IS NULL AND handled_at IS NULL AND kind IS NOT NULL
                AND ${isNoticeable(sql)}
              LIMIT ${maxOpen})
            LIMIT ${maxOpen}) open`
      )
      return row.count
    }).pipe(Effect.orDie, Effect.withSpan("AlertPagesRepo.countOpen")),

    list: Effect.fn("AlertPagesRepo.list")(function* (reader, status, startingAfter) {
      const condition = status === "open" ? sql`acknowledged_at IS NULL` : sql`acknowledged_at IS NOT NULL`
      const after =
        startingAfter === undefined
          ? sql``
          : sql`AND (created_at, id) < (
              SELECT created_at, id FROM alerts WHERE id = ${startingAfter} AND ${visible(reader)})`
      const alerts = yield* decodeAlerts(
        yield* sql`
          SELECT ${columns} FROM alerts WHERE ${visible(reader)} AND ${condition} ${after}
          ORDER BY created_at DESC, id DESC LIMIT ${pageLimit + 1}`
      )
      return { rows: alerts.slice(0, pageLimit), hasMore: alerts.length > pageLimit }
    }, Effect.orDie),

    scopeOf: Effect.fn("AlertPagesRepo.scopeOf")(function* (reader, id) {
      const [row] = yield* decodeScopes(
        yield* sql`
          SELECT merchant_id, user_id IS NOT NULL AS is_own FROM alerts WHERE id = ${id} AND ${visible(reader)}`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ is_own, merchant_id }) => ({
        scope: merchant_id === null ? ("service" as const) : ("merchant" as const),
        isOwn: is_own
      }))
    }, Effect.orDie),

    acknowledge: Effect.fn("AlertPagesRepo.acknowledge")(function* (reader, id, note, at) {
      const [acknowledgement] = yield* decodeDone(
        yield* sql`
          UPDATE alerts SET acknowledged_at = ${at}, acknowledged_by = ${reader.user.email}, note = nullif(${note}, '')
          WHERE id = ${id} AND acknowledged_at IS NULL AND ${visible(reader)}
          RETURNING acknowledged_by, note`
      )
      if (acknowledgement !== undefined) return acknowledgement
      const [before] = yield* decodeDone(
        yield* sql`SELECT acknowledged_by, note FROM alerts WHERE id = ${id} AND ${visible(reader)}`
      )
      return before ?? { acknowledged_by: null, note: null }
    }, Effect.orDie)
  })
})

export class AlertPagesRepo extends Context.Service<
  AlertPagesRepo,
  {
    readonly countOpen: Effect.Effect<number, never, CurrentMember>
    /** A page, newest first. `startingAfter`: the last alert of the previous page. */
    readonly list: (reader: Reader, status: AlertStatus, startingAfter?: string) => Effect.Effect<AlertRows>
    /** The owner of an alert, and whether only the reader is notified; none if the tenant cannot see it. */
    readonly scopeOf: (
      reader: Reader,
      id: string
    ) => Effect.Effect<Option.Option<{ readonly scope: "merchant" | "service"; readonly isOwn: boolean }>>
    /** Acknowledges an alert once. If somebody else did so earlier, returns that person and their note. */
    readonly acknowledge: (
      reader: Reader,
      id: string,
      note: string,
      at: Date
    ) => Effect.Effect<Pick<AlertRow, "acknowledged_by" | "note">>
  }
>()("quittance/dashboard/AlertPagesRepo") {
  static readonly layer: Layer.Layer<AlertPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    AlertPagesRepo,
    make
  )
}
