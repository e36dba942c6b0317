// Payment links at rest.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Env } from "../domain/Chain.ts"
import { MerchantId, type Tenant } from "../domain/Merchant.ts"
import { AtomicUsdc } from "../domain/Money.ts"
import { PaymentId, PaymentStatus } from "../domain/Payment.ts"

export interface KeptLink extends Tenant {
  readonly id: string
  readonly publishableKey: string
  readonly description: string
  /** Null where the buyer chooses between `least` and `most`. */
  readonly amount: AtomicUsdc | null
  readonly least: AtomicUsdc | null
  readonly most: AtomicUsdc | null
  readonly once: boolean
  /** The one payment of a link that is paid once. */
  readonly paymentId: PaymentId | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly closedAt: Date | null
}

const Amount = Schema.NullOr(Schema.BigIntFromString.pipe(Schema.decodeTo(AtomicUsdc)))
const Row = Schema.Struct({
  id: Schema.String,
  merchant_id: MerchantId,
  env: Env,
  publishable_key: Schema.String,
  description: Schema.String,
  amount: Amount,
  least: Amount,
  most: Amount,
  once: Schema.Boolean,
  payment_id: Schema.NullOr(PaymentId),
  created_at: Schema.Date,
  expires_at: Schema.NullOr(Schema.Date),
  closed_at: Schema.NullOr(Schema.Date)
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const decodeRests = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: PaymentId, rest: Schema.BigIntFromString }))
)
const decodeOthers = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ payment_id: PaymentId, status: PaymentStatus, is_untried: Schema.Boolean }))
)

const toLink = (row: typeof Row.Type): KeptLink => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  publishableKey: row.publishable_key,
  description: row.description,
  amount: row.amount,
  least: row.least,
  most: row.most,
  once: row.once,
  paymentId: row.payment_id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  closedAt: row.closed_at
})

export interface LinkPage {
  readonly limit: number
  readonly before?: KeptLink | undefined
}

/** What a link asks for the rest of. */
export interface Short {
  readonly incomingTransferId: string
  /** The payment that the transfer fell short of. */
  readonly paymentId: PaymentId | undefined
}

/** What asking for the rest of an incoming transfer came to. */
export type RestAsked =
  | { readonly _tag: "Asked"; readonly link: KeptLink }
  | { readonly _tag: "Unknown" }
  /**
   * The transfer pays a payment, is given back, or has left the chain; or its payment is paid otherwise, in parts as
   * well, or the rest of it is being paid.
   */
  | { readonly _tag: "NotOwed" }

export class LinkRepo extends Context.Service<
  LinkRepo,
  {
    readonly insert: (link: KeptLink) => Effect.Effect<void>
    /**
     * What is missing of each payment once the transfer is counted to it, and every other whose rest was asked for;
     * absent where nothing is.
     */
    readonly restsOf: (
      tenant: Tenant,
      incomingTransferId: string,
      paymentIds: ReadonlyArray<PaymentId>
    ) => Effect.Effect<ReadonlyMap<PaymentId, AtomicUsdc>>
    /**
     * Of a link that asks for the rest of an incoming transfer: the open one that there is, or this one. Of a payment
     * it asks for what is missing then, in place of a link for another transfer that nobody has begun to pay.
     */
    readonly insertRest: (link: KeptLink, short: Short) => Effect.Effect<RestAsked>
    readonly find: (id: string) => Effect.Effect<Option.Option<KeptLink>>
    /** The newest first; those before one of them where it is named. */
    readonly list: (tenant: Tenant, page: LinkPage) => Effect.Effect<ReadonlyArray<KeptLink>>
    /** Closes an open link of the tenant; false where there is none. */
    readonly close: (tenant: Tenant, id: string, at: Date) => Effect.Effect<boolean>
    /**
     * Whether any payment that was opened from the link's page has settled, the present one or an earlier one, or the
     * rest of one has.
     */
    readonly isPaid: (link: KeptLink, page: string) => Effect.Effect<boolean>
    /** Whether nobody has tried to pay it: its money can no longer come by itself. */
    readonly isUntried: (paymentId: PaymentId) => Effect.Effect<boolean>
    /**
     * Gives the link its one payment in place of `before`, which fails; the payment that it has then. One that anybody
     * has tried to pay stays: another payment beside it might be paid a second time.
     */
    readonly settleOn: (
      id: string,
      before: PaymentId | null,
      next: PaymentId,
      at: Date
    ) => Effect.Effect<PaymentId>
  }
