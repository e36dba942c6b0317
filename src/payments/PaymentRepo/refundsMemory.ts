// Refunds in this process: the same rules as on Postgres.
import { Effect, Option } from "effect"
import type { ChainTransfer } from "../../chain/Verification.ts"
import type { Address, Env } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type {
  Refund,
  RefundCreation,
  RefundedThing,
  RefundProof,
  RefundStore,
  ShownProof
} from "../RefundStore.ts"
import { blockTolerance } from "./AttemptStore.ts"
import { TransferAlreadyUsed } from "./TransferAlreadyUsed.ts"
import type { MemoryTransfers } from "./transfersMemory.ts"

interface KeptRefund extends Refund {
  readonly tookTransfer: boolean
  readonly checkAt: Date | null
}

/** A log by what tells it from the others of its chain. */
export interface RefundLog extends RefundProof {
  readonly refundId: string
  readonly recipient: Address
  readonly amount: Refund["amount"]
}

export const makeRefundsMemory = (known: {
  readonly payment: (tenant: Tenant, id: PaymentId) => Payment | undefined
  readonly payments: () => Iterable<Payment>
  /** The block of the transfer that settled a payment, and whether the chain still shows it. */
  readonly settledBy: (id: PaymentId) => { readonly block: bigint; readonly dropped: boolean } | undefined
  readonly transfers: Pick<MemoryTransfers, "standing" | "takeForRefund" | "giveBackRefunded" | "outgoing">
  readonly isClaimed: (env: Env, transfer: ChainTransfer) => boolean
  /** `taken`: the log has a claim. `moved`: a claim on its transaction names another block. */
  readonly claim: (log: RefundLog) => "claimed" | "taken" | "moved"
  readonly release: (refundId: string) => void
  readonly move: (
    refundId: string,
    to: Partial<Pick<RefundProof, "blockNumber" | "blockHash" | "logPosition">>
  ) => void
}): {
  readonly store: RefundStore
  /** A proven one that was given up as lost. */
  readonly watchAgain: (refundId: string, at: Date) => void
  readonly merchantOf: (refundId: string) => Refund["merchantId"] | undefined
} => {
  const refunds = new Map<string, KeptRefund>()
  const ofTenant =
    ({ merchantId, env }: Tenant) =>
    (one: Refund) =>
      one.merchantId === merchantId && one.env === env
  const isOf = (of: RefundedThing) => (one: Refund) =>
    "paymentId" in of ? one.paymentId === of.paymentId : one.transferId === of.transferId
  const stands = ({ status }: Refund) => status === "pending" || status === "proven"
  const newestFirst = (left: Refund, right: Refund) =>
    right.createdAt.getTime() - left.createdAt.getTime() || (left.id < right.id ? 1 : -1)

  const received = (tenant: Tenant, of: RefundedThing, at: Date) => {
    if ("transferId" in of) return known.transfers.standing(tenant, of.transferId, at)
    const payment = known.payment(tenant, of.paymentId)
    if (payment === undefined) return undefined
    const claim = known.settledBy(payment.id)
    const isPaid = payment.status === "settled" && claim?.dropped !== true
    return {
      standing: payment.status === "settled" ? ("open" as const) : ("unsettled" as const),
      paid: isPaid ? payment.amount : 0n,
      sinceBlock: claim?.block ?? 0n
    }
  }
  const sumOf = (of: RefundedThing) =>
    [...refunds.values()]
      .filter((one) => isOf(of)(one) && stands(one))
      .reduce((sum, { amount }) => sum + amount, 0n)

  /** Whether it left as late as what was announced may have left. */
  const isAfter = (
    { blockNumber, blockTime }: { readonly blockNumber: bigint; readonly blockTime: Date },
    { createdAt, createdBlock }: Refund
  ) =>
    (createdBlock !== null && blockNumber > createdBlock) ||
    (blockTime.getTime() > createdAt.getTime() - 60_000 &&
      (createdBlock === null || blockNumber >= createdBlock - BigInt(blockTolerance)))

  type Claimant = Pick<Refund, "id" | "env" | "recipient" | "amount">
  const claim = ({ amount, id, recipient }: Claimant, proof: RefundProof) =>
    known.claim({ ...proof, refundId: id, recipient, amount })
  /** Whether a payment or another refund has the log, in whichever block. */
  const isTaken = ({ amount, env, recipient }: Claimant, proof: RefundProof) =>
    known.isClaimed(env, { ...proof, payer: proof.sender, receiver: recipient, amount })
  const asProven = (
    refund: KeptRefund,
    { at, checkAt, proof: { blockHash, blockNumber, ordinal, sender, transactionId } }: ShownProof
  ): KeptRefund => ({
    ...refund,
    ...{ blockHash, blockNumber, ordinal, sender, transactionId, checkAt },
    status: "proven",
    provenAt: at
  })

  const store: RefundStore = {
    createRefund: Effect.fnUntraced(function* (
      { at, checkAt, hasOwnId, of, ...input },
      shown
    ): Effect.fn.Return<RefundCreation, TransferAlreadyUsed> {
      const thing = received(input, of, at)
      if (thing === undefined) return { _tag: "Unknown" }
      const before = [...refunds.values()].find(
        (one) =>
          ofTenant(input)(one) &&
          (one.id === input.id ||
            (!hasOwnId &&
              isOf(of)(one) &&
              stands(one) &&
              input.transactionId !== null &&
              one.transactionId === input.transactionId &&
              one.recipient === input.recipient &&
              one.amount === input.amount))
      )
      if (before !== undefined) return { _tag: "Known", refund: before }
      if (thing.standing !== "open")
        return { _tag: thing.standing === "explained" ? "Explained" : "Unsettled" }
      const balance = { paid: thing.paid, refunded: sumOf(of) }
      if (!input.beyondPaid && balance.refunded + input.amount > balance.paid)
        return { _tag: "Exceeds", balance }
      // Another merchant's: an id is one refund's among all.
      if (refunds.has(input.id)) return { _tag: "IdTaken" }
      const claimed = shown && claim(input, shown.proof)
      if (shown !== undefined && claimed !== "claimed" && isTaken(input, shown.proof))
        return yield* new TransferAlreadyUsed()
      const by = { at, person: input.createdBy, note: input.reason }
      const tookTransfer = "transferId" in of && known.transfers.takeForRefund(of.transferId, by)
      const pending: KeptRefund = {
        ...input,
        paymentId: "paymentId" in of ? of.paymentId : null,
        transferId: "transferId" in of ? of.transferId : null,
        status: "pending",
        sinceBlock: thing.sinceBlock,
        createdAt: at,
        namedAt: input.transactionId === null ? null : at,
        sender: null,
        ordinal: null,
        blockNumber: null,
        blockHash: null,
        provenAt: null,
        endedAt: null,
        failureReason: null,
        droppedAt: null,
        tookTransfer,
        checkAt
      }
      const refund = shown !== undefined && claimed === "claimed" ? asProven(pending, shown) : pending
      refunds.set(refund.id, refund)
      return { _tag: "Created", refund }
    }),
    findRefund: (tenant, id) =>
      Effect.sync(() => Option.filter(Option.fromUndefinedOr(refunds.get(id)), ofTenant(tenant))),
    listRefunds: (tenant, { limit, of, startingAfter }) =>
      Effect.sync(() => {
        const all = [...refunds.values()].filter(ofTenant(tenant)).sort(newestFirst)
        const last = startingAfter === undefined ? -1 : all.findIndex(({ id }) => id === startingAfter)
        if (startingAfter !== undefined && last === -1) return Option.none()
        const rest = all.slice(last + 1)
        return Option.some((of === undefined ? rest : rest.filter(isOf(of))).slice(0, limit))
      }),
    provenRefunds: (paymentId) =>
      Effect.sync(() =>
        [...refunds.values()].filter(
          (one) => one.paymentId === paymentId && one.status === "proven" && one.droppedAt === null
        )
      ),
    refundBalance: (tenant, of) =>
      Effect.sync(() => ({ paid: received(tenant, of, new Date(0))?.paid ?? 0n, refunded: sumOf(of) })),
    settledBlock: (paymentId) =>
      Effect.sync(() => Option.map(Option.fromUndefinedOr(known.settledBy(paymentId)), ({ block }) => block)),
    isReceiver: (env, address) =>
      Effect.sync(() => [...known.payments()].some((one) => one.env === env && one.receiver === address)),
    // No address becomes another merchant's here.
    senderFor: (_, came) => Effect.succeedSome(came),
    sendersOf: (tenant, transactionId) =>
      Effect.sync(() => {
        const sent = known.transfers
          .outgoing()
          .filter((one) => one.env === tenant.env && one.transactionId === transactionId)
        return new Set([
          ...sent.filter(({ merchantId }) => merchantId === tenant.merchantId).map(({ payer }) => payer),
          ...[...known.payments()]
            .filter(({ env, merchantId }) => merchantId === tenant.merchantId && env === tenant.env)
            .map(({ receiver }) => receiver)
            .filter((receiver) => !sent.some(({ payer }) => payer === receiver))
            .toReversed()
        ])
      }),
    nameRefundTransaction: (id, transactionId, at, checkAt) =>
      Effect.sync(() => {
        const one = refunds.get(id)
        if (one?.status !== "pending") return false
        refunds.set(id, { ...one, transactionId, namedAt: at, checkAt })
        return true
      }),
    proveRefund: Effect.fnUntraced(function* (id, proof, at, checkAt) {
      const one = refunds.get(id)
      if (one?.status !== "pending") return Option.none()
      const claimed = claim(one, proof)
      if (claimed === "taken") return yield* new TransferAlreadyUsed()
      if (claimed !== "claimed") return Option.none()
      const proven = asProven(one, { proof, at, checkAt })
      refunds.set(id, proven)
      return Option.some(proven)
    }),
    endRefund: (id, end, at) =>
      Effect.sync(() => {
        const one = refunds.get(id)
        const mayEnd = one?.status === "pending" || (one?.status === "proven" && one.droppedAt !== null)
        if (one === undefined || !mayEnd) return false
        if (end.status === "failed" && end.transactionId !== one.transactionId) return false
        refunds.set(id, {
          ...one,
          status: end.status,
          endedAt: at,
          checkAt: null,
          failureReason: end.status === "failed" ? end.reason : null
        })
        known.release(id)
        const { transferId } = one
        const heir = [...refunds.values()].find((other) => other.transferId === transferId && stands(other))
        if (transferId !== null && one.tookTransfer && heir !== undefined)
          refunds.set(heir.id, { ...heir, tookTransfer: true })
        if (
          transferId !== null &&
          one.tookTransfer &&
          ![...refunds.values()].some((other) => other.transferId === transferId && stands(other))
        )
          known.transfers.giveBackRefunded(transferId, at)
        return true
      }),
    takeDueRefunds: (at, leaseUntil, limit) =>
      Effect.sync(() => {
        const due = [...refunds.values()]
          .filter(({ checkAt }) => checkAt !== null && checkAt <= at)
          .slice(0, limit)
        for (const one of due) refunds.set(one.id, { ...one, checkAt: leaseUntil })
        return due.map((one) => ({ ...one, heldUntil: leaseUntil }))
      }),
    sentFor: (refund) =>
      Effect.sync(() => {
        const isNamed = (transactionId: string) =>
          [...refunds.values()].some(
            (one) => one.id !== refund.id && one.status === "pending" && one.transactionId === transactionId
          )
        const found = known.transfers
          .outgoing()
          .filter(
            (one) =>
              one.env === refund.env &&
              one.merchantId === refund.merchantId &&
              one.receiver === refund.recipient &&
              one.amount === refund.amount &&
              one.droppedAt === null &&
              isAfter(one, refund) &&
              !known.isClaimed(one.env, one) &&
              !isNamed(one.transactionId)
          )
          .toSorted((left, right) => Number(left.blockNumber - right.blockNumber))
        return [...new Set(found.slice(0, 10).map(({ transactionId }) => transactionId))]
      }),
    noteRefundCheck: ({ id, transactionId }, checkAt) =>
      Effect.sync(() => {
        const one = refunds.get(id)
        if (one?.status === "pending" && one.transactionId === transactionId)
          refunds.set(id, { ...one, checkAt })
      }),
    noteRefundWatched: ({ heldUntil, id }, { droppedAt, moved, watchAt }) =>
      Effect.sync(() => {
        const one = refunds.get(id)
        if (one?.status !== "proven" || one.checkAt?.getTime() !== heldUntil.getTime()) return false
        refunds.set(id, {
          ...one,
          droppedAt,
          checkAt: watchAt,
          blockNumber: moved?.blockNumber ?? one.blockNumber,
          blockHash: moved?.blockHash ?? one.blockHash
        })
        if (moved !== undefined) known.move(id, moved)
        return true
      })
  }

  return {
    store,
    merchantOf: (id) => refunds.get(id)?.merchantId,
    watchAgain: (id, at) => {
      const one = refunds.get(id)
      if (one?.status === "proven" && one.droppedAt !== null && one.checkAt === null)
        refunds.set(id, { ...one, checkAt: at })
    }
  }
}
