import { Effect, Option } from "effect"
import type { Address } from "../../../domain/Chain.ts"
import type { Tenant } from "../../../domain/Merchant.ts"
import { formatUsd } from "../../../domain/Money.ts"
import type { Refund, RefundedThing } from "../../../payments/refunds/RefundRepo/RefundStore.ts"
import type { Refunds } from "../../../payments/refunds/Refunds.ts"
import { refundView } from "../../../payments/refunds/refundView.ts"
import type { RefundsPart } from "./Api.ts"

/** The number of refunds shown; older ones are not. */
const shown = 100

/** The newest refunds, oldest first. */
export const refundsOf = (refunds: Refunds["Service"], tenant: Tenant, of: RefundedThing) =>
  Effect.map(refunds.list(tenant, { of, limit: shown + 1 }), (found) => {
    const newest = Option.getOrElse(found, (): ReadonlyArray<Refund> => [])
    return { list: newest.slice(0, shown).toReversed(), hasMore: newest.length > shown }
  })

/** The refunds of a payment or transfer, for its page. */
export const refundsPart = Effect.fnUntraced(function* (
  refunds: Refunds["Service"],
  tenant: Tenant,
  of: RefundedThing,
  known: {
    readonly list: ReadonlyArray<Refund>
    readonly hasMore: boolean
    readonly payer: Address | null
    /** The receiving address that the money arrived at. */
    readonly came: Address
  }
) {
  const { paid, refunded } = yield* refunds.balance(tenant, of)
  const from = yield* refunds.senderFor(tenant, known.came)
  const part: RefundsPart = {
    refunds: known.list.map(refundView),
    hasMore: known.hasMore,
    left: formatUsd(paid > refunded ? paid - refunded : 0n),
    payer: known.payer,
    from: Option.getOrNull(from)
  }
  return part
})
