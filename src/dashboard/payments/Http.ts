// The overview and the payments' pages over HTTP.
import { DateTime, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../../AppConfig.ts"
import { Books } from "../../books/Books.ts"
import { askedPeriod } from "../../books/views.ts"
import { PaymentNotFound } from "../../domain/Errors.ts"
import { formatUsd } from "../../domain/Money.ts"
import { viewOf } from "../../payments/Http.ts"
import { Receipts } from "../../receipts/Receipts.ts"
import { Refunds } from "../../refunds/Refunds.ts"
import { DashboardApi } from "../Api.ts"
import { AlertPagesRepo } from "../alerts/AlertPagesRepo.ts"
import { refundsOf, refundsPart } from "../refunds/refundsPart.ts"
import { CurrentMember } from "../Session.ts"
import { type OverviewPage, overviewDays, type PaymentDetail, type PaymentsPage } from "./Api.ts"
import { PaymentPagesRepo } from "./PaymentPagesRepo.ts"
import { searchOf } from "./searchOf.ts"
import { timelineOf } from "./timelineOf.ts"

const pageSize = 20
const latestSize = 5
const dayMillis = 24 * 3_600_000

/** The midnight of UTC with which the overview's days begin. */
const firstDay = (now: Date): Date =>
  new Date((Math.floor(now.getTime() / dayMillis) - (overviewDays - 1)) * dayMillis)

/** Beyond every payment: an open end of a range. */
const firstOfAll = "2000-01-01"
const lastOfAll = "9999-12-30"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "paymentPages",
  Effect.fnUntraced(function* (handlers) {
    const { explorerUrls } = yield* AppConfig
    const repo = yield* PaymentPagesRepo
    const receipts = yield* Receipts
    const refunds = yield* Refunds
    const alerts = yield* AlertPagesRepo
    const books = yield* Books

    return handlers.handleAll({
      overview: Effect.fnUntraced(function* () {
        const { tenant } = yield* CurrentMember
        const from = firstDay(yield* DateTime.nowAsDate)
        const [days, counts, latest, openAlerts] = yield* Effect.all(
          [
            repo.settledDays(tenant, from, overviewDays),
            repo.counts(tenant, from),
            repo.list(tenant, { limit: latestSize }),
            alerts.countOpen
          ],
          { concurrency: 4 }
        )
        const page: OverviewPage = {
          openAlerts,
          days: days.map((one) => ({ ...one, volume: formatUsd(BigInt(one.volume)) })),
          settled: {
            count: days.reduce((sum, { count }) => sum + count, 0),
            volume: formatUsd(days.reduce((sum, { volume }) => sum + BigInt(volume), 0n))
          },
          pending: counts.pending,
          failed: counts.failed,
          hasWebhookEndpoint: counts.has_endpoint,
          latest: latest.map(viewOf)
        }
        return page
      }),
      list: Effect.fnUntraced(function* ({ query: { from, search: typed = "", to, ...query } }) {
        const { merchant, tenant } = yield* CurrentMember
        const search = searchOf(typed)
        const understood = typed.trim() === "" || search !== undefined
        const period =
          from === undefined && to === undefined
            ? undefined
            : yield* askedPeriod(books, merchant.id, { from: from ?? firstOfAll, to: to ?? lastOfAll })
        const [rows, openAlerts] = yield* Effect.all(
          [
            understood
              ? repo.list(tenant, {
                  ...query,
                  ...(search === undefined ? {} : { search }),
                  ...(period === undefined ? {} : { since: period.start, until: period.end }),
                  limit: pageSize + 1
                })
              : Effect.succeed([]),
            alerts.countOpen
          ],
          { concurrency: 2 }
        )
        const page: PaymentsPage = {
          openAlerts,
          payments: rows.slice(0, pageSize).map(viewOf),
          hasMore: rows.length > pageSize,
          understood
        }
        return page
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { merchant, tenant } = yield* CurrentMember
        const [found, openAlerts] = yield* Effect.all(
          [repo.find(tenant, params.paymentId), alerts.countOpen],
          { concurrency: 2 }
        )
        if (Option.isNone(found))
          return yield* new PaymentNotFound({ message: "No payment with this id exists here." })
        const { payment, deliveries } = found.value
        const of = { paymentId: payment.id }
        const list = yield* refundsOf(refunds, tenant, of)
        const page: PaymentDetail = {
          openAlerts,
          payment: viewOf(payment),
          receiver: payment.receiver,
          receiptUrl: yield* receipts.issue(payment, merchant.name).pipe(
            Effect.map(({ url }) => url),
            Effect.catchTag("PaymentNotSettled", () => Effect.succeed(null))
          ),
          refunds: yield* refundsPart(refunds, tenant, of, {
            list,
            payer: payment.status === "settled" ? (payment.reported?.evidence.payer ?? null) : null,
            from: payment.receiver
          }),
          explorerUrl: explorerUrls[tenant.env],
          timeline: timelineOf(found.value, list),
          deliveries: deliveries.map(({ id, type, status }) => ({ id, type, status }))
        }
        return page
      })
    })
  })
)
