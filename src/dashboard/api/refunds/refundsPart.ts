// Builds the refunds section of a payment's or a transfer's page.
import { Effect, Option } from "effect"
import type { Address } from "../../../domain/Chain.ts"
import type { Tenant } from "../../../domain/Merchant.ts"
import { formatUsd } from "../../../domain/Money.ts"
import type { Refund, RefundTarget } from "../../../payments/refunds/RefundRepo/RefundStore.ts"
import type { Refunds } from "../../../payments/refunds/Refunds.ts"
import { refundView } from "../../../payments/refunds/refundView.ts"
import type { RefundsPart } from "./Api.ts"

/** The number of refunds shown; older ones are not. */
const maxShown = 100

/** The newest refunds, oldest first. */
export const refundsOf = (refunds: Refunds["Service"], tenant: Tenant, of: RefundTarget) =>
  Effect.map(refunds.list(tenant, { of, limit: maxShown + 1 }), (page) => {
    const newest = Option.getOrElse(page, (): ReadonlyArray<Refund> => [])
    return { list: newest.slice(0, maxShown).toReversed(), hasMore: newest.length > maxShown }
  })

/** The refunds of a payment or transfer, for its page. */
export const refundsPart = Effect.fnUntraced(function* (
  refunds: Refunds["Service"],
  tenant: Tenant,
  of: RefundTarget,
  shownRefunds: {
    readonly list: ReadonlyArray<Refund>
    readonly hasMore: boolean
    readonly payer: Address | null
    /** The receiving address that the money arrived at. */
    readonly came: Address
  }
) {
  const { paid, refunded } = yield* refunds.balance(tenant, of)
  const from = yield* refunds.senderFor(tenant, shownRefunds.came)
  const part: RefundsPart = {
    refunds: shownRefunds.list.map(refundView),
    hasMore: shownRefunds.hasMore,
    left: formatUsd(paid > refunded ? paid - refunded : 0n),
    payer: shownRefunds.payer,
    from: Option.getOrNull(from)
  }
  return part
})
