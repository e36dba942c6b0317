// The states in which a run may leave payments, deliveries, transfers, refunds and authorizations, as the oracle names them.
import { TransferKind } from "../../src/domain/IncomingTransfer.ts"
import { FailureReason } from "../../src/domain/Payment.ts"
import { RefundFailure } from "../../src/domain/Refund.ts"
import { DeliveryStatus, EventType } from "../../src/domain/Webhook.ts"
import type { Plan } from "./Plan.ts"

/** After how many attempts a delivery may be so. None waits at the end of a run. */
const attempts: Readonly<Record<DeliveryStatus, ReadonlyArray<number>>> = {
  pending: [],
  delivered: [1, 2, 3],
  failed: [3],
  cancelled: [0, 1, 2]
}
const deliveries = DeliveryStatus.literals.flatMap((status) =>
  attempts[status].map((count) => `${status} after ${count}`)
)

export const possibleStates = (store: Plan["store"]): ReadonlyArray<string> => [
  "payment pending",
  "payment settled",
  ...FailureReason.literals.map((reason) => `payment failed ${reason}`),
  ...EventType.literals.flatMap((type) => deliveries.map((state) => `${type} ${state}`)),
  ...["dropped", "explained", "undecided", ...TransferKind.literals].map((state) => `transfer ${state}`),
  ...["not_included", "reverted", "transfer_changed"].map((why) => `settled transfer gone, ${why}`),
  ...["refund pending", "refund proven", "refund cancelled", "refund dropped"],
  ...RefundFailure.literals.map((reason) => `refund failed ${reason}`),
  ...(store === "sql" ? ["authorization pending", "authorization settled", "authorization failed"] : [])
]
