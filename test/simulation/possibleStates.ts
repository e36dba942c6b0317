// The states in which a run may leave payments, deliveries, transfers and authorizations, as the oracle names them.
import { TransferKind } from "../../src/domain/IncomingTransfer.ts"
import { FailureReason } from "../../src/domain/Payment.ts"
import { EventType } from "../../src/domain/Webhook.ts"
import type { Plan } from "./Plan.ts"

const deliveries = ["delivered after 1", "delivered after 2", "delivered after 3", "failed after 3"]

export const possibleStates = (store: Plan["store"]): ReadonlyArray<string> => [
  "payment pending",
  "payment settled",
  ...FailureReason.literals.map((reason) => `payment failed ${reason}`),
  ...EventType.literals.flatMap((type) => deliveries.map((state) => `${type} ${state}`)),
  ...["dropped", "explained", "undecided", ...TransferKind.literals].map((state) => `transfer ${state}`),
  ...["not_included", "reverted", "transfer_changed"].map((why) => `settled transfer gone, ${why}`),
  ...["refund pending", "refund proven", "refund cancelled", "refund dropped", "refund failed reverted"],
  ...(store === "sql" ? ["authorization pending", "authorization settled", "authorization failed"] : [])
]
