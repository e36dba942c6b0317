// Refunds: a merchant's own wallet sends USDC back, and the chain proves it. Nothing here moves money.

import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { zeroAddress } from "viem"
import { ChainReach } from "../../chain/ChainReach.ts"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import type { Verification } from "../../chain/Verification.ts"
import { Address, type TransactionHash } from "../../domain/Chain.ts"
import {
  IncomingTransferExplained,
  IncomingTransferNotFound,
  InvalidRequest,
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
import { Alerts } from "../../platform/alerts/Alerts.ts"
import { Networks } from "../../platform/Networks.ts"
import { PaymentRepo } from "../PaymentRepo.ts"
import { TransferRepo } from "../TransferRepo.ts"
import type { NewRefund, Refund, RefundBalance, RefundedThing } from "./RefundRepo/RefundStore.ts"
import { RefundRepo } from "./RefundRepo.ts"
import { refundNotProven } from "./Refunds/refundNotProven.ts"
import { makeVerifyRefund } from "./Refunds/verifyRefund.ts"

export interface RefundRequest {
  /** The caller's id of the refund: sent again, it is the same refund. */
  readonly id?: string
  readonly of: RefundedThing
  /** All that is left, where absent. */
  readonly amount?: AtomicUsdc
  /** The payer, where absent. */
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

const nobody = Address.make(zeroAddress)

const idTaken = new InvalidRequest({
  details: [{ path: "body.id", message: "Another refund has this id: draw a new one." }]
})

/** The number of refunds of one payment or transfer read at a time. */
const pageSize = 100

const after = (at: Date, millis: number) => new Date(at.getTime() + millis)

const make = Effect.gen(function* () {
  const { executes } = yield* Networks
  const repo = yield* PaymentRepo
  const refundRepo = yield* RefundRepo
  const transferRepo = yield* TransferRepo
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts
  const reach = yield* ChainReach
  const random = yield* SecureRandom.SecureRandom
  const verify = makeVerifyRefund(chain, repo, refundRepo)

  /** The refunded payment or transfer: its payer, and the block since which it exists. */
  const thingOf = Effect.fnUntraced(function* (tenant: Tenant, of: RefundedThing) {
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

  const shownNow = Effect.fnUntraced(function* (found: Extract<Verification, { _tag: "Verified" }>) {
    const at = yield* DateTime.nowAsDate
    return { proof: { ...found, sender: found.payer }, at, checkAt: after(at, firstWatchMillis) }
  })

  const check = Effect.fn("Refunds.check")(function* (
    refund: Refund,
    transactionId: TransactionHash
  ): Effect.fn.Return<RefundCheck> {
    while (true) {
      const found = yield* verify(refund, transactionId)
      if (found._tag === "Pending") return { _tag: "Pending", isUnknown: found.reason === "not_found" }
      if (found._tag === "Mismatch")
        return { _tag: "Refused", error: refundNotProven(found), final: found.confirmed }
      const { at, checkAt, proof } = yield* shownNow(found)
      const settled = yield* Effect.result(refundRepo.proveRefund(refund.id, proof, at, checkAt))
      // Another payment or refund has claimed it meanwhile; the transaction may hold an equal one.
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

  const found = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    const refund = yield* refundRepo.findRefund(tenant, id)
    return Option.isSome(refund) ? refund.value : yield* new RefundNotFound()
  })

  const exceeds = ({ paid, refunded }: RefundBalance, amount: bigint) =>
    new RefundExceedsPaid({
      details: [
        {
          path: "body.amount",
          message: "More than is left of what was paid.",
          expected: `at most ${formatUsd(paid > refunded ? paid - refunded : 0n)}`,
          actual: formatUsd(amount)
        }
      ]
    })

  /** A refund that a transaction has proven, or may. */
  const standing = Effect.fnUntraced(function* (tenant: Tenant, id: string, transactionId: TransactionHash) {
    const refund = yield* found(tenant, id)
    const isProven = refund.status === "proven" && refund.transactionId === transactionId
    return isProven || refund.status === "pending" ? refund : yield* new RefundEnded()
  })

  /** Its transaction may be used up because it has proven the refund meanwhile, elsewhere. */
  const refused = Effect.fnUntraced(function* (
    { id, ...tenant }: Refund,
    transactionId: TransactionHash,
    error: RefundNotProven
  ) {
    const refund = yield* standing(tenant, id, transactionId)
    return refund.status === "proven" ? refund : yield* error
  })

  /** Adds a refund, proven where its transaction is named and proves it by now. What proves nothing is not kept. */
  const add = Effect.fnUntraced(function* (
    refund: NewRefund,
    sinceBlock: bigint,
    earlier: Effect.Effect<Refund | undefined>
  ) {
    const { at: createdAt, transactionId } = refund
    while (true) {
      const found =
        transactionId === null
          ? undefined
          : yield* verify({ ...refund, sinceBlock, createdAt }, transactionId)
      if (found?._tag === "Mismatch") {
        // The same request may have used it up meanwhile.
        const same = yield* earlier
        return same === undefined ? yield* refundNotProven(found) : { _tag: "Known" as const, refund: same }
      }
      const shown = found?._tag === "Verified" ? yield* shownNow(found) : undefined
      const made = yield* Effect.result(refundRepo.createRefund(refund, shown))
      if (Result.isSuccess(made)) return made.success
      // Another payment or refund has claimed it meanwhile; the transaction may hold an equal one.
    }
  })

  const report = Effect.fn("Refunds.report")(function* (
    tenant: Tenant,
    id: string,
    transactionId: TransactionHash
  ) {
    const refund = yield* standing(tenant, id, transactionId)
    if (refund.status === "proven") return refund
    const checked = yield* check(refund, transactionId)
    if (checked._tag === "Refused") return yield* refused(refund, transactionId, checked.error)
    // Proven, it is named in the same step; what the chain has not decided is looked at again under its name.
    if (checked._tag === "Pending") {
      const at = yield* DateTime.nowAsDate
      yield* refundRepo.nameRefundTransaction(id, transactionId, at, after(at, firstCheckMillis))
    }
    return yield* standing(tenant, id, transactionId)
  })

  /** The newest that is meant, however many the thing has. */
  const firstOf = Effect.fnUntraced(function* (
    tenant: Tenant,
    of: RefundedThing,
    isMeant: (refund: Refund) => boolean
  ) {
    let startingAfter: string | undefined
    while (true) {
      const page: Option.Option<ReadonlyArray<Refund>> = yield* refundRepo.listRefunds(tenant, {
        of,
        limit: pageSize,
        ...(startingAfter === undefined ? {} : { startingAfter })
      })
      const refunds = Option.getOrElse(page, (): ReadonlyArray<Refund> => [])
      const meant = refunds.find(isMeant)
      if (meant !== undefined || refunds.length < pageSize) return meant
      startingAfter = refunds.at(-1)?.id
    }
  })

  /** The refund that a request made before. The transaction that the request names now is reported. */
  const again = Effect.fnUntraced(function* (known: Refund, transactionId: TransactionHash | undefined) {
    const isNamed =
      transactionId === undefined || known.status !== "pending" || known.transactionId === transactionId
    const refund = isNamed
      ? known
      : yield* report(known, known.id, transactionId).pipe(
          // Proven by another one meanwhile, or cancelled.
          Effect.catchTag("RefundEnded", () => found(known, known.id)),
          Effect.catchTag("RefundNotFound", Effect.die)
        )
    return { refund, created: false }
  })

  return Refunds.of({
    create: Effect.fn("Refunds.create")(function* (tenant, { by, of, transactionId, ...input }) {
      if (!executes(tenant.env)) return yield* new LiveModeGated()
      const { payer, sinceBlock } = yield* thingOf(tenant, of)
      const recipient = input.recipient ?? payer
      if (yield* refundRepo.isReceiver(tenant.env, recipient))
        return yield* new RefundNotProven({
          reason: "receiver",
          message: "A receiving address of this service takes payments, not refunds. Name another recipient.",
          details: [{ path: "body.recipient", message: "Not an address that a merchant receives at." }]
        })
      // What came from another chain was minted: nobody is its payer, and USDC sends nothing there.
      if (recipient === nobody)
        return yield* new RefundNotProven({
          reason: "receiver",
          message: "Nothing can be sent to the zero address, from which minted USDC comes. Name a recipient.",
          details: [{ path: "body.recipient", message: "Not the zero address." }]
        })
      const isMeant = (one: Refund) =>
        one.recipient === recipient &&
        (input.amount === undefined || one.amount === input.amount) &&
        (input.id === undefined
          ? one.transactionId === transactionId && (one.status === "pending" || one.status === "proven")
          : one.id === input.id)
      // With neither an id nor a transaction each request is a refund of its own.
      const earlier =
        input.id === undefined && transactionId === undefined
          ? Effect.undefined
          : firstOf(tenant, of, isMeant)
      const same = yield* earlier
      if (same !== undefined) return yield* again(same, transactionId)
      const at = yield* DateTime.nowAsDate
      const balance = yield* refundRepo.refundBalance(tenant, of)
      const left = balance.paid - balance.refunded
      const amount = input.amount ?? (left > 0n ? AtomicUsdc.make(left, { disableChecks: true }) : undefined)
      if (amount === undefined) {
        // The same request may have taken all that was left meanwhile.
        const first = yield* earlier
        return first === undefined ? yield* exceeds(balance, 0n) : yield* again(first, transactionId)
      }
      const asked: NewRefund = {
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
        createdBlock: reach.openedBlock(tenant.env).openedBlock ?? null,
        checkAt: after(at, firstCheckMillis)
      }
      const made = yield* add(asked, sinceBlock, earlier)
      switch (made._tag) {
        case "Unknown":
          return yield* "paymentId" in of ? new PaymentNotFound() : new IncomingTransferNotFound()
        case "Unsettled":
          return yield* new PaymentNotSettled()
        case "Explained":
          return yield* new IncomingTransferExplained()
        case "Exceeds":
          return yield* exceeds(made.balance, amount)
        case "Known": {
          const { refund } = made
          const isSame =
            (input.amount === undefined || refund.amount === amount) &&
            refund.recipient === recipient &&
            ("paymentId" in of ? refund.paymentId === of.paymentId : refund.transferId === of.transferId)
          return isSame ? yield* again(refund, transactionId) : yield* idTaken
        }
        case "IdTaken":
          return yield* idTaken
        case "Created":
          return { refund: made.refund, created: true }
      }
    }),
    find: found,
    list: refundRepo.listRefunds,
    balance: refundRepo.refundBalance,
    senderFor: refundRepo.senderFor,
    report,
    cancel: Effect.fn("Refunds.cancel")(function* (tenant, id) {
      const refund = yield* found(tenant, id)
      if (refund.status === "cancelled") return refund
      const ended = yield* refundRepo.endRefund(refund.id, { status: "cancelled" }, yield* DateTime.nowAsDate)
      const now = yield* found(tenant, id)
      // The same request may have cancelled it meanwhile.
      if (!ended && now.status !== "cancelled") return yield* new RefundEnded()
      // What was told of it needs nobody any more.
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
     * A pending refund, or, where its transaction is named, one that the chain has not refused. `created` is
     * false where the same request made it before; a transaction that it names now is reported.
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
    /** Names the transaction of a pending refund. */
    readonly report: (
      tenant: Tenant,
      id: string,
      transactionId: TransactionHash
    ) => Effect.Effect<Refund, RefundNotFound | RefundEnded | RefundNotProven>
    /** Cancels a pending refund, or a proven refund whose transfer has left the chain. */
    readonly cancel: (tenant: Tenant, id: string) => Effect.Effect<Refund, RefundNotFound | RefundEnded>
    /** Asks the chain, and proves what it shows. */
    readonly check: (refund: Refund, transactionId: TransactionHash) => Effect.Effect<RefundCheck>
  }
>()("quittance/payments/Refunds") {
  static readonly layer: Layer.Layer<
    Refunds,
    never,
    PaymentRepo | TransferRepo | RefundRepo | ChainVerifier | ChainReach | Alerts | SecureRandom.SecureRandom
  > = Layer.effect(Refunds, make)
}
