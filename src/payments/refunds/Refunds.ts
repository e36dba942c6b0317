// Refunds: a merchant's own wallet sends USDC back, and the chain proves it. Nothing here moves money.

import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { zeroAddress } from "viem"
import { ChainHeights } from "../../chain/ChainHeights.ts"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import type { Verification } from "../../chain/Verification.ts"
import { Address, type TransactionHash } from "../../domain/Chain.ts"
import {
  IncomingTransferExplained,
  IncomingTransferNotFound,
  type InvalidRequest,
  invalidField,
  LiveModeGated,
  PaymentNotFound,
  PaymentNotSettled,
  RefundEnded,
  RefundExceedsPaid,
  RefundNotFound,
  RefundNotProven
} from "../../domain/Errors.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { AtomicUsdc, formatUsd } from "../../domain/Money.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { Alerts } from "../../platform/alerts/Alerts.ts"
import { Networks } from "../../platform/Networks.ts"
import { PaymentRepo } from "../PaymentRepo.ts"
import { TransferRepo } from "../TransferRepo.ts"
import type { NewRefund, Refund, RefundBalance, RefundTarget } from "./RefundRepo/RefundStore.ts"
import { RefundRepo } from "./RefundRepo.ts"
import { refundNotProven } from "./Refunds/refundNotProven.ts"
import { makeVerifyRefund } from "./Refunds/verifyRefund.ts"

export interface RefundRequest {
  /** The caller's id of the refund. The same id again means the same refund. */
  readonly id?: string
  readonly of: RefundTarget
  /** Default: the refundable amount. */
  readonly amount?: AtomicUsdc
  /** Default: the payer. */
  readonly recipient?: Address
  readonly transactionId?: TransactionHash
  readonly reason?: string
  readonly beyondPaid?: boolean
  /** The person or key that requests the refund. */
  readonly by: string
}

/** The chain's answer about a pending refund. */
export type RefundCheck =
  | { readonly _tag: "Proven"; readonly refund: Refund }
  | { readonly _tag: "Pending"; readonly isUnknown: boolean }
  | { readonly _tag: "Refused"; readonly error: RefundNotProven; readonly final: boolean }
  | { readonly _tag: "Ended" }

/** The delay between a refund's creation and the worker's first check. */
const firstCheckMillis = 2_500
/** The delay between the proof and the first check of its block for a reorganisation. */
const firstWatchMillis = 60_000

const zeroPayer = Address.make(zeroAddress)

const idTaken = invalidField("body.id", "Another refund has this id. Generate a new one.")

/** The number of refunds of one payment or transfer read at a time. */
const pageSize = 100

