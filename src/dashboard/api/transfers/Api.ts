// The contract of incoming transfers: those that no payment claims, and how members resolve them.
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import {
  ChainUnavailable,
  IncomingTransferExplained,
  IncomingTransferNotFound,
  InvalidRequest,
  PaymentNotFound,
  TransferNotAttachable
} from "../../../domain/Errors.ts"
import { LikelyReason, ShownTransferKind } from "../../../domain/IncomingTransfer.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { PaymentId } from "../../../domain/Payment.ts"
import { everyRole, moneyRoles } from "../../../domain/roleSets.ts"
import { PaymentView } from "../../../payments/PaymentView.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { RefundsPart } from "../refunds/Api.ts"
import { memberParams } from "../Session.ts"

export const TransferView = Schema.Struct({
  id: Uuid,
  /** Null while it is being matched, and if a payment claims it. */
  kind: Schema.NullOr(ShownTransferKind),
  payer: Schema.String,
  receiver: Schema.String,
  /** Decimal USD. */
  amount: Schema.String,
  transactionId: Schema.String,
  blockNumber: Schema.String,
  /** Time of its block. */
  at: Schema.String,
  paymentId: Schema.NullOr(PaymentId),
  /** The time since which the chain no longer shows it. */
  droppedAt: Schema.NullOr(Schema.String),
  handledAt: Schema.NullOr(Schema.String),
  handledBy: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String)
})
export type TransferView = typeof TransferView.Encoded

export const TransfersPage = Schema.Struct({
  transfers: Schema.Array(TransferView),
  hasMore: Schema.Boolean
})
export type TransfersPage = typeof TransfersPage.Encoded

export const TransferPage = Schema.Struct({
  transfer: TransferView,
  explorerUrl: Schema.NullOr(Schema.String),
  refunds: RefundsPart,
  /** Most likely first. */
  likely: Schema.Array(
    Schema.Struct({
      payment: PaymentView,
      reasons: Schema.Array(LikelyReason),
      /**
       * The payment's outstanding amount after counting this transfer and those with a link for an outstanding amount;
       * null if nothing is outstanding.
       */
      remainder: Schema.NullOr(Schema.String),
      /** True if it settled by a transfer of the same wallet that the chain no longer shows. */
      isDropped: Schema.Boolean
    })
  )
})
export type TransferPage = typeof TransferPage.Encoded

const params = { ...memberParams, transferId: Uuid }
const Note = Schema.String.check(Schema.isMaxLength(2000))

export class TransferPagesApi extends memberGroup("transferPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("list", "/incoming-transfers", {
      query: {
        /** Default `open`: neither claimed by a payment nor marked as handled. */
        status: Schema.optionalKey(Schema.Literals(["open", "handled", "all"])),
        startingAfter: Schema.optionalKey(Uuid)
      },
      success: Schema.toEncoded(TransfersPage)
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/incoming-transfers/:transferId", {
      params,
      success: Schema.toEncoded(TransferPage),
      error: [errorResponse(IncomingTransferNotFound)]
    })
  ),
  allow(
    { by: "member", roles: moneyRoles },
    HttpApiEndpoint.post("attach", "/incoming-transfers/:transferId/attach", {
      params,
      payload: Schema.Struct({ paymentId: PaymentId, note: Schema.optionalKey(Note) }),
      success: Schema.toEncoded(Schema.Struct({ payment: PaymentView })),
      error: [
        errorResponse(IncomingTransferNotFound),
        errorResponse(IncomingTransferExplained),
        errorResponse(PaymentNotFound),
        errorResponse(TransferNotAttachable),
        errorResponse(ChainUnavailable)
      ]
    })
  ),
  allow(
    { by: "member", roles: moneyRoles },
    HttpApiEndpoint.post("handle", "/incoming-transfers/:transferId/handle", {
      params,
      payload: Schema.Struct({ note: Note.check(Schema.isMinLength(1)) }),
      success: Schema.toEncoded(Schema.Struct({ transfer: TransferView })),
      error: [
        errorResponse(InvalidRequest),
        errorResponse(IncomingTransferNotFound),
        errorResponse(IncomingTransferExplained)
      ]
    })
  )
) {}
