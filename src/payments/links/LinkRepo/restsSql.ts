// Links that ask for the rest of a transfer which fell short of its payment.

import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Tenant } from "../../../domain/Merchant.ts"
import { AtomicUsdc } from "../../../domain/Money.ts"
import { PaymentId, PaymentStatus } from "../../../domain/Payment.ts"
import { failReplaced } from "../../PaymentRepo/paymentStatusSql.ts"
import { isUntried } from "./isUntriedSql.ts"
import { insertLink, type KeptLink, linkColumns, linksIn } from "./LinkRow.ts"

const decodeRests = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: PaymentId, rest: Schema.BigIntFromString }))
)
const decodeOthers = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ payment_id: PaymentId, status: PaymentStatus, is_untried: Schema.Boolean }))
)

/** The short transfer for which a link requests the outstanding amount. */
export interface Short {
  readonly incomingTransferId: string
  /** The payment that the transfer fell short of. */
  readonly paymentId: PaymentId | undefined
}

/** The outcome of requesting the outstanding amount for an incoming transfer. */
export type RestAsked =
  | { readonly _tag: "Asked"; readonly link: KeptLink }
  | { readonly _tag: "Unknown" }
  /**
   * The transfer pays a payment, is given back, or has left the chain; or its payment is paid otherwise, in parts as
   * well, or the rest of it is being paid.
   */
  | { readonly _tag: "NotOwed" }

export interface RestStore {
  /**
   * The outstanding amount of each payment, counting this transfer and all others with such a link; absent if nothing
   * is outstanding.
   */
  readonly restsOf: (
    tenant: Tenant,
    incomingTransferId: string,
    paymentIds: ReadonlyArray<PaymentId>
  ) => Effect.Effect<ReadonlyMap<PaymentId, AtomicUsdc>>
  /**
   * Stores a link that requests the outstanding amount of an incoming transfer, or returns the open one. It replaces
   * a link for another transfer if nobody has begun to pay that.
   */
  readonly insertRest: (link: KeptLink, short: Short) => Effect.Effect<RestAsked>
}