const make = Effect.gen(function* () {
  const { executes } = yield* Networks
  const repo = yield* PaymentRepo
  const refundRepo = yield* RefundRepo
  const transferRepo = yield* TransferRepo
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts
  const chainHeights = yield* ChainHeights
  const random = yield* SecureRandom.SecureRandom
  const verify = makeVerifyRefund(chain, repo, refundRepo)

  /** The refunded payment or transfer: its payer, and the first block that contains it. */
  const refundTargetOf = Effect.fnUntraced(function* (tenant: Tenant, of: RefundTarget) {
    if ("paymentId" in of) {
      const payment = yield* repo.find(tenant, of.paymentId)
      if (Option.isNone(payment)) return yield* new PaymentNotFound()
      const { reported, status } = payment.value
      if (status !== "settled" || reported === null) return yield* new PaymentNotSettled()
      const settledBlock = yield* refundRepo.settledBlock(of.paymentId)
      return { payer: reported.evidence.payer, sinceBlock: Option.getOrElse(settledBlock, () => 0n) }
    }
    const transfer = yield* transferRepo.findTransfer(tenant, of.transferId)
    if (Option.isNone(transfer)) return yield* new IncomingTransferNotFound()
    const { blockNumber, payer, paymentId } = transfer.value
    if (paymentId !== null) return yield* new IncomingTransferExplained()
    return { payer, sinceBlock: blockNumber }
  })

  const currentProof = Effect.fnUntraced(function* (verified: Extract<Verification, { _tag: "Verified" }>) {
    const at = yield* DateTime.nowAsDate
    return {
      proof: { ...verified, sender: verified.payer },
      at,
      checkAt: plusMillis(at, firstWatchMillis)
    }
  })

  const check = Effect.fn("Refunds.check")(function* (
    refund: Refund,
    transactionId: TransactionHash
  ): Effect.fn.Return<RefundCheck> {
    while (true) {
      const verification = yield* verify(refund, transactionId)
      if (verification._tag === "Pending")
        return { _tag: "Pending", isUnknown: verification.reason === "not_found" }
      if (verification._tag === "Mismatch")
        return { _tag: "Refused", error: refundNotProven(verification), final: verification.confirmed }
      const { at, checkAt, proof } = yield* currentProof(verification)
      const settled = yield* Effect.result(refundRepo.proveRefund(refund.id, proof, at, checkAt))
      // Another payment or refund has claimed it in the meantime. The transaction may contain another equal transfer.
      if (Result.isFailure(settled)) continue
      if (Option.isSome(settled.success)) return { _tag: "Proven", refund: settled.success.value }
      const now = yield* refundRepo.findRefund(refund, refund.id)
      if (Option.isNone(now) || now.value.status !== "pending")
        return Option.isSome(now) && now.value.status === "proven"
          ? { _tag: "Proven", refund: now.value }
          : { _tag: "Ended" }
      return { _tag: "Pending", isUnknown: false }
    }
  })

  const findRefund = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    const refund = yield* refundRepo.findRefund(tenant, id)
    return Option.isSome(refund) ? refund.value : yield* new RefundNotFound()
  })

  const exceedsError = ({ paid, refunded }: RefundBalance, amount: bigint) =>
    new RefundExceedsPaid({
      details: [
        {
          path: "body.amount",
          message: "Exceeds the refundable amount.",
          expected: `at most ${formatUsd(paid > refunded ? paid - refunded : 0n)}`,
          actual: formatUsd(amount)
        }
      ]
    })

  /** A refund that this transaction has proven, or may prove. */
  const findProvable = Effect.fnUntraced(function* (
    tenant: Tenant,
    id: string,
    transactionId: TransactionHash
  ) {
    const refund = yield* findRefund(tenant, id)
    const isProven = refund.status === "proven" && refund.transactionId === transactionId
    return isProven || refund.status === "pending" ? refund : yield* new RefundEnded()
  })

  /** The transaction may be used up because another request proved this refund with it. */
  const provenOrFail = Effect.fnUntraced(function* (
    { id, ...tenant }: Refund,
    transactionId: TransactionHash,
    error: RefundNotProven
  ) {
    const refund = yield* findProvable(tenant, id, transactionId)
    return refund.status === "proven" ? refund : yield* error
  })

  /** Adds a refund, proven if its transaction proves it by now. If the transaction refutes it, none is created. */
  const add = Effect.fnUntraced(function* (
    refund: NewRefund,
    sinceBlock: bigint,
    earlier: Effect.Effect<Refund | undefined>
  ) {
    const { at: createdAt, transactionId } = refund
    while (true) {
      const verification =
        transactionId === null
          ? undefined
          : yield* verify({ ...refund, sinceBlock, createdAt }, transactionId)
      if (verification?._tag === "Mismatch") {
        // The same request may have used the transfer in the meantime.
        const existingRefund = yield* earlier
        return existingRefund === undefined
          ? yield* refundNotProven(verification)
          : { _tag: "Known" as const, refund: existingRefund }
      }
      const proof = verification?._tag === "Verified" ? yield* currentProof(verification) : undefined
      const created = yield* Effect.result(refundRepo.createRefund(refund, proof))
      if (Result.isSuccess(created)) return created.success
      // Another payment or refund has claimed it in the meantime. The transaction may contain another equal transfer.
    }
  })

  const report = Effect.fn("Refunds.report")(function* (
    tenant: Tenant,
    id: string,
    transactionId: TransactionHash
  ) {
    const refund = yield* findProvable(tenant, id, transactionId)
    if (refund.status === "proven") return refund
    const checked = yield* check(refund, transactionId)
    if (checked._tag === "Refused") return yield* provenOrFail(refund, transactionId, checked.error)
    // A proof records the transaction in the same step. An undecided transaction is recorded here and checked again.
    if (checked._tag === "Pending") {
      const at = yield* DateTime.nowAsDate
      yield* refundRepo.reportRefundTransaction(id, transactionId, at, plusMillis(at, firstCheckMillis))
    }
    return yield* findProvable(tenant, id, transactionId)
  })

  /** The newest refund that matches, however many there are. */
  const newestMatching = Effect.fnUntraced(function* (
    tenant: Tenant,
    of: RefundTarget,
    matchesRequest: (refund: Refund) => boolean
  ) {
    let startingAfter: string | undefined
    while (true) {
      const page: Option.Option<ReadonlyArray<Refund>> = yield* refundRepo.listRefunds(tenant, {
        of,
        limit: pageSize,
        ...(startingAfter === undefined ? {} : { startingAfter })
      })
      const refunds = Option.getOrElse(page, (): ReadonlyArray<Refund> => [])
      const refund = refunds.find(matchesRequest)
      if (refund !== undefined || refunds.length < pageSize) return refund
      startingAfter = refunds.at(-1)?.id
    }
  })

  /** The refund that an earlier request created. If this request has a transaction, it is reported. */
  const repeatRefund = Effect.fnUntraced(function* (
    earlier: Refund,
    transactionId: TransactionHash | undefined
  ) {
    const isReported =
      transactionId === undefined || earlier.status !== "pending" || earlier.transactionId === transactionId
    const refund = isReported
      ? earlier
      : yield* report(earlier, earlier.id, transactionId).pipe(
          // Another transaction proved it in the meantime, or it was cancelled.
          Effect.catchTag("RefundEnded", () => findRefund(earlier, earlier.id)),
          Effect.catchTag("RefundNotFound", Effect.die)
        )
    return { refund, created: false }
  })

  return Refunds.of({
    create: Effect.fn("Refunds.create")(function* (tenant, { by, of, transactionId, ...input }) {
      if (!executes(tenant.env)) return yield* new LiveModeGated()
      const { payer, sinceBlock } = yield* refundTargetOf(tenant, of)
      const recipient = input.recipient ?? payer
      if (yield* refundRepo.isReceiver(tenant.env, recipient))
        return yield* new RefundNotProven({
          reason: "receiver",
          message: "A refund cannot go to a receiving address of this service. Enter another recipient.",
          details: [{ path: "body.recipient", message: "This is a merchant's receiving address." }]
        })
      // Money from another chain is minted: it has no payer, and USDC cannot be sent to the zero address.
      if (recipient === zeroPayer)
        return yield* new RefundNotProven({
          reason: "receiver",
          message:
            "The payment came from the zero address (minted USDC), which cannot receive a refund. Enter a recipient.",
          details: [{ path: "body.recipient", message: "USDC cannot be sent to the zero address." }]
        })
      const matchesRequest = (refund: Refund) =>
        refund.recipient === recipient &&
        (input.amount === undefined || refund.amount === input.amount) &&
        (input.id === undefined
          ? refund.transactionId === transactionId &&
            (refund.status === "pending" || refund.status === "proven")
          : refund.id === input.id)
      // Without an id and without a transaction, each request is a refund of its own.
      const earlier =
        input.id === undefined && transactionId === undefined
          ? Effect.undefined
          : newestMatching(tenant, of, matchesRequest)
      const existingRefund = yield* earlier
      if (existingRefund !== undefined) return yield* repeatRefund(existingRefund, transactionId)
      const at = yield* DateTime.nowAsDate
      const balance = yield* refundRepo.refundBalance(tenant, of)
      const refundable = balance.paid - balance.refunded
      const amount =
        input.amount ?? (refundable > 0n ? AtomicUsdc.make(refundable, { disableChecks: true }) : undefined)
      if (amount === undefined) {
        // The same request may have refunded the rest in the meantime.
        const concurrentRefund = yield* earlier
        return concurrentRefund === undefined
          ? yield* exceedsError(balance, 0n)
          : yield* repeatRefund(concurrentRefund, transactionId)
      }
      const newRefund: NewRefund = {
        ...tenant,
        id: input.id ?? (yield* random.uuidV7()),
        hasOwnId: input.id !== undefined,
        of,
        amount,
        recipient,
        beyondPaid: input.beyondPaid ?? false,
        reason: input.reason ?? null,
        transactionId: transactionId ?? null,
        createdBy: by,
        at,
        createdBlock: chainHeights.openedBlock(tenant.env).openedBlock ?? null,
        checkAt: plusMillis(at, firstCheckMillis)
      }
      const creation = yield* add(newRefund, sinceBlock, earlier)
      switch (creation._tag) {
        case "Unknown":
          return yield* "paymentId" in of ? new PaymentNotFound() : new IncomingTransferNotFound()
        case "Unsettled":
          return yield* new PaymentNotSettled()
        case "Explained":
          return yield* new IncomingTransferExplained()
        case "Exceeds":
          return yield* exceedsError(creation.balance, amount)
        case "Known": {
          const { refund } = creation
          const isSame =
            (input.amount === undefined || refund.amount === amount) &&
            refund.recipient === recipient &&
            ("paymentId" in of ? refund.paymentId === of.paymentId : refund.transferId === of.transferId)
          return isSame ? yield* repeatRefund(refund, transactionId) : yield* idTaken
        }
        case "IdTaken":
          return yield* idTaken
        case "Created":
          return { refund: creation.refund, created: true }
      }
    }),
    find: findRefund,
    list: refundRepo.listRefunds,
    balance: refundRepo.refundBalance,
    senderFor: refundRepo.senderFor,
    report,
    cancel: Effect.fn("Refunds.cancel")(function* (tenant, id) {
      const refund = yield* findRefund(tenant, id)
      if (refund.status === "cancelled") return refund
      const ended = yield* refundRepo.endRefund(refund.id, { status: "cancelled" }, yield* DateTime.nowAsDate)
      const now = yield* findRefund(tenant, id)
      // The same request may have cancelled it in the meantime.
      if (!ended && now.status !== "cancelled") return yield* new RefundEnded()
      // Its alert needs nobody's attention any longer.
      yield* alerts.resolve("refund_unproven", refund.id)
      return now
    }),
    check
  })
})

