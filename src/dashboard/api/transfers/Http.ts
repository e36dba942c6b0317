// Incoming transfers over HTTP.
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { DenyList } from "../../../chain/DenyList.ts"
import { type AtomicUsdc, formatUsd } from "../../../domain/Money.ts"
import { paymentView } from "../../../payments/Http.ts"
import { IncomingTransfers } from "../../../payments/IncomingTransfers.ts"
import { Links } from "../../../payments/links/Links.ts"
import { Refunds } from "../../../payments/refunds/Refunds.ts"
import type { IncomingTransfer } from "../../../payments/TransferRepo/TransferStore.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { DashboardApi } from "../Api.ts"
import { refundsOf, refundsPart } from "../refunds/refundsPart.ts"
import { CurrentMember } from "../Session.ts"
import type { TransferPage, TransfersPage, TransferView } from "./Api.ts"

const pageSize = 50

const transferView =
  (denyList: DenyList) =>
  (transfer: IncomingTransfer): TransferView => ({
    id: transfer.id,
    kind: transfer.paymentId === null && denyList.has(transfer.payer) ? "denied" : transfer.kind,
    payer: transfer.payer,
    receiver: transfer.receiver,
    amount: formatUsd(transfer.amount),
    transactionId: transfer.transactionId,
    blockNumber: transfer.blockNumber.toString(),
    at: transfer.blockTime.toISOString(),
    paymentId: transfer.paymentId,
    droppedAt: transfer.droppedAt?.toISOString() ?? null,
    handledAt: transfer.handledAt?.toISOString() ?? null,
    handledBy: transfer.handledBy,
    note: transfer.note
  })

const optionalUsd = (amount: AtomicUsdc | undefined) => (amount === undefined ? null : formatUsd(amount))

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "transferPages",
  Effect.fnUntraced(function* (handlers) {
    const { explorerUrls } = yield* AppConfig
    const transfers = yield* IncomingTransfers
    const refunds = yield* Refunds
    const links = yield* Links
    const view = transferView(yield* DenyList)

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { startingAfter, status = "open" } }) {
        const { tenant } = yield* CurrentMember
        const rows = yield* transfers.list(tenant, { status, startingAfter, limit: pageSize + 1 })
        const page: TransfersPage = {
          transfers: rows.slice(0, pageSize).map(view),
          hasMore: rows.length > pageSize
        }
        return page
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        const { likely, transfer } = yield* transfers.find(tenant, params.transferId)
        const refunded = { transferId: transfer.id }
        const remainders = yield* links.remaindersOf(
          tenant,
          transfer.id,
          likely.map(({ payment }) => payment.id)
        )
        const mayGoBack = transfer.paymentId === null && transfer.droppedAt === null
        const page: TransferPage = {
          transfer: view(transfer),
          explorerUrl: explorerUrls[tenant.env],
          refunds: yield* refundsPart(refunds, tenant, refunded, {
            ...(yield* refundsOf(refunds, tenant, refunded)),
            payer: mayGoBack ? transfer.payer : null,
            came: transfer.receiver
          }),
          likely: likely.map(({ dropped, payment, reasons }) => ({
            payment: paymentView(payment),
            reasons,
            remainder: optionalUsd(remainders.get(payment.id)),
            isDropped: dropped && payment.reported?.evidence.payer === transfer.payer
          }))
        }
        return page
      }),
      attach: Effect.fnUntraced(function* ({ params, payload }) {
        const { tenant, user } = yield* CurrentMember
        const payment = yield* transfers.attach(tenant, params.transferId, payload.paymentId, {
          person: user.email,
          note: payload.note ?? null
        })
        return { payment: paymentView(payment) }
      }),
      handle: Effect.fnUntraced(function* ({ params, payload }) {
        const { tenant, user } = yield* CurrentMember
        const transfer = yield* transfers.handle(tenant, params.transferId, {
          person: user.email,
          note: payload.note
        })
        return { transfer: view(transfer) }
      })
    })
  })
)
