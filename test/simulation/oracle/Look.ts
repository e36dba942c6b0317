// What the oracle sees of a world: the rows of every shop, the chain, and what people were told and have done.
import type { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import type { PaymentId, PaymentSummary } from "../../../src/domain/Payment.ts"
import type { Delivery, DeliveryAttempt } from "../../../src/domain/Webhook.ts"
import type { Refund } from "../../../src/payments/RefundStore.ts"
import type { IncomingTransfer } from "../../../src/payments/TransferStore.ts"
import type { Ledger } from "../chain/Ledger.ts"
import type { FaultBoard } from "../faults.ts"
import type { Intruder } from "../Intruder.ts"
import type { People, Shop } from "../People.ts"
import type { Receivers } from "../Receivers.ts"
import type { RefundDesk } from "../RefundDesk.ts"
import type { Signers } from "../Signers.ts"
import type { Thief } from "../Thief.ts"

/** The rows of one shop. */
export interface Rows {
  readonly shop: Shop
  readonly payments: ReadonlyArray<PaymentOf>
  readonly deliveries: ReadonlyArray<DeliveryOf>
  readonly transfers: ReadonlyArray<TransferOf>
  /** Of authorizations. */
  readonly settlements: ReadonlyArray<SettlementOf>
  /** Those that are open. */
  readonly attempts: ReadonlyArray<AttemptOf>
  readonly refunds: ReadonlyArray<RefundOf>
  /** What open alerts say of payments whose transfer the chain no longer shows, by the payment's id. */
  readonly dropped: ReadonlyMap<string, string>
}

export interface SettlementOf {
  readonly id: string
  readonly status: "pending" | "settled" | "failed"
  /** Why it has failed, or what callers were told. */
  readonly reason: string | null
  readonly paymentId: PaymentId
  readonly payer: string
  readonly nonce: string
  /** Unix seconds. */
  readonly validBefore: number
  /** Whether the service has ever signed a transaction for it. */
  readonly sent: boolean
}

export interface AttemptOf {
  readonly paymentId: PaymentId
  readonly payer: string
  readonly since: Date
  readonly nonce: bigint | null
}

export interface PaymentOf
  extends Pick<
    PaymentSummary,
    | "id"
    | "status"
    | "amount"
    | "refCode"
    | "intentUrl"
    | "payerType"
    | "createdAt"
    | "settledAt"
    | "failureReason"
  > {
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
  readonly rows: ReadonlyArray<Rows>
  /** As the look before this one saw them. */
  readonly rowsBefore: ReadonlyArray<Rows>
  /** Payments by id, as the look before this one saw them. */
  readonly before: ReadonlyMap<string, PaymentOf>
  /** What ended deliveries had come to then, by id. */
  readonly ended: ReadonlyMap<string, string>
  /** Attempts that were open within the last few seconds. */
  readonly lately: ReadonlyArray<AttemptOf>
  readonly ledger: Ledger
  readonly people: People
  readonly thief: Thief
  readonly signers: Signers
  readonly refundDesk: RefundDesk
  readonly intruder: Intruder
  readonly receivers: Receivers
  /** Of the relaying wallet, which no block has taken. */
  readonly openTransactions: number
  /** Payments for which the service has itself reported what used an authorization. */
  readonly reported: ReadonlySet<string>
  /** What may be relayed for a merchant in a day. */
  readonly gasPerMerchant: bigint
  readonly board: FaultBoard
  /** Of the service. */
  readonly baseUrl: string
  /** How long a payment waits for its buyer. */
  readonly expiryMillis: number
  /** What was over before this time, and nobody has paid, must have failed by now. */
  readonly overdueBefore: number | undefined
  /** Blocks that come after a transfer's before it settles. */
  readonly confirmations: number
  /** Milliseconds by which instances' clocks may differ. */
  readonly skewMillis: number
}

export type Invariant = (look: Look) => string | undefined

export const paymentsOf = ({ rows }: Look) =>
  rows.flatMap(({ payments, shop }) => payments.map((payment) => ({ payment, shop })))
export const settlementsOf = ({ rows }: Look) =>
  rows.flatMap(({ deliveries }) => deliveries.filter(({ type }) => type === "payment.settled"))

/** The reason in an alert that a settled transfer is gone. */
export const whyDropped = (message = "") => /\((\w+)\)/.exec(message)?.[1]

/** Whether the chain now shows the transfer that has settled the payment, or the one that pays it in its place. */
export const isCarried = (
  { ledger, rows }: Look,
  shop: Shop,
  { amount, id, reported }: PaymentOf
): boolean => {
  const { payer, transactionId = "" } = reported?.evidence ?? {}
  const claimed = rows.find((one) => one.shop === shop)?.transfers.find(({ paymentId }) => paymentId === id)
  return [transactionId, claimed?.transactionId ?? ""].some((hash) =>
    ledger.fork
      .find(hash, ledger.fork.height)
      ?.mined.moves.some(
        (move) =>
          move.token === undefined &&
          move.from === payer &&
          move.to === shop.receiver &&
          move.amount === amount
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
  "a clock jumps",
  // Whose tables it goes back and forth over stand still until it is done.
  "an operator's command is killed"
] as const

/** Whether instances run through, by one time, and all that they write is written and heard of. */
export const isUninterrupted = ({ board }: Look) => !interruptions.some((name) => board.has(name))

/** As `judgeTransfer` has it. */
export const clockToleranceMillis = 60_000

/** The shop's rows, with what was true of it before. */
export const changesOf = function* (look: Look) {
  for (const rows of look.rows) {
    const before = look.rowsBefore.find(({ shop }) => shop === rows.shop)
    if (before !== undefined) yield { rows, before }
  }
}

/** What waited in the look before, and waits. */
export const stillIn = (before: ReadonlyArray<TransferOf>, now: ReadonlyArray<TransferOf>) =>
  now.filter(({ transactionId }) => before.some((one) => one.transactionId === transactionId))

/** Money of the payer's that may be meant for the payment, and that nobody has explained. */
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