>()("quittance/links/LinkRepo") {
  static readonly layer: Layer.Layer<LinkRepo, never, SqlClient.SqlClient> = Layer.effect(
    LinkRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
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
      // Since when a link asks for no rest: that or its payment is paid, the rest of it is asked for or paid by another
      // link, the payment whose rest it is part of is paid, its transfer pays another one or, until it returns, has
      // left the chain. Read off them, it misses none that ends as the link is made.
      const ended = sql`CASE WHEN rest_of IS NOT NULL THEN coalesce(
        (SELECT min(o.created_at) FROM payment_links o JOIN incoming_transfers t ON t.id = o.rest_of
          WHERE o.rest_of IS NOT NULL AND o.rest_for = payment_links.payment_id AND t.dropped_at IS NULL
            AND (o.closed_at IS NULL OR ${isSettled(sql`o.payment_id`)})),
        (WITH RECURSIVE above AS (
            SELECT payment_links.rest_for AS id
            UNION
            SELECT a.rest_for FROM above JOIN payment_links a ON a.payment_id = above.id WHERE a.rest_of IS NOT NULL
          ) SELECT min(p.settled_at) FROM above JOIN payments p ON p.id = above.id),
        (${paidBefore(sql`payment_links.rest_of`, sql`payment_links.rest_for`)}),
        (SELECT coalesce(t.dropped_at, p.settled_at) FROM incoming_transfers t
          LEFT JOIN payments p ON p.id = t.payment_id WHERE t.id = rest_of)) END`
      const columns = sql`id, merchant_id, env, publishable_key, description, amount::text AS amount,
        least::text AS least, most::text AS most, once, payment_id, created_at, expires_at,
        coalesce(closed_at, ${ended}) AS closed_at`
      const all = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
        Effect.map(Effect.flatMap(statement, decodeRows), (rows) => rows.map(toLink))
      const text = (amount: AtomicUsdc | null) => amount?.toString() ?? null

      /** What the wallet declined, or the chain shows to be void, is no try. */
      const untried = (paymentId: PaymentId | Statement.Fragment | null) => sql`(
        NOT EXISTS (
          SELECT 1 FROM payment_attempts a WHERE a.payment_id = ${paymentId}::uuid
            AND coalesce(a.closed_reason, '') NOT IN ('declined', 'nonce_used'))
        AND NOT EXISTS (SELECT 1 FROM shown_addresses a WHERE a.payment_id = ${paymentId}::uuid)
        AND NOT EXISTS (SELECT 1 FROM payment_reports r WHERE r.payment_id = ${paymentId}::uuid)
        AND NOT EXISTS (SELECT 1 FROM x402_settlements s WHERE s.payment_id = ${paymentId}::uuid))`

      const names = sql`id, merchant_id, env, publishable_key, description, amount, least, most, once, payment_id,
        created_at, expires_at, closed_at, rest_of, rest_for`
      const valuesOf = (link: KeptLink) => sql`${link.id}::text, ${link.merchantId}::uuid, ${link.env}::text,
        ${link.publishableKey}::text, ${link.description}::text, ${text(link.amount)}::numeric,
        ${text(link.least)}::numeric, ${text(link.most)}::numeric, ${link.once}::boolean, ${link.paymentId}::uuid,
        ${link.createdAt}::timestamptz, ${link.expiresAt}::timestamptz, ${link.closedAt}::timestamptz`

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
        return new Map(
          found.flatMap(({ id, rest }) => (rest > 0n ? [[id, AtomicUsdc.make(rest)] as const] : []))
        )
      })

      return LinkRepo.of({
        restsOf: Effect.fn("LinkRepo.restsOf")(rests, Effect.orDie),
        insert: Effect.fn("LinkRepo.insert")(function* (link) {
          yield* sql`INSERT INTO payment_links (${names}) SELECT ${valuesOf(link)}, NULL::uuid, NULL::uuid`
        }, Effect.orDie),
        insertRest: Effect.fn("LinkRepo.insertRest")(
          function* (link, { incomingTransferId, paymentId = null }): Effect.fn.Return<RestAsked, unknown> {
            const payment = yield* sql`
              SELECT 1 FROM payments
              WHERE id = ${paymentId}::uuid AND merchant_id = ${link.merchantId} AND env = ${link.env}
              FOR NO KEY UPDATE`
            // A refund holds this lock as well: what is asked after it sees every one that came before.
            const transfer = yield* sql`
              SELECT 1 FROM incoming_transfers
              WHERE id = ${incomingTransferId} AND merchant_id = ${link.merchantId} AND env = ${link.env}
              FOR SHARE`
            if (transfer.length === 0 || (paymentId !== null && payment.length === 0))
              return { _tag: "Unknown" }
            const owed =
              paymentId === null
                ? undefined
                : (yield* rests(link, incomingTransferId, [paymentId])).get(paymentId)
            if (paymentId !== null) {
              // Whoever begins to pay one of them locks it as well.
              yield* sql`
                SELECT 1 FROM payments p WHERE p.id IN (
                  SELECT l.payment_id FROM payment_links l
                  WHERE l.rest_of <> ${incomingTransferId}::uuid AND l.rest_for = ${paymentId}::uuid)
                ORDER BY p.id FOR UPDATE OF p`
              const others = yield* decodeOthers(
                yield* sql`
                  SELECT p.id AS payment_id, p.status, ${untried(sql`p.id`)} AS is_untried
                  FROM payment_links l JOIN payments p ON p.id = l.payment_id
                  WHERE l.rest_of <> ${incomingTransferId}::uuid AND l.rest_for = ${paymentId}::uuid
                    AND (l.closed_at IS NULL OR p.status = 'settled') AND NOT EXISTS (
                      SELECT 1 FROM refunds r WHERE r.payment_id = p.id AND r.status IN ('pending', 'proven'))`
              )
              if (
                others.some(
                  ({ is_untried, status }) => status === "settled" || (status === "pending" && !is_untried)
                )
              )
                return { _tag: "NotOwed" }
              yield* sql`
                UPDATE payments p SET status = 'failed', failed_at = ${link.createdAt}, failure_reason = 'expired'
                WHERE p.id = ANY(${others.map((other) => other.payment_id)}::uuid[]) AND p.status = 'pending'`
              yield* sql`
                UPDATE payment_links l SET closed_at = ${link.createdAt}
                WHERE l.rest_of <> ${incomingTransferId}::uuid AND l.rest_for = ${paymentId}::uuid
                  AND l.closed_at IS NULL`
            }
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
                  AND NOT ${untried(sql`l.payment_id`)}))`
            yield* sql`
              INSERT INTO payment_links (${names})
              SELECT ${valuesOf({ ...link, amount: owed ?? link.amount })}, ${incomingTransferId}::uuid,
                ${paymentId}::uuid
              WHERE ${paymentId === null || owed !== undefined} AND NOT EXISTS (
                SELECT 1 FROM refunds
                WHERE transfer_id = ${incomingTransferId} AND status IN ('pending', 'proven'))
                AND NOT EXISTS (SELECT 1 FROM payments WHERE id = ${paymentId}::uuid AND status = 'settled')
                AND NOT EXISTS (${paidBefore(incomingTransferId, paymentId)})
                AND NOT EXISTS (
                  SELECT 1 FROM incoming_transfers
                  WHERE id = ${incomingTransferId} AND (dropped_at IS NOT NULL OR payment_id IS NOT NULL))
              ON CONFLICT (rest_of) WHERE rest_of IS NOT NULL AND closed_at IS NULL DO NOTHING`
            const [standing] = yield* all(sql`
              SELECT ${columns} FROM payment_links
              WHERE rest_of = ${incomingTransferId} AND closed_at IS NULL
                AND merchant_id = ${link.merchantId} AND env = ${link.env}`)
            return standing === undefined || standing.closedAt !== null
              ? { _tag: "NotOwed" }
              : { _tag: "Asked", link: standing }
          },
          (effect) => sql.withTransaction(effect),
          Effect.orDie
        ),
        find: Effect.fn("LinkRepo.find")(function* (id) {
          const [link] = yield* all(sql`SELECT ${columns} FROM payment_links WHERE id = ${id}`)
          return Option.fromUndefinedOr(link)
        }, Effect.orDie),
        list: Effect.fn("LinkRepo.list")(function* (tenant, { before, limit }) {
          const older =
            before === undefined
              ? sql`TRUE`
              : sql`(created_at, id) < (${before.createdAt}::timestamptz, ${before.id}::text)`
          return yield* all(sql`
            SELECT ${columns} FROM payment_links
            WHERE merchant_id = ${tenant.merchantId} AND env = ${tenant.env} AND ${older}
            ORDER BY created_at DESC, id DESC LIMIT ${limit}`)
        }, Effect.orDie),
        close: Effect.fn("LinkRepo.close")(function* (tenant, id, at) {
          const rows = yield* sql`
            UPDATE payment_links SET closed_at = coalesce(closed_at, ${at})
            WHERE id = ${id} AND merchant_id = ${tenant.merchantId} AND env = ${tenant.env} RETURNING id`
          return rows.length > 0
        }, Effect.orDie),
        isPaid: Effect.fn("LinkRepo.isPaid")(function* ({ env, merchantId }, page) {
          const paid = yield* sql`
            SELECT 1 FROM payments
            WHERE merchant_id = ${merchantId} AND env = ${env}
              AND hashtextextended(intent_url, 0) = hashtextextended(${page}, 0) AND intent_url = ${page}
              AND (status = 'settled' OR id IN (
                WITH RECURSIVE paid AS (
                  SELECT l.rest_for AS id FROM payment_links l
                  WHERE l.rest_of IS NOT NULL AND ${isSettled(sql`l.payment_id`)}
                  UNION
                  SELECT l.rest_for FROM paid JOIN payment_links l ON l.payment_id = paid.id WHERE l.rest_of IS NOT NULL
                ) SELECT paid.id FROM paid WHERE paid.id IS NOT NULL)) LIMIT 1`
          return paid.length > 0
        }, Effect.orDie),
        isUntried: Effect.fn("LinkRepo.isUntried")(function* (paymentId) {
          return (yield* sql`SELECT 1 WHERE ${untried(paymentId)}`).length > 0
        }, Effect.orDie),
        settleOn: Effect.fn("LinkRepo.settleOn")(
          function* (id, before, next, at) {
            // Whoever begins to pay it locks it as well, and who reports refers to it: what is asked after this lock sees
            // every try that came before.
            yield* sql`SELECT 1 FROM payments WHERE id = ${before}::uuid FOR UPDATE`
            yield* sql`
              WITH moved AS (
                UPDATE payment_links SET payment_id = ${next}
                WHERE id = ${id} AND payment_id IS NOT DISTINCT FROM ${before}::uuid AND ${untried(before)}
                  AND NOT EXISTS (SELECT 1 FROM payments WHERE id = ${before}::uuid AND status = 'settled')
                RETURNING id
              )
              UPDATE payments SET status = 'failed', failed_at = ${at}, failure_reason = 'expired'
              WHERE id = ${before}::uuid AND status = 'pending' AND EXISTS (SELECT 1 FROM moved)`
            const [link] = yield* all(sql`SELECT ${columns} FROM payment_links WHERE id = ${id}`)
            return link?.paymentId ?? next
          },
          (effect) => sql.withTransaction(effect),
          Effect.orDie
        )
      })
    })
  )

  /** In this process. */
  static readonly layerMemory: Layer.Layer<LinkRepo> = Layer.sync(LinkRepo, () => {
    const links = new Map<string, KeptLink>()
    /** Ids of links by the transfer whose rest they ask for. */
    const rests = new Map<string, string>()
    const ofTenant = (tenant: Tenant) => (link: KeptLink) =>
      link.merchantId === tenant.merchantId && link.env === tenant.env
    return LinkRepo.of({
      // No transfer is read on memory.
      restsOf: () => Effect.succeed(new Map()),
      insert: (link) => Effect.sync(() => void links.set(link.id, link)),
      insertRest: (link, { incomingTransferId }) =>
        Effect.sync(() => {
          const standing = links.get(rests.get(incomingTransferId) ?? "")
          if (standing !== undefined && standing.closedAt === null)
            return ofTenant(link)(standing) ? { _tag: "Asked", link: standing } : { _tag: "Unknown" }
          links.set(link.id, link)
          rests.set(incomingTransferId, link.id)
          return { _tag: "Asked", link }
        }),
      find: (id) => Effect.sync(() => Option.fromUndefinedOr(links.get(id))),
      list: (tenant, { before, limit }) =>
        Effect.sync(() => {
          const all = [...links.values()].filter(ofTenant(tenant)).toReversed()
          return all
            .slice(before === undefined ? 0 : all.findIndex(({ id }) => id === before.id) + 1)
            .slice(0, limit)
        }),
      close: (tenant, id, at) =>
        Effect.sync(() => {
          const link = links.get(id)
          if (link === undefined || !ofTenant(tenant)(link)) return false
          links.set(id, { ...link, closedAt: link.closedAt ?? at })
          return true
        }),
      isPaid: () => Effect.succeed(false),
      // Nothing is announced on memory.
      isUntried: () => Effect.succeed(true),
      settleOn: (id, before, next) =>
        Effect.sync(() => {
          const link = links.get(id)
          if (link !== undefined && link.paymentId === before) links.set(id, { ...link, paymentId: next })
          return links.get(id)?.paymentId ?? next
        })
    })
  })
}
