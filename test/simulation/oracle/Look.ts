// The oracle's view of a world: the rows, the chain, and people's actions and answers.
import type { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import type { Finality } from "../../../src/domain/Finality.ts"
import type { PaymentId, PaymentSummary } from "../../../src/domain/Payment.ts"
import type { Delivery, DeliveryAttempt } from "../../../src/domain/Webhook.ts"
import type { Refund } from "../../../src/payments/refunds/RefundRepo/RefundStore.ts"
import type { IncomingTransfer } from "../../../src/payments/TransferRepo/TransferStore.ts"
import type { Ledger } from "../chain/Ledger.ts"
import type { FaultBoard } from "../faults.ts"
import type { People } from "../People.ts"
import type { Receivers } from "../Receivers.ts"
import type { RefundDesk } from "../RefundDesk.ts"
import type { Signers } from "../Signers.ts"
import type { Thief } from "../Thief.ts"

export interface Rows {
  readonly payments: ReadonlyArray<PaymentOf>
  readonly deliveries: ReadonlyArray<DeliveryOf>
  readonly transfers: ReadonlyArray<TransferOf>
  /** Settlements of authorizations. */
  readonly settlements: ReadonlyArray<SettlementOf>
  /** Open attempts. */
  readonly attempts: ReadonlyArray<AttemptOf>
  readonly refunds: ReadonlyArray<RefundOf>
  /** The messages of open alerts about payments whose transfer the chain no longer shows, by payment id. */
  readonly dropped: ReadonlyMap<string, string>
}

export interface SettlementOf {
  readonly id: string
  readonly status: "pending" | "settled" | "failed"
  /** The reason for its failure, or the one that callers got. */
  readonly reason: string | null
  readonly paymentId: PaymentId
  readonly payer: string
  readonly nonce: string
  /** Unix seconds. */
  readonly validBefore: number
  /** True if the service has ever signed a transaction for it. */
  readonly sent: boolean
}

export interface AttemptOf {
  readonly paymentId: PaymentId
  readonly payer: string
  readonly since: Date
  readonly nonce: bigint | null
}

export interface PaymentOf
  extends Pick<PaymentSummary, "id" | "status" | "amount" | "createdAt" | "settledAt" | "failureReason"> {
  readonly reported: {
    readonly at: Date
    readonly evidence: { readonly transactionId: TransactionHash; readonly payer: Address }
  } | null
}
export interface DeliveryOf extends Pick<Delivery, "id" | "type" | "status" | "paymentId"> {
  readonly attempts: ReadonlyArray<Pick<DeliveryAttempt, "number" | "manual" | "startedAt" | "durationMs">>
}
export interface RefundOf
  extends Pick<
    Refund,
    "id" | "status" | "amount" | "recipient" | "paymentId" | "transactionId" | "failureReason" | "droppedAt"
  > {}

export interface TransferOf
  extends Pick<
    IncomingTransfer,
    | "transactionId"
    | "payer"
    | "amount"
    | "blockNumber"
    | "blockTime"
    | "paymentId"
    | "droppedAt"
    | "handledAt"
  > {
  readonly kind: string | null
}

export interface Look {
  readonly now: number
  readonly rows: Rows
  /** The rows at the previous look. */
  readonly before: Rows
  /** Attempts that were open within the last few seconds. */
  readonly lately: ReadonlyArray<AttemptOf>
  readonly ledger: Ledger
  readonly people: People
  readonly thief: Thief
  readonly signers: Signers
  readonly refundDesk: RefundDesk
  readonly receivers: Receivers
  /** The shop's address. */
  readonly receiver: Address
  /** Transactions of the relayer wallet that are in no block. */
  readonly openTransactions: number
  /** Payments for which the service itself has reported the transaction that used an authorization. */
  readonly reported: ReadonlySet<string>
  /** The gas that may be paid for a merchant in a day. */
  readonly board: FaultBoard
  /** The time a payment waits for its buyer. */
  readonly expiryMillis: number
  /** Unpaid payments that expired before this time must have failed by now. */
  readonly overdueBefore: number | undefined
  /** Blocks on top of a transfer's block before it settles at a level. */
  readonly depths: { readonly [F in Finality]: number }
  /** Milliseconds by which instances' clocks may differ. */
  readonly skewMillis: number
}

/** A violation, or undefined. */
export type Invariants = Readonly<Record<string, (look: Look) => string | undefined>>

export const statusIn = ({ payments }: Rows, id: string) => payments.find((one) => one.id === id)?.status

/** The reason in an alert about a lost transfer of a settled payment. */
export const whyDropped = (message = "") => /\((\w+)\)/.exec(message)?.[1]

/** True if the chain now shows the transfer that has settled the payment, or the one that replaces it. */
export const isCarried = ({ ledger, receiver, rows }: Look, { amount, id, reported }: PaymentOf): boolean => {
  const { payer, transactionId = "" } = reported?.evidence ?? {}
  const claimed = rows.transfers.find(({ paymentId }) => paymentId === id)
  return [transactionId, claimed?.transactionId ?? ""].some((hash) =>
    ledger.fork
      .find(hash, ledger.fork.height)
      ?.mined.moves.some(
        (move) =>
          move.token === undefined && move.from === payer && move.to === receiver && move.amount === amount
      )
  )
}

const interruptions = [
  "a statement fails before its commit",
  "the answer of a commit is lost",
  "an instance is abandoned",
  "an instance is abandoned at a fault point",
  "an instance is stopped",
  "all instances are down for a day",
  "an instance stands still",
  "a clock jumps"
] as const

/** True if instances run without interruption on one clock, and every statement is executed and answered. */
export const isUninterrupted = ({ board }: Look) => !interruptions.some((name) => board.has(name))

/** The same value as in `judgeTransfer`. */
export const clockToleranceMillis = 60_000

/** Transfers that waited at the previous look and still wait. */
export const stillIn = (before: ReadonlyArray<TransferOf>, now: ReadonlyArray<TransferOf>) =>
  now.filter(({ transactionId }) => before.some((one) => one.transactionId === transactionId))

/** The payer's unexplained transfers that may be meant for the payment. */
export const unexplained = (
  { transfers }: Rows,
  payment: PaymentOf,
  payer: string
): ReadonlyArray<TransferOf> =>
  transfers.filter(
    (one) =>
      one.payer === payer &&
      one.amount === payment.amount &&
      one.paymentId === null &&
      one.droppedAt === null &&
      one.handledAt === null &&
      one.blockTime.getTime() > payment.createdAt.getTime() - clockToleranceMillis
  )
