// The feed of events. A settlement may commit after a later one was read, so time and id cannot order the
// feed. Rows get their positions once they are visible, by one reader per tenant at a time.

import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Tenant, Uuid } from "../../domain/Merchant.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { DeliveryStatus } from "../../domain/Webhook.ts"
import type { EventPage, StoredEvent, WebhookStore } from "./WebhookStore.ts"

const EventRow = Schema.Struct({
  id: Uuid,
  body: Schema.Uint8Array,
  payment_id: Schema.NullOr(PaymentId),
  status: DeliveryStatus,
  created_at: Schema.Date
})
const eventColumns = "id, body, payment_id, status, created_at"

const decodeEvents = Schema.decodeUnknownEffect(Schema.Array(EventRow))
const decodePositions = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ feed_position: Schema.NullOr(Schema.BigInt) }))
)

const toEvent = ({ payment_id, created_at, ...row }: typeof EventRow.Type): StoredEvent => ({
  ...row,
  paymentId: payment_id,
  createdAt: created_at
})

/** Rows that get positions in one transaction: for a page, and on the way to a far later event. */
const placedForPage = 1000
const placedTogether = 10_000
/** Milliseconds between checks of a row that a worker is writing. */
const busyMillis = 20
const busyLooks = 250

/** The part of WebhookRepo that reads events. */
export const eventsSql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(eventColumns)
  const ofTenant = (tenant: Tenant) => sql`merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`

  const findEvent: WebhookStore["findEvent"] = Effect.fn("WebhookRepo.findEvent")(function* (tenant, id) {
    const [row] = yield* decodeEvents(
      yield* sql`SELECT ${columns} FROM webhook_deliveries WHERE id = ${id} AND ${ofTenant(tenant)}`
    )
    return Option.map(Option.fromUndefinedOr(row), toEvent)
  }, Effect.orDie)

  /**
   * Gives positions to rows without one; returns whether there were any. The lock is held until the commit,
   * so the next statement sees all earlier positions. Skips rows that a worker is writing: waiting for one
   * while holding others may deadlock.
   */
  const place = (tenant: Tenant, limit: number) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`
          SELECT pg_advisory_xact_lock(hashtextextended(${`events ${tenant.merchantId} ${tenant.env}`}, 0))`
        const placed = yield* sql`
          WITH unplaced AS MATERIALIZED (
            SELECT id, created_at FROM webhook_deliveries
            WHERE ${ofTenant(tenant)} AND feed_position IS NULL
            ORDER BY created_at, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
          ), numbered AS (
            SELECT id, row_number() OVER (ORDER BY created_at, id) + coalesce((
              SELECT feed_position FROM webhook_deliveries
              WHERE ${ofTenant(tenant)} AND feed_position IS NOT NULL
              ORDER BY feed_position DESC LIMIT 1), 0) AS position
            FROM unplaced
          )
          UPDATE webhook_deliveries d SET feed_position = numbered.position
          FROM numbered WHERE d.id = numbered.id
          RETURNING d.id`
        return placed.length > 0
      })
    )

  const hasUnplaced = (tenant: Tenant) =>
    Effect.map(
      sql`SELECT 1 FROM webhook_deliveries WHERE ${ofTenant(tenant)} AND feed_position IS NULL LIMIT 1`,
      (rows) => rows.length > 0
    )

  /** The position of `after`, assigned if missing; undefined if there is no such event. */
  const positionOf = Effect.fnUntraced(function* (tenant: Tenant, after: string) {
    for (let busy = 0; busy < busyLooks; ) {
      const [row] = yield* decodePositions(
        yield* sql`SELECT feed_position FROM webhook_deliveries WHERE id = ${after} AND ${ofTenant(tenant)}`
      )
      if (row === undefined) return undefined
      if (row.feed_position !== null) return row.feed_position
      if (yield* place(tenant, placedTogether)) continue
      busy += 1
      yield* Effect.sleep(busyMillis)
    }
    return yield* Effect.die(new Error(`The event ${after} stays locked.`))
  })

  const pageFrom = (tenant: Tenant, position: bigint, limit: number) =>
    Effect.flatMap(
      sql`
        SELECT ${columns} FROM webhook_deliveries
        WHERE ${ofTenant(tenant)} AND feed_position > ${position}::bigint
        ORDER BY feed_position LIMIT ${limit}`,
      decodeEvents
    )

  const listEvents: WebhookStore["listEvents"] = Effect.fn("WebhookRepo.listEvents")(function* (
    tenant,
    { after, limit }: EventPage
  ) {
    const position = after === undefined ? 0n : yield* positionOf(tenant, after)
    if (position === undefined) return Option.none()
    while (true) {
      // Before reading the page, so that it includes every row that has a position by then.
      const hasPlaced = (yield* hasUnplaced(tenant)) && (yield* place(tenant, placedForPage))
      const rows = yield* pageFrom(tenant, position, limit + 1)
      if (hasPlaced && rows.length <= limit) continue
      return Option.some({ events: rows.slice(0, limit).map(toEvent), hasMore: rows.length > limit })
    }
  }, Effect.orDie)

  return { findEvent, listEvents }
})
