// Incoming transfers that a person explains: attached to the payment that they were meant for, or
// marked as handled. Attaching settles the payment by the chain's word alone, as any report does.

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
import type { Payment, PaymentId } from "../domain/Payment.ts"
import { isAboutNodes } from "../domain/VerdictReason.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { evidenceOf } from "./evidenceOf.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import { Payments } from "./Payments.ts"
import type { IncomingTransfer, LikelyPayment } from "./TransferRepo/TransferStore.ts"
import { TransferRepo } from "./TransferRepo.ts"

/** The person who explained a transfer, and the reason. */
export interface Explanation {
  readonly person: string
  readonly note: string | null
}

const waits =
  "The chain has not confirmed this transfer far enough for its amount yet. Nothing was changed: try again in some minutes."

export class IncomingTransfers extends Context.Service<
  IncomingTransfers,
  {
    /** Newest first. */
    readonly list: TransferRepo["Service"]["listTransfers"]
    /** A transfer with the payments that it may be meant for, the likeliest first. */
    readonly find: (
      tenant: Tenant,
      id: string
    ) => Effect.Effect<
      { readonly transfer: IncomingTransfer; readonly likely: ReadonlyArray<LikelyPayment> },
      IncomingTransferNotFound
    >
    /**
     * Settles a pending or failed payment of the exact amount by an open transfer, or gives it to a settled one of
     * its wallet whose own transfer the chain no longer shows.
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

      const found = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
        const transfer = yield* transferRepo.findTransfer(tenant, id)
        return Option.isSome(transfer) ? transfer.value : yield* new IncomingTransferNotFound()
      })

      /** The reason why a transfer cannot settle a payment, before the chain is queried. */
      const obstacle = (transfer: IncomingTransfer, payment: Payment) => {
        if (payment.status === "settled") return "settled"
        if (payment.amount !== transfer.amount) return "amount"
        return payment.receiver === transfer.receiver ? undefined : "receiver"
      }

      return {
        list: transferRepo.listTransfers,
        find: Effect.fn("IncomingTransfers.find")(function* (tenant, id) {
          const transfer = yield* found(tenant, id)
          return { transfer, likely: yield* transferRepo.likelyPayments(transfer) }
        }),
        attach: Effect.fn("IncomingTransfers.attach")(function* (tenant, id, paymentId, by) {
          const transfer = yield* found(tenant, id)
          const payment = yield* repo.find(tenant, paymentId)
          if (Option.isNone(payment)) return yield* new PaymentNotFound()
          if (transfer.paymentId !== null) return yield* new IncomingTransferExplained()
          const isDropped =
            payment.value.status === "settled" &&
            (yield* claimRepo.droppedClaims(transfer)).some((one) => one.payment.id === paymentId)
          const reason = isDropped ? undefined : obstacle(transfer, payment.value)
          if (reason !== undefined) return yield* new TransferNotAttachable({ reason })
          if (yield* transferRepo.awaitsSettlement(transfer))
            return yield* new TransferNotAttachable({ reason: "settling" })
          const at = yield* DateTime.nowAsDate
          // Leased to this member before the chain is queried, so that no one else resolves it concurrently.
          if (!(yield* transferRepo.takeForPayment(tenant, transfer.id, paymentId, { ...by, at })))
            return yield* (yield* transferRepo.isReserved(paymentId))
              ? new TransferNotAttachable({ reason: "settling" })
              : new IncomingTransferExplained()
          const evidence = evidenceOf(transfer)
          if (isDropped) {
            const followed = yield* payments.follow(payment.value, evidence, { byPerson: true })
            if (followed === "Followed") return payment.value
            yield* transferRepo.giveBack(transfer.id, paymentId, at)
            return yield* followed === "Pending"
              ? new ChainUnavailable({ reason: "rpc_unavailable", retryAfter: chainRetryAfter })
              : new TransferNotAttachable({ reason: "settled" })
          }
          const check = yield* payments.check(
            payment.value,
            evidence,
            at,
            // A person says what the transfer is for: how old it is and what it was signed for decide nothing.
            { sinceBlock: 0n, byPerson: true }
          )
          const settled =
            check._tag === "Settled" &&
            check.payment.reported?.evidence.transactionId === transfer.transactionId
          if (!settled) yield* transferRepo.giveBack(transfer.id, paymentId, at)
          switch (check._tag) {
            case "Settled":
              return settled ? check.payment : yield* new TransferNotAttachable({ reason: "settled" })
            case "Pending":
              return yield* isAboutNodes(check.reason)
                ? new ChainUnavailable({ reason: check.reason, retryAfter: chainRetryAfter })
                : new TransferNotAttachable({ reason: check.reason, message: waits })
            case "Refused":
              return yield* new TransferNotAttachable({
                reason: check.reason === "conflict" ? "settled" : check.reason
              })
            case "Gated":
              return yield* new TransferNotAttachable({ reason: "live" })
          }
        }),
        handle: Effect.fn("IncomingTransfers.handle")(function* (tenant, id, by) {
          const transfer = yield* found(tenant, id)
          const handled = yield* transferRepo.handleTransfer(tenant, id, {
            ...by,
            at: yield* DateTime.nowAsDate
          })
          return handled ? yield* found(tenant, transfer.id) : yield* new IncomingTransferExplained()
        })
      }
    })
  )
}
