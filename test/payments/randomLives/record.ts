// The record of what people did, for the checks at the end.
import type { Hex } from "viem"
import type { LifeKind } from "./plan.ts"

/** A payment that somebody has opened. */
export interface Purchase {
  readonly id: string
  readonly kind: LifeKind
  readonly merchant: number
  readonly amount: bigint
  /** The wallet that is to pay it. */
  readonly payer: Hex
  /** The wallet has announced itself, or has signed for the payment: any transfer of it pays. */
  isNamed: boolean
  /** Transactions that were reported with the payer's token. */
  readonly reported: Set<Hex>
}

/** A transaction of a wallet of the lives. */
interface Sent {
  readonly hash: Hex
  readonly from: Hex
  readonly nonce: number
}

export interface RefundMade {
  readonly id: string
  readonly merchant: number
  readonly amount: bigint
  /** The newest transaction that was sent for it. */
  readonly hash: Hex
}

export const makeRecord = () => ({
  purchases: [] as Purchase[],
  sent: new Map<Hex, Sent>(),
  refunds: new Map<string, RefundMade>(),
  /** Transfers of a token that is not USDC. */
  otherTokens: [] as Hex[],
  /** Answers that are violations. */
  wrong: [] as string[]
})
export type LivesRecord = ReturnType<typeof makeRecord>