export class Refunds extends Context.Service<
  Refunds,
  {
    /**
     * Creates a refund: pending, or proven if its transaction already proves it. `created` is false if the same request
     * created it before; its transaction is then reported.
     */
    readonly create: (
      tenant: Tenant,
      request: RefundRequest
    ) => Effect.Effect<
      { readonly refund: Refund; readonly created: boolean },
      | PaymentNotFound
      | PaymentNotSettled
      | IncomingTransferNotFound
      | IncomingTransferExplained
      | RefundExceedsPaid
      | RefundNotProven
      | InvalidRequest
      | LiveModeGated
    >
    readonly find: (tenant: Tenant, id: string) => Effect.Effect<Refund, RefundNotFound>
    readonly list: RefundRepo["Service"]["listRefunds"]
    readonly balance: RefundRepo["Service"]["refundBalance"]
    readonly senderFor: RefundRepo["Service"]["senderFor"]
    /** Reports the transaction of a pending refund. */
    readonly report: (
      tenant: Tenant,
      id: string,
      transactionId: TransactionHash
    ) => Effect.Effect<Refund, RefundNotFound | RefundEnded | RefundNotProven>
    /** Cancels a pending refund, or a proven refund whose transfer has left the chain. */
    readonly cancel: (tenant: Tenant, id: string) => Effect.Effect<Refund, RefundNotFound | RefundEnded>
    /** Checks the transaction on the chain, and proves the refund if the chain shows it. */
    readonly check: (refund: Refund, transactionId: TransactionHash) => Effect.Effect<RefundCheck>
  }
>()("quittance/payments/Refunds") {
  static readonly layer: Layer.Layer<
    Refunds,
    never,
    | PaymentRepo
    | TransferRepo
    | RefundRepo
    | ChainVerifier
    | ChainHeights
    | Alerts
    | SecureRandom.SecureRandom
  > = Layer.effect(Refunds, make)
}
