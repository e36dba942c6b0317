// Validates requests for refunds, for the API and the dashboard.
import { Effect } from "effect"
import { parseChecksummedAddress } from "../../chain/Address.ts"
import { type InvalidRequest, invalidField } from "../../domain/Errors.ts"
import type { NewRefund } from "./Api.ts"
import type { RefundRequest } from "./Refunds.ts"

/** Parses a request for a refund of one payment or one transfer, to an address with a valid checksum. */
export const requestedRefund = Effect.fnUntraced(function* (
  { incomingTransferId, paymentId, recipient: typed, ...terms }: typeof NewRefund.Type,
  by: string
): Effect.fn.Return<RefundRequest, InvalidRequest> {
  const recipient = typed === undefined ? undefined : parseChecksummedAddress(typed)
  if (typed !== undefined && recipient === undefined)
    return yield* invalidField("body.recipient", "The address has a wrong checksum. Copy it again.")
  const request = { ...terms, ...(recipient === undefined ? {} : { recipient }), by }
  if (paymentId !== undefined && incomingTransferId === undefined) return { ...request, of: { paymentId } }
  if (paymentId === undefined && incomingTransferId !== undefined)
    return { ...request, of: { transferId: incomingTransferId } }
  return yield* invalidField("body.paymentId", "Send either `paymentId` or `incomingTransferId`.")
})
