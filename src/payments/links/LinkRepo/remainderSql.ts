// Links that request the outstanding amount of a transfer that fell short of its payment. The columns `rest_of` and
// `rest_for` hold that transfer and that payment.

import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Tenant } from "../../../domain/Merchant.ts"
import { AtomicUsdc } from "../../../domain/Money.ts"
import { PaymentId, PaymentStatus } from "../../../domain/Payment.ts"
import { failReplaced } from "../../PaymentRepo/paymentStatusSql.ts"
import { isUntried } from "./isUntriedSql.ts"
import { insertLink, linkColumns, linksIn, type StoredLink } from "./LinkRow.ts"

const decodeRemainders = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: PaymentId, remainder: Schema.BigIntFromString }))
)
const decodeOthers = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ payment_id: PaymentId, status: PaymentStatus, is_untried: Schema.Boolean }))
)

/** The short transfer for which a link requests the outstanding amount. */
export interface ShortTransfer {
  readonly incomingTransferId: string
  /** The payment that the transfer fell short of. */
  readonly paymentId: PaymentId | undefined
}

/** The outcome of requesting the outstanding amount for an incoming transfer. */
export type RemainderRequest =
  | { readonly _tag: "Requested"; readonly link: StoredLink }
  | { readonly _tag: "Unknown" }
  /**
   * Nothing may be requested:
   * - the transfer pays a payment, is refunded, or has left the chain;
   * - its payment is settled, also by partial transfers;
   * - the outstanding amount is being paid already.
   */
  | { readonly _tag: "NotOwed" }

export interface RemainderStore {
  /**
   * The outstanding amount of each payment, counting this transfer and all others with such a link; absent if nothing
   * is outstanding.
   */
  readonly remaindersOf: (
    tenant: Tenant,
    incomingTransferId: string,
    paymentIds: ReadonlyArray<PaymentId>
  ) => Effect.Effect<ReadonlyMap<PaymentId, AtomicUsdc>>
  /**
   * Stores a link that requests the outstanding amount of an incoming transfer, or returns the open one. It replaces a
   * link for another transfer if nobody has begun to pay that.
   */
  readonly insertRemainderLink: (link: StoredLink, short: ShortTransfer) => Effect.Effect<RemainderRequest>
}

