// Incoming transfers that a person resolves: attaches to the intended payment, or marks as handled. Attaching settles
// a payment only if the chain proves the transfer, as for any report.

import { Context, DateTime, Effect, Layer, Option } from "effect"
import { chainRetryAfter } from "../chain/orChainUnavailable.ts"
import {
  ChainUnavailable,
  IncomingTransferExplained,
  IncomingTransferNotFound,
  PaymentNotFound,
  TransferNotAttachable
} from "../domain/Errors.ts"
import type { Tenant } from "../domain/Merchant.ts"
import { type AttachReason, attachAdvice } from "../domain/mismatchAdvice.ts"
import type { Payment, PaymentId } from "../domain/Payment.ts"
import { isAboutNodes } from "../domain/VerdictReason.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { evidenceOf } from "./evidenceOf.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import type { ReportCheck } from "./Payments/evidenceCheck.ts"
import { Payments } from "./Payments.ts"
import type { IncomingTransfer, LikelyPayment } from "./TransferRepo/TransferStore.ts"
import { TransferRepo } from "./TransferRepo.ts"

/** The person who resolved a transfer, and the reason. */
export interface Explanation {
  readonly person: string
  readonly note: string | null
}

type Pending = Extract<ReportCheck, { readonly _tag: "Pending" }>

const notAttachable = (reason: AttachReason) =>
  new TransferNotAttachable({ reason, message: attachAdvice[reason] })

/** The chain does not show yet that the transfer pays the payment. */
const undecidedError = ({ reason }: Pending) =>
  isAboutNodes(reason) ? new ChainUnavailable({ reason, retryAfter: chainRetryAfter }) : notAttachable(reason)

export class IncomingTransfers extends Context.Service<
  IncomingTransfers,
  {
    /** Newest first. */
    readonly list: TransferRepo["Service"]["listTransfers"]
    /** A transfer with the payments that it may be meant for, most likely first. */
    readonly find: (
      tenant: Tenant,
      id: string
    ) => Effect.Effect<
      { readonly transfer: IncomingTransfer; readonly likely: ReadonlyArray<LikelyPayment> },
      IncomingTransferNotFound
    >
    /**
     * Attaches an open transfer to a payment of the exact amount. A pending or failed payment settles. A settled
     * payment of the same wallet takes the transfer over if the chain no longer shows its own.
     */
    readonly attach: (
      tenant: Tenant,
      id: string,
      paymentId: PaymentId,
      by: Explanation
    ) => Effect.Effect<
      Payment,
      | IncomingTransferNotFound
      | IncomingTransferExplained
      | PaymentNotFound
      | TransferNotAttachable
      | ChainUnavailable
    >
    /** Marks an open transfer as handled. */
    readonly handle: (
      tenant: Tenant,
      id: string,
      by: Explanation
    ) => Effect.Effect<IncomingTransfer, IncomingTransferNotFound | IncomingTransferExplained>
  }
>()("quittance/payments/IncomingTransfers") {
  static readonly layer: Layer.Layer<
    IncomingTransfers,
    never,
    PaymentRepo | ClaimRepo | TransferRepo | Payments
  > = Layer.effect(
    IncomingTransfers,
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const transferRepo = yield* TransferRepo
      const claimRepo = yield* ClaimRepo
      const payments = yield* Payments

      const findTransfer = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
        const transfer = yield* transferRepo.findTransfer(tenant, id)
        return Option.isSome(transfer) ? transfer.value : yield* new IncomingTransferNotFound()
      })

      /** The reason why a transfer cannot settle a payment, before the chain is queried. */
      const notAttachableReasonOf = (transfer: IncomingTransfer, payment: Payment) => {
        if (payment.status === "settled") return "settled"
        if (payment.amount !== transfer.amount) return "amount"
        return payment.receiver === transfer.receiver ? undefined : "receiver"
      }

      return {
        list: transferRepo.listTransfers,
        find: Effect.fn("IncomingTransfers.find")(function* (tenant, id) {
          const transfer = yield* findTransfer(tenant, id)
          return { transfer, likely: yield* transferRepo.likelyPayments(transfer) }
        }),
        attach: Effect.fn("IncomingTransfers.attach")(function* (tenant, id, paymentId, by) {
          const transfer = yield* findTransfer(tenant, id)
          const payment = yield* repo.find(tenant, paymentId)
          if (Option.isNone(payment)) return yield* new PaymentNotFound()
          if (transfer.paymentId !== null) return yield* new IncomingTransferExplained()
          const isDropped =
            payment.value.status === "settled" &&
            (yield* claimRepo.droppedClaims(transfer)).some((claim) => claim.payment.id === paymentId)
          const reason = isDropped ? undefined : notAttachableReasonOf(transfer, payment.value)
          if (reason !== undefined) return yield* notAttachable(reason)
          if (yield* transferRepo.awaitsSettlement(transfer)) return yield* notAttachable("settling")
          const at = yield* DateTime.nowAsDate
          // Leased to this member before the chain is queried, so that no one else resolves it concurrently.
          if (!(yield* transferRepo.leaseForPayment(tenant, transfer.id, paymentId, { ...by, at })))
            return yield* (yield* transferRepo.isReserved(paymentId))
              ? notAttachable("settling")
              : new IncomingTransferExplained()
          const evidence = evidenceOf(transfer)
          if (isDropped) {
            const replaced = yield* payments.replaceClaim(payment.value, evidence, { byPerson: true })
            if (replaced._tag === "Replaced") return payment.value
            yield* transferRepo.releaseLease(transfer.id, paymentId, at)
            return yield* replaced._tag === "Pending" ? undecidedError(replaced) : notAttachable("settled")
          }
          const check = yield* payments.check(
            payment.value,
            evidence,
            at,
            // A person decides what the transfer is for, so its age and its signature's payment do not matter.
            { sinceBlock: 0n, byPerson: true }
          )
          const settled =
            check._tag === "Settled" &&
            check.payment.reported?.evidence.transactionId === transfer.transactionId
          if (!settled) yield* transferRepo.releaseLease(transfer.id, paymentId, at)
          switch (check._tag) {
            case "Settled":
              return settled ? check.payment : yield* notAttachable("settled")
            case "Pending":
              return yield* undecidedError(check)
            case "Refused":
              return yield* notAttachable(check.reason === "conflict" ? "settled" : check.reason)
            case "Gated":
              return yield* notAttachable("live")
          }
        }),
        handle: Effect.fn("IncomingTransfers.handle")(function* (tenant, id, by) {
          const transfer = yield* findTransfer(tenant, id)
          const handled = yield* transferRepo.handleTransfer(tenant, id, {
            ...by,
            at: yield* DateTime.nowAsDate
          })
          return handled ? yield* findTransfer(tenant, transfer.id) : yield* new IncomingTransferExplained()
        })
      }
    })
  )
}
