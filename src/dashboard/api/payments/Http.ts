// The overview and the payments' pages over HTTP.
import { DateTime, Duration, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { invalidField, PaymentNotFound } from "../../../domain/Errors.ts"
import { todayIn } from "../../../domain/Period.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { Books } from "../../../payments/books/Books.ts"
import { requestedPeriod } from "../../../payments/books/views.ts"
import { paymentView } from "../../../payments/Http.ts"
import { Receipts } from "../../../payments/receipts/Receipts.ts"
import { Refunds } from "../../../payments/refunds/Refunds.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { DashboardApi } from "../Api.ts"
import { refundsOf, refundsPart } from "../refunds/refundsPart.ts"
import { CurrentMember } from "../Session.ts"
import {
  maxOverviewDays,
  type OverviewPage,
  overviewDays,
  type PaymentDetail,
  type PaymentsPage
} from "./Api.ts"
import { OverviewRepo } from "./OverviewRepo.ts"
import { lastDays, lengthOf, overviewOf } from "./overviewOf.ts"
import { type ListedPayment, PaymentPagesRepo } from "./PaymentPagesRepo.ts"
import { searchOf } from "./searchOf.ts"
import { timelineOf } from "./timelineOf.ts"

const pageSize = 20
const latestSize = 5

const listedPayment = ({ payment, state }: ListedPayment) => ({ payment: paymentView(payment), state })

/** Before and after every payment, for a range with an open end. */
const firstOfAll = "2000-01-01"
const lastOfAll = "9999-12-30"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "paymentPages",
  Effect.fnUntraced(function* (handlers) {
    const { explorerUrls, paymentExpiry } = yield* AppConfig
    const repo = yield* PaymentPagesRepo
    const receipts = yield* Receipts
    const refunds = yield* Refunds
    const books = yield* Books
    const figures = yield* OverviewRepo

    return handlers.handleAll({
      overview: Effect.fnUntraced(function* ({ query: { from, to } }) {
        const { merchant, tenant } = yield* CurrentMember
        const timeZone = yield* books.timeZone(merchant.id)
        const { today } = todayIn(yield* DateTime.nowAsDate, timeZone)
        const usual = lastDays(to ?? today, overviewDays)
        const period = yield* requestedPeriod(books, merchant.id, {
          from: from ?? usual.from,
          to: to ?? today,
          timeZone
        })
        if (lengthOf(period.from, period.to) > maxOverviewDays)
          return yield* invalidField("query.from", `Choose a period of at most ${maxOverviewDays} days.`)
        const [days, counts, latest] = yield* Effect.all(
          [figures.days(tenant, period), repo.counts(tenant), repo.list(tenant, { limit: latestSize })],
          { concurrency: 3 }
        )
        const page: OverviewPage = {
          period: { from: period.from, to: period.to, timeZone },
          today,
          ...overviewOf(days),
          pending: counts.pending,
          incomplete: counts.incomplete,
          hasWebhookEndpoint: counts.has_endpoint,
          latest: latest.map(listedPayment)
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
            : yield* requestedPeriod(books, merchant.id, { from: from ?? firstOfAll, to: to ?? lastOfAll })
        const rows = understood
          ? yield* repo.list(tenant, {
              ...query,
              ...(search === undefined ? {} : { search }),
              ...(period === undefined ? {} : { since: period.start, until: period.end }),
              limit: pageSize + 1
            })
          : []
        const page: PaymentsPage = {
          payments: rows.slice(0, pageSize).map(listedPayment),
          hasMore: rows.length > pageSize,
          understood
        }
        return page
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { merchant, tenant } = yield* CurrentMember
        const history = yield* repo.find(tenant, params.paymentId)
        if (Option.isNone(history))
          return yield* new PaymentNotFound({ message: "No payment with this id exists here." })
        const { payment, deliveries, state } = history.value
        const refunded = { paymentId: payment.id }
        const refundsOfPayment = yield* refundsOf(refunds, tenant, refunded)
        const page: PaymentDetail = {
          ...listedPayment({ payment, state }),
          receiver: payment.receiver,
          ...(payment.status === "pending"
            ? {
                waitsUntil: plusMillis(payment.createdAt, Duration.toMillis(paymentExpiry)).toISOString()
              }
            : {}),
          receiptUrl: yield* receipts.issue(payment, merchant.name).pipe(
            Effect.map(({ url }) => url),
            Effect.catchTag("PaymentNotSettled", () => Effect.succeed(null))
          ),
          refunds: yield* refundsPart(refunds, tenant, refunded, {
            ...refundsOfPayment,
            payer: payment.status === "settled" ? (payment.reported?.evidence.payer ?? null) : null,
            came: payment.receiver
          }),
          explorerUrl: explorerUrls[tenant.env],
          timeline: timelineOf(history.value, refundsOfPayment.list),
          deliveries: deliveries.map(({ id, type, status }) => ({ id, type, status }))
        }
        return page
      })
    })
  })
)