export const makeRemainderSql = (
  sql: SqlClient.SqlClient
): {
  readonly store: RemainderStore
  /** The time at which a link stopped requesting an outstanding amount; null while it does, or never did. */
  readonly ended: Statement.Fragment
  /** Payments whose outstanding amount was paid by a link, possibly through further links. */
  readonly paidInParts: Statement.Fragment
} => {
  // Paid by another link for the same outstanding amount, such as one that was closed before, and not refunded.
  const paidBefore = (
    transferId: string | Statement.Fragment,
    paymentId: PaymentId | Statement.Fragment | null
  ) => sql`
    SELECT min(p.settled_at) AS settled_at FROM payment_links l JOIN payments p ON p.id = l.payment_id
    WHERE l.rest_of = ${transferId}::uuid AND l.closed_at IS NOT NULL AND p.status = 'settled'
      AND l.rest_for IS NOT DISTINCT FROM ${paymentId}::uuid AND NOT EXISTS (
        SELECT 1 FROM refunds r WHERE r.payment_id = p.id AND r.status IN ('pending', 'proven'))
    HAVING count(*) > 0`

  const isSettled = (paymentId: Statement.Fragment) => sql`
    EXISTS (SELECT 1 FROM payments s WHERE s.id = ${paymentId} AND s.status = 'settled')`

  /** The payment that a link's amount belongs to, and its parents: a link's own payment may fall short as well. */
  const ancestors = sql`
    WITH RECURSIVE ancestors AS (
      SELECT payment_links.rest_for AS id
      UNION
      SELECT a.rest_for FROM ancestors JOIN payment_links a ON a.payment_id = ancestors.id WHERE a.rest_of IS NOT NULL
    )`

  // The time at which a link stopped requesting its outstanding amount. The first of these that applies:
  // - another link requests, or received, the outstanding amount of this link's own payment;
  // - the payment that it belongs to, or a parent payment, settled;
  // - another transfer that its amount counts was dropped or settled a payment, after the link was created;
  // - another link for the same outstanding amount was paid;
  // - its own transfer was dropped or settled a payment.
  // Derived from rows rather than stored, so a change that is committed while the link is created is never missed.
  const ended = sql`CASE WHEN rest_of IS NOT NULL THEN coalesce(
    (SELECT min(o.created_at) FROM payment_links o JOIN incoming_transfers t ON t.id = o.rest_of
      WHERE o.rest_of IS NOT NULL AND o.rest_for = payment_links.payment_id AND t.dropped_at IS NULL
        AND (o.closed_at IS NULL OR ${isSettled(sql`o.payment_id`)})),
    (${ancestors} SELECT min(p.settled_at) FROM ancestors JOIN payments p ON p.id = ancestors.id),
    (${ancestors} SELECT min(coalesce(t.dropped_at, p.settled_at))
      FROM ancestors JOIN payment_links o ON o.rest_for = ancestors.id JOIN incoming_transfers t ON t.id = o.rest_of
        LEFT JOIN payments p ON p.id = t.payment_id
      WHERE o.rest_of IS NOT NULL AND o.rest_of <> payment_links.rest_of
        AND o.created_at <= payment_links.created_at
        AND coalesce(t.dropped_at, p.settled_at) > payment_links.created_at),
    (${paidBefore(sql`payment_links.rest_of`, sql`payment_links.rest_for`)}),
    (SELECT coalesce(t.dropped_at, p.settled_at) FROM incoming_transfers t
      LEFT JOIN payments p ON p.id = t.payment_id WHERE t.id = rest_of)) END`

  const remainders = Effect.fnUntraced(function* (
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
      ), 0))::text AS remainder
      FROM payments p CROSS JOIN incoming_transfers t
      WHERE p.id = ANY(${paymentIds}::uuid[]) AND p.merchant_id = ${merchantId} AND p.env = ${env}
        AND p.status <> 'settled' AND t.id = ${incomingTransferId}
        AND t.merchant_id = ${merchantId} AND t.env = ${env}`
    const payments = yield* decodeRemainders(rows)
    return new Map(
      payments.flatMap(({ id, remainder }) =>
        remainder > 0n ? [[id, AtomicUsdc.make(remainder)] as const] : []
      )
    )
  })

  const paidInParts = sql`
    WITH RECURSIVE paid AS (
      SELECT l.rest_for AS id FROM payment_links l WHERE l.rest_of IS NOT NULL AND ${isSettled(sql`l.payment_id`)}
      UNION
      SELECT l.rest_for FROM paid JOIN payment_links l ON l.payment_id = paid.id WHERE l.rest_of IS NOT NULL
    ) SELECT paid.id FROM paid WHERE paid.id IS NOT NULL`

  /** Locks the payments of links for other transfers. Beginning to pay one of them takes this lock as well. */
  const lockOthers = (transferId: string, paymentId: PaymentId | null) => sql`
    SELECT 1 FROM payments p WHERE p.id IN (
      SELECT l.payment_id FROM payment_links l
      WHERE l.rest_of <> ${transferId}::uuid AND l.rest_for = ${paymentId}::uuid)
    ORDER BY p.id FOR UPDATE OF p`

  /** Closes links for other transfers of the payment. False if one of them has been paid, or is being paid. */
  const closeOthers = Effect.fnUntraced(function* (transferId: string, paymentId: PaymentId, at: Date) {
    // Payments that were opened since.
    yield* lockOthers(transferId, paymentId)
    const others = yield* decodeOthers(
      yield* sql`
        SELECT p.id AS payment_id, p.status, ${isUntried(sql, sql`p.id`)} AS is_untried
        FROM payment_links l JOIN payments p ON p.id = l.payment_id
        WHERE l.rest_of <> ${transferId}::uuid AND l.rest_for = ${paymentId}::uuid
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
      WHERE l.rest_of <> ${transferId}::uuid AND l.rest_for = ${paymentId}::uuid
        AND l.closed_at IS NULL`
    return true
  })

  const store: RemainderStore = {
    remaindersOf: Effect.fn("LinkRepo.remaindersOf")(remainders, Effect.orDie),
    insertRemainderLink: Effect.fn("LinkRepo.insertRemainderLink")(
      function* (
        link,
        { incomingTransferId, paymentId = null }
      ): Effect.fn.Return<RemainderRequest, unknown> {
        const payment = yield* sql`
          SELECT 1 FROM payments
          WHERE id = ${paymentId}::uuid AND merchant_id = ${link.merchantId} AND env = ${link.env}
          FOR NO KEY UPDATE`
        // Payments are locked before transfers, as in attaching one to the other.
        yield* lockOthers(incomingTransferId, paymentId)
        // Refunds take this lock as well, so the next statement sees every refund made before.
        const transfer = yield* sql`
          SELECT 1 FROM incoming_transfers
          WHERE id = ${incomingTransferId} AND merchant_id = ${link.merchantId} AND env = ${link.env}
          FOR SHARE`
        if (transfer.length === 0 || (paymentId !== null && payment.length === 0)) return { _tag: "Unknown" }
        const owed =
          paymentId === null
            ? undefined
            : (yield* remainders(link, incomingTransferId, [paymentId])).get(paymentId)
        if (paymentId !== null && !(yield* closeOthers(incomingTransferId, paymentId, link.createdAt)))
          return { _tag: "NotOwed" }
        // A link for a payment that has settled since gives way to a link for another payment.
        yield* sql`
          UPDATE payment_links SET closed_at = ${ended}
          WHERE rest_of = ${incomingTransferId} AND closed_at IS NULL AND EXISTS (
            SELECT 1 FROM payments p WHERE p.id = rest_for AND p.status = 'settled')`
        // So does a link by which nobody can pay any longer: it expired, or its payment was tried and failed.
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
        const [openLink] = yield* linksIn(sql`
          SELECT ${linkColumns(sql, ended)} FROM payment_links
          WHERE rest_of = ${incomingTransferId} AND closed_at IS NULL
            AND merchant_id = ${link.merchantId} AND env = ${link.env}`)
        return openLink === undefined || openLink.closedAt !== null
          ? { _tag: "NotOwed" }
          : { _tag: "Requested", link: openLink }
      },
      (effect) => sql.withTransaction(effect),
      Effect.orDie
    )
  }

  return { store, ended, paidInParts }
}
