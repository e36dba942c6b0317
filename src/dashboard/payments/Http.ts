// The overview and the payments' pages over HTTP.
import { DateTime, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../../AppConfig.ts"
import { TransactionHash } from "../../domain/Chain.ts"
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
import { PaymentPagesRepo, type Search } from "./PaymentPagesRepo.ts"
import { timelineOf } from "./timelineOf.ts"

const pageSize = 20
const latestSize = 5
const dayMillis = 24 * 3_600_000

/** The midnight of UTC with which the overview's days begin. */
const firstDay = (now: Date): Date =>
  new Date((Math.floor(now.getTime() / dayMillis) - (overviewDays - 1)) * dayMillis)

/** Undefined where the text has none of the forms. */
const searchOf = (text: string): Search | undefined => {
  const typed = text.trim()
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(typed)) return { by: "id", id: typed.toLowerCase() }
  if (/^0x[0-9a-f]{64}$/i.test(typed)) {
    return { by: "transaction", transactionId: TransactionHash.make(`0x${typed.slice(2).toLowerCase()}`) }
  }
  const code = /^(?:PAY-)?([A-Z0-9]{8})$/i.exec(typed)?.[1]
  return code === undefined ? undefined : { by: "refCode", refCode: `PAY-${code.toUpperCase()}` }
}

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "paymentPages",
  Effect.fnUntraced(function* (handlers) {
    const { explorerUrls } = yield* AppConfig
    const repo = yield* PaymentPagesRepo
    const receipts = yield* Receipts
    const refunds = yield* Refunds
    const alerts = yield* AlertPagesRepo

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
      list: Effect.fnUntraced(function* ({ query: { search: typed = "", ...query } }) {
        const { tenant } = yield* CurrentMember
        const search = searchOf(typed)
        const nothing = typed.trim() !== "" && search === undefined
        const [rows, openAlerts] = yield* Effect.all(
          [
            nothing
              ? Effect.succeed([])
              : repo.list(tenant, {
                  ...query,
                  ...(search === undefined ? {} : { search }),
                  limit: pageSize + 1
                }),
            alerts.countOpen
          ],
          { concurrency: 2 }
        )
        const page: PaymentsPage = {
          openAlerts,
          payments: rows.slice(0, pageSize).map(viewOf),
          hasMore: rows.length > pageSize
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