export const makeRestsSql = (
  sql: SqlClient.SqlClient
): {
  readonly store: RestStore
  /** Since when a link asks for no rest; null where it asks for one, or is no such link. */
  readonly ended: Statement.Fragment
  /** Payments that are paid by the rest of a transfer which fell short of them. */
  readonly paidInParts: Statement.Fragment
} => {
  // Paid by another link for the same rest, such as one that was closed meanwhile, and not given back.
  const paidBefore = (
    restOf: string | Statement.Fragment,
    restFor: PaymentId | Statement.Fragment | null
  ) => sql`
    SELECT min(p.settled_at) AS settled_at FROM payment_links l JOIN payments p ON p.id = l.payment_id
    WHERE l.rest_of = ${restOf}::uuid AND l.closed_at IS NOT NULL AND p.status = 'settled'
      AND l.rest_for IS NOT DISTINCT FROM ${restFor}::uuid AND NOT EXISTS (
        SELECT 1 FROM refunds r WHERE r.payment_id = p.id AND r.status IN ('pending', 'proven'))
    HAVING count(*) > 0`

  const isSettled = (paymentId: Statement.Fragment) => sql`
    EXISTS (SELECT 1 FROM payments s WHERE s.id = ${paymentId} AND s.status = 'settled')`

  /** Payments that a link asks for the rest of: its own, and the one whose rest that is part of. */
  const above = sql`
    WITH RECURSIVE above AS (
      SELECT payment_links.rest_for AS id
      UNION
      SELECT a.rest_for FROM above JOIN payment_links a ON a.payment_id = above.id WHERE a.rest_of IS NOT NULL
    )`

  // Since when a link asks for no rest: that or its payment is paid, the rest of it is asked for or paid by another
  // link, the payment whose rest it is part of is paid, another transfer that its sum counts is none of the payment's
  // any more, its own pays another one or, until it returns, has left the chain. Read off them, it misses none that
  // ends as the link is made.
  const ended = sql`CASE WHEN rest_of IS NOT NULL THEN coalesce(
    (SELECT min(o.created_at) FROM payment_links o JOIN incoming_transfers t ON t.id = o.rest_of
      WHERE o.rest_of IS NOT NULL AND o.rest_for = payment_links.payment_id AND t.dropped_at IS NULL
        AND (o.closed_at IS NULL OR ${isSettled(sql`o.payment_id`)})),
    (${above} SELECT min(p.settled_at) FROM above JOIN payments p ON p.id = above.id),
    (${above} SELECT min(coalesce(t.dropped_at, p.settled_at))
      FROM above JOIN payment_links o ON o.rest_for = above.id JOIN incoming_transfers t ON t.id = o.rest_of
        LEFT JOIN payments p ON p.id = t.payment_id
      WHERE o.rest_of IS NOT NULL AND o.rest_of <> payment_links.rest_of
        AND o.created_at <= payment_links.created_at
        AND coalesce(t.dropped_at, p.settled_at) > payment_links.created_at),
    (${paidBefore(sql`payment_links.rest_of`, sql`payment_links.rest_for`)}),
    (SELECT coalesce(t.dropped_at, p.settled_at) FROM incoming_transfers t
      LEFT JOIN payments p ON p.id = t.payment_id WHERE t.id = rest_of)) END`

  const rests = Effect.fnUntraced(function* (
    { env, merchantId }: Tenant,
    incomingTransferId: string,
    paymentIds: ReadonlyArray<PaymentId>
  ) {
    const rows = yield* sql`
      SELECT p.id, (p.amount - t.amount - coalesce((
        SELECT sum(o.amount) FROM incoming_transfers o
        WHERE o.id <> t.id AND o.payment_id IS NULL AND o.dropped_at IS NULL
          AND o.id IN (
            SELECT l.rest_of FROM payment_links l WHERE l.rest_of IS NOT NULL AND l.rest_for = p.id)
          AND NOT EXISTS (
            SELECT 1 FROM refunds r WHERE r.transfer_id = o.id AND r.status IN ('pending', 'proven'))
      ), 0))::text AS rest
      FROM payments p CROSS JOIN incoming_transfers t
      WHERE p.id = ANY(${paymentIds}::uuid[]) AND p.merchant_id = ${merchantId} AND p.env = ${env}
        AND p.status <> 'settled' AND t.id = ${incomingTransferId}
        AND t.merchant_id = ${merchantId} AND t.env = ${env}`
    const found = yield* decodeRests(rows)
    return new Map(found.flatMap(({ id, rest }) => (rest > 0n ? [[id, AtomicUsdc.make(rest)] as const] : [])))
  })

  const paidInParts = sql`
    WITH RECURSIVE paid AS (
      SELECT l.rest_for AS id FROM payment_links l WHERE l.rest_of IS NOT NULL AND ${isSettled(sql`l.payment_id`)}
      UNION
      SELECT l.rest_for FROM paid JOIN payment_links l ON l.payment_id = paid.id WHERE l.rest_of IS NOT NULL
    ) SELECT paid.id FROM paid WHERE paid.id IS NOT NULL`

  /** The payments of links for other transfers. Whoever begins to pay one of them locks it as well. */
  const lockOthers = (restOf: string, paymentId: PaymentId | null) => sql`
    SELECT 1 FROM payments p WHERE p.id IN (
      SELECT l.payment_id FROM payment_links l
      WHERE l.rest_of <> ${restOf}::uuid AND l.rest_for = ${paymentId}::uuid)
    ORDER BY p.id FOR UPDATE OF p`

  /** Closes links for other transfers of the payment; false where one of them has been paid, or is just being paid. */
  const closeOthers = Effect.fnUntraced(function* (restOf: string, paymentId: PaymentId, at: Date) {
    // What has been opened since.
    yield* lockOthers(restOf, paymentId)
    const others = yield* decodeOthers(
      yield* sql`
        SELECT p.id AS payment_id, p.status, ${isUntried(sql, sql`p.id`)} AS is_untried
        FROM payment_links l JOIN payments p ON p.id = l.payment_id
        WHERE l.rest_of <> ${restOf}::uuid AND l.rest_for = ${paymentId}::uuid
          AND (l.closed_at IS NULL OR p.status = 'settled') AND NOT EXISTS (
            SELECT 1 FROM refunds r WHERE r.payment_id = p.id AND r.status IN ('pending', 'proven'))`
    )
    if (
      others.some(({ is_untried, status }) => status === "settled" || (status === "pending" && !is_untried))
    )
      return false
    yield* failReplaced(
      sql,
      others.map((other) => other.payment_id),
      at
    )
    yield* sql`
      UPDATE payment_links l SET closed_at = ${at}
      WHERE l.rest_of <> ${restOf}::uuid AND l.rest_for = ${paymentId}::uuid
        AND l.closed_at IS NULL`
    return true
  })

  const store: RestStore = {
    restsOf: Effect.fn("LinkRepo.restsOf")(rests, Effect.orDie),
    insertRest: Effect.fn("LinkRepo.insertRest")(
      function* (link, { incomingTransferId, paymentId = null }): Effect.fn.Return<RestAsked, unknown> {
        const payment = yield* sql`
          SELECT 1 FROM payments
          WHERE id = ${paymentId}::uuid AND merchant_id = ${link.merchantId} AND env = ${link.env}
          FOR NO KEY UPDATE`
        // Payments come before transfers, as where one is attached to the other.
        yield* lockOthers(incomingTransferId, paymentId)
        // A refund holds this lock as well: what is asked after it sees every one that came before.
        const transfer = yield* sql`
          SELECT 1 FROM incoming_transfers
          WHERE id = ${incomingTransferId} AND merchant_id = ${link.merchantId} AND env = ${link.env}
          FOR SHARE`
        if (transfer.length === 0 || (paymentId !== null && payment.length === 0)) return { _tag: "Unknown" }
        const owed =
          paymentId === null
            ? undefined
            : (yield* rests(link, incomingTransferId, [paymentId])).get(paymentId)
        if (paymentId !== null && !(yield* closeOthers(incomingTransferId, paymentId, link.createdAt)))
          return { _tag: "NotOwed" }
        // One of a payment that is paid now makes room for one of another.
        yield* sql`
          UPDATE payment_links SET closed_at = ${ended}
          WHERE rest_of = ${incomingTransferId} AND closed_at IS NULL AND EXISTS (
            SELECT 1 FROM payments p WHERE p.id = rest_for AND p.status = 'settled')`
        // So does one by which nobody can pay any more: its time is over, or its payment was tried and has failed.
        yield* sql`
          UPDATE payment_links l SET closed_at = ${link.createdAt}
          WHERE l.rest_of = ${incomingTransferId} AND l.closed_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = l.payment_id AND p.status = 'settled')
            AND (l.expires_at <= ${link.createdAt} OR (
              EXISTS (SELECT 1 FROM payments p WHERE p.id = l.payment_id AND p.status = 'failed')
              AND NOT ${isUntried(sql, sql`l.payment_id`)}))`
        yield* insertLink(
          sql,
          { ...link, amount: owed ?? link.amount },
          sql`${incomingTransferId}::uuid, ${paymentId}::uuid
          WHERE ${paymentId === null || owed !== undefined} AND NOT EXISTS (
            SELECT 1 FROM refunds
            WHERE transfer_id = ${incomingTransferId} AND status IN ('pending', 'proven'))
            AND NOT EXISTS (SELECT 1 FROM payments WHERE id = ${paymentId}::uuid AND status = 'settled')
            AND NOT EXISTS (${paidBefore(incomingTransferId, paymentId)})
            AND NOT EXISTS (
              SELECT 1 FROM incoming_transfers
              WHERE id = ${incomingTransferId} AND (dropped_at IS NOT NULL OR payment_id IS NOT NULL))
          ON CONFLICT (rest_of) WHERE rest_of IS NOT NULL AND closed_at IS NULL DO NOTHING`
        )
        const [standing] = yield* linksIn(sql`
          SELECT ${linkColumns(sql, ended)} FROM payment_links
          WHERE rest_of = ${incomingTransferId} AND closed_at IS NULL
            AND merchant_id = ${link.merchantId} AND env = ${link.env}`)
        return standing === undefined || standing.closedAt !== null
          ? { _tag: "NotOwed" }
          : { _tag: "Asked", link: standing }
      },
      (effect) => sql.withTransaction(effect),
      Effect.orDie
    )
  }

  return { store, ended, paidInParts }
}
