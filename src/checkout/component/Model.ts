// The checkout's state, and values derived from it.
import type { Attempt } from "./attempt.ts"
import type { CheckoutContext } from "./CheckoutContext.ts"
import { atomicOf } from "./erc20.ts"
import type { Balance, CheckoutPayment, OtherAttempt, PaymentAddress, SigningTerms } from "./service.ts"
import type { SignedTerms } from "./signed.ts"
import type { MessageKey } from "./translate.ts"

export type CheckoutState =
  | "loading"
  | "connect"
  | "wrong-network"
  | "needs-funds"
  | "review"
  | "awaiting-signature"
  | "submitted"
  | "confirming"
  | "settled"
  | "failed"
  | "expired"
  | "cancelled"

/**
 * The current step.
 * - In `awaiting-signature`: the wallet signs a payment (`authorization`), or the identity and then the transfer.
 *   Another tab may have the request (`elsewhere`), an earlier request may have been sent (`unsure`), or the identity
 *   must be signed again (`prove`).
 * - In `confirming`: the same wallet pays from another browser (`announced`), or the chain shows a transfer that was
 *   sent from elsewhere (`received`).
 */
export type Step =
  | "authorization"
  | "identity"
  | "transfer"
  | "elsewhere"
  | "unsure"
  | "prove"
  | "announced"
  | "received"

/** Work in progress within a state. */
export type Busy = "connecting" | "switching" | "balance" | "funding" | "checking" | "signing"

export type Panel = "address" | "phone"

export interface Notice {
  readonly key: MessageKey
  readonly tone: "info" | "warning"
  readonly values?: Readonly<Record<string, string>>
}

export interface WalletChoice {
  readonly id: string
  readonly rdns: string
  readonly name: string
  readonly icon: string
}

export interface Model {
  /** Grows when the buyer or the wallet changes course; results of older work are dropped. */
  readonly epoch: number
  readonly state: CheckoutState
  readonly step: Step | undefined
  readonly busy: Busy | undefined
  readonly notice: Notice | undefined
  /** The reason why the payment failed or was cancelled. */
  readonly reason: MessageKey | undefined
  /** The service's code behind `reason`. */
  readonly code: string | undefined
  readonly context: CheckoutContext | undefined
  readonly payment: CheckoutPayment | undefined
  readonly wallets: ReadonlyArray<WalletChoice>
  readonly walletId: string | undefined
  readonly account: string | undefined
  readonly chainId: number | undefined
  readonly balance: Balance | undefined
  readonly attempt: Attempt | undefined
  /** The terms that the account would sign; undefined before the service has returned them. */
  readonly terms: SigningTerms | undefined
  /** The submitted signature. */
  readonly signed: SignedTerms | undefined
  /** True if the buyer prefers their own transfer, or a signature cannot pay. */
  readonly byTransfer: boolean
  /** True if the account is a contract that accepts calls on the payment's chain (EIP-5792). */
  readonly byCalls: boolean
  /** True if the wallet signs only for its current chain. */
  readonly wantsChain: boolean
  /**
   * An alternative that `connect` shows besides the browser's wallets: the address to send to, or a code for a phone.
   */
  readonly panel: Panel | undefined
  /** The code that a wallet scans while it is being connected. */
  readonly pairingUri: string | undefined
  readonly address: PaymentAddress | undefined
  /** True if the buyer has seen the address, perhaps before a reload. */
  readonly addressShown: boolean
  /** The receipt's page, once the payment has settled. */
  readonly receipt: string | undefined
  /** True if there is a buyer's token for the account. */
  readonly identified: boolean
  readonly loadAttempts: number
  readonly polls: number
  /** Consecutive checks that found the nonce used and no transfer. */
  readonly missed: number
  /** The account's attempt in another browser. */
  readonly otherAttempt: OtherAttempt | undefined
  /** The transaction that was sent from elsewhere, in the step `received`. */
  readonly received: string | undefined
  /**
   * True if `otherAttempt` is this browser's own attempt, which pays nothing as far as it can see; the service is not sure
   * yet.
   */
  readonly isOtherAttemptLost: boolean
  /** Attempts of other wallets. They cause a warning and block nobody. */
  readonly others: ReadonlyArray<OtherAttempt>
}

export const initial: Model = {
  epoch: 0,
  state: "loading",
  step: undefined,
  busy: undefined,
  notice: undefined,
  reason: undefined,
  code: undefined,
  context: undefined,
  payment: undefined,
  wallets: [],
  walletId: undefined,
  account: undefined,
  chainId: undefined,
  balance: undefined,
  attempt: undefined,
  terms: undefined,
  signed: undefined,
  byTransfer: false,
  byCalls: false,
  wantsChain: false,
  panel: undefined,
  pairingUri: undefined,
  address: undefined,
  addressShown: false,
  receipt: undefined,
  identified: false,
  loadAttempts: 0,
  polls: 0,
  missed: 0,
  otherAttempt: undefined,
  received: undefined,
  isOtherAttemptLost: false,
  others: []
}

export const finalStates: ReadonlySet<CheckoutState> = new Set(["settled", "failed", "expired"])

/** States in which no money has been requested. */
export const beforePayment: ReadonlySet<CheckoutState> = new Set([
  "connect",
  "wrong-network",
  "needs-funds",
  "review"
])

/** True if nothing is in progress that may move money. */
export const mayPay = (model: Model): boolean => beforePayment.has(model.state) && model.attempt === undefined

export const atomicAmount = ({ payment }: Model): bigint => atomicOf(payment?.amount ?? "0.00")

/** How the account pays: by a signature, at the service's cost, or by its own transfer. */
export const pays = ({ byTransfer, terms }: Model): "by signature" | "by transfer" =>
  terms?.relayed === true && !byTransfer ? "by signature" : "by transfer"

export const isOnChain = ({ chainId, context }: Model): boolean => chainId === context?.chain.id
/** Calls contain their chain. */
export const maySend = (model: Model): boolean => isOnChain(model) || model.byCalls
