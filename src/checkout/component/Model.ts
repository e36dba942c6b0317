// The checkout's state, and values derived from it.
import type { Attempt } from "./attempt.ts"
import type { CheckoutContext } from "./CheckoutContext.ts"
import { atomicOf } from "./erc20.ts"
import type { Balance, CheckoutPayment, KnownAttempt, PaymentAddress, SigningTerms } from "./service.ts"
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
 * The stage of `awaiting-signature`: the wallet signs a payment (`authorization`), or the identity and then the
 * transfer. Another tab may have the request (`elsewhere`), an earlier request may have been sent (`unsure`), or the
 * identity must be signed again (`prove`). In `confirming`: the same wallet pays from another browser (`announced`).
 */
export type Step = "authorization" | "identity" | "transfer" | "elsewhere" | "unsure" | "prove" | "announced"

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
  /** Grows when the buyer or the wallet changes course: results of older work are dropped. */
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
  /** The buyer prefers a transfer of their own, or a signature cannot pay. */
  readonly byTransfer: boolean
  /** The account is a contract that takes calls on the payment's chain (EIP-5792). */
  readonly byCalls: boolean
  /** The wallet signs only for the chain that it is on. */
  readonly wantsChain: boolean
  /**
   * An alternative that `connect` shows besides the browser's wallets: the address to send to, or a code for a phone.
   */
  readonly panel: Panel | undefined
  /** The code that a wallet scans while it is being connected. */
  readonly pairingUri: string | undefined
  readonly address: PaymentAddress | undefined
  /** The buyer has seen the address, perhaps before a reload. */
  readonly addressShown: boolean
  /** The receipt's page, once it has settled. */
  readonly receipt: string | undefined
  /** True if a buyer's token for the account is at hand. */
  readonly identified: boolean
  readonly loads: number
  readonly polls: number
  /** Looks in a row that found the nonce used up and no transfer. */
  readonly missed: number
  /** The account's attempt of another browser. */
  readonly known: KnownAttempt | undefined
  /** `known` is this browser's own, which has seen that it pays nothing: the service has yet to be sure. */
  readonly knownIsLost: boolean
  /** Attempts of other wallets. They warn, and stop nobody. */
  readonly others: ReadonlyArray<KnownAttempt>
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
  loads: 0,
  polls: 0,
  missed: 0,
  known: undefined,
  knownIsLost: false,
  others: []
}

export const finals: ReadonlySet<CheckoutState> = new Set(["settled", "failed", "expired"])

/** States in which no money has been asked for. */
export const beforePayment: ReadonlySet<CheckoutState> = new Set([
  "connect",
  "wrong-network",
  "needs-funds",
  "review"
])

/** Nothing is under way that may move money. */
export const mayPay = (model: Model): boolean => beforePayment.has(model.state) && model.attempt === undefined

export const atomicAmount = ({ payment }: Model): bigint => atomicOf(payment?.amount ?? "0.00")

/** True if the account pays by a signature, at the service's cost. */
export const pays = ({ byTransfer, terms }: Model): "by signature" | "by transfer" =>
  terms?.relayed === true && !byTransfer ? "by signature" : "by transfer"

export const isOnChain = ({ chainId, context }: Model): boolean => chainId === context?.chain.id
/** Calls name their chain. */
export const maySend = (model: Model): boolean => isOnChain(model) || model.byCalls
