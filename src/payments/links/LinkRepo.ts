// Storage of payment links.

import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../domain/Merchant.ts"
import type { PaymentId } from "../../domain/Payment.ts"
import { failReplaced } from "../PaymentRepo/paymentStatusSql.ts"
import { isUntried } from "./LinkRepo/isUntriedSql.ts"
import { insertLink, linkColumns, linksIn, type StoredLink } from "./LinkRepo/LinkRow.ts"
import { makeRemainderSql, type RemainderStore } from "./LinkRepo/remainderSql.ts"

export interface LinkPage {
  readonly limit: number
  readonly before?: StoredLink | undefined
}

export class LinkRepo extends Context.Service<
  LinkRepo,
  {
    readonly insert: (link: StoredLink) => Effect.Effect<void>
    readonly find: (id: string) => Effect.Effect<Option.Option<StoredLink>>
    /** Newest first; with `before`, only older links. */
    readonly list: (tenant: Tenant, page: LinkPage) => Effect.Effect<ReadonlyArray<StoredLink>>
    /** Closes an open link of the tenant. False if there is none. */
    readonly close: (tenant: Tenant, id: string, at: Date) => Effect.Effect<boolean>
    /** True if any payment opened from the link's page has settled, or the outstanding amount of one has. */
    readonly isPaid: (link: StoredLink, page: string) => Effect.Effect<boolean>
    /** True if the payment has no attempt, shown address, report or signature, so no transfer can be under way. */
    readonly isUntried: (paymentId: PaymentId) => Effect.Effect<boolean>
    /**
     * Binds `next` to the link in place of `before`, which fails. Returns the payment that is bound afterwards. A
     * payment that anybody has tried to pay stays, because a second payment beside it might be paid as well.
     */
    readonly bindPayment: (
      id: string,
      before: PaymentId | null,
      next: PaymentId,
      at: Date
    ) => Effect.Effect<PaymentId>
  } & RemainderStore
>()("quittance/payments/LinkRepo") {
  static readonly layer: Layer.Layer<LinkRepo, never, SqlClient.SqlClient> = Layer.effect(
    LinkRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { ended, paidInParts, store } = makeRemainderSql(sql)
      const columns = linkColumns(sql, ended)

      return LinkRepo.of({
        ...store,
        insert: Effect.fn("LinkRepo.insert")(function* (link) {
          yield* insertLink(sql, link, sql`NULL::uuid, NULL::uuid`)
        }, Effect.orDie),
        find: Effect.fn("LinkRepo.find")(function* (id) {
          const [link] = yield* linksIn(sql`SELECT ${columns} FROM payment_links WHERE id = ${id}`)
          return Option.fromUndefinedOr(link)
        }, Effect.orDie),
        list: Effect.fn("LinkRepo.list")(function* (tenant, { before, limit }) {
          const older =
            before === undefined
              ? sql`TRUE`
              : sql`(created_at, id) < (${before.createdAt}::timestamptz, ${before.id}::text)`
          return yield* linksIn(sql`
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
              AND (status = 'settled' OR id IN (${paidInParts})) LIMIT 1`
          return paid.length > 0
        }, Effect.orDie),
        isUntried: Effect.fn("LinkRepo.isUntried")(function* (paymentId) {
          return (yield* sql`SELECT 1 WHERE ${isUntried(sql, paymentId)}`).length > 0
        }, Effect.orDie),
        bindPayment: Effect.fn("LinkRepo.bindPayment")(
          function* (id, before, next, at) {
            // Beginning to pay takes this lock as well, and a report refers to the row: the next statement sees every
            // try made before.
            yield* sql`SELECT 1 FROM payments WHERE id = ${before}::uuid FOR UPDATE`
            const moved = yield* sql`
              UPDATE payment_links SET payment_id = ${next}
              WHERE id = ${id} AND payment_id IS NOT DISTINCT FROM ${before}::uuid AND ${isUntried(sql, before)}
                AND NOT EXISTS (SELECT 1 FROM payments WHERE id = ${before}::uuid AND status = 'settled')
              RETURNING id`
            if (moved.length > 0 && before !== null) yield* failReplaced(sql, [before], at)
            const [link] = yield* linksIn(sql`SELECT ${columns} FROM payment_links WHERE id = ${id}`)
            return link?.paymentId ?? next
          },
          (effect) => sql.withTransaction(effect),
          Effect.orDie
        )
      })
    })
  )

  /** Stores no links. */
  static readonly layerNone: Layer.Layer<LinkRepo> = Layer.succeed(LinkRepo, {
    remaindersOf: () => Effect.succeed(new Map()),
    insert: () => Effect.void,
    insertRemainderLink: () => Effect.succeed({ _tag: "Unknown" }),
    find: () => Effect.succeedNone,
    list: () => Effect.succeed([]),
    close: () => Effect.succeed(false),
    isPaid: () => Effect.succeed(false),
    isUntried: () => Effect.succeed(false),
    bindPayment: (_id, _before, next) => Effect.succeed(next)
  })
}
