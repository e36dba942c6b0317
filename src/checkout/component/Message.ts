// Messages to the checkout's state machine: actions of the buyer, and news from the wallet, the service and the chain.
import type { Attempt } from "./attempt.ts"
import type { CheckoutContext } from "./CheckoutContext.ts"
import type { Panel, WalletChoice } from "./Model.ts"
import type {
  Balance,
  CheckoutPayment,
  OtherAttempt,
  PaymentAddress,
  ServiceRefusal,
  SigningTerms
} from "./service.ts"
import type { SignedTerms } from "./signed.ts"
import type { MessageKey } from "./translate.ts"
import type { Hex, WalletFailure } from "./wallets.ts"

/** Actions of the buyer. */
export type Action =
  | { readonly type: "Retry" }
  | { readonly type: "ChooseWallet"; readonly walletId: string }
  | { readonly type: "ChangeWallet" }
  | { readonly type: "SwitchNetwork" }
  | { readonly type: "GetFunds" }
  | { readonly type: "CheckBalance" }
  | { readonly type: "ContinueAnyway" }
  | { readonly type: "Pay" }
  /** Shows another way to pay; undefined leads back to the wallets. */
  | { readonly type: "ShowPanel"; readonly panel: Panel | undefined }
  /** Chooses who pays the network fee. */
  | { readonly type: "ChooseWay"; readonly byTransfer: boolean }
  | { readonly type: "SendAgain" }
  | { readonly type: "CheckChain" }
  | { readonly type: "Prove" }
  | { readonly type: "StopWaiting" }
  | { readonly type: "Cancel" }
  | { readonly type: "StartAgain" }

/** External events. Results carry the epoch of their command; the driver drops stale results. */
export type ExternalEvent =
  | {
      readonly type: "Loaded"
      readonly context: CheckoutContext
      readonly payment: CheckoutPayment
      readonly attempt: Attempt | undefined
      readonly signed?: SignedTerms | undefined
      /** True if another tab is prompting its wallet right now. */
      readonly elsewhere: boolean
      /** True if the buyer has seen the address in this browser. */
      readonly addressShown?: boolean
    }
  | {
      readonly type: "LoadFailed"
      readonly refusal: ServiceRefusal
      /** True if this browser requested money for the payment, or showed where to send it. */
      readonly onRecord?: boolean
    }
  /** The shop's current requirements. */
  | { readonly type: "ContextRead"; readonly context: CheckoutContext }
  /** The payment no longer waits for its money. */
  | { readonly type: "TimeOver" }
  | { readonly type: "WalletsFound"; readonly wallets: ReadonlyArray<WalletChoice> }
  | {
      readonly type: "Connected"
      readonly walletId: string
      readonly account: string
      readonly chainId: number
      readonly identified: boolean
    }
  | { readonly type: "NotConnected" }
  | { readonly type: "PairingOffered"; readonly uri: string }
  | { readonly type: "ConnectFailed"; readonly failure: WalletFailure }
  | { readonly type: "Switched"; readonly chainId: number }
  | { readonly type: "SwitchFailed"; readonly failure: WalletFailure }
  | {
      readonly type: "BalanceRead"
      /** Undefined if it is unknown. */
      readonly balance: Balance | undefined
      readonly terms?: SigningTerms | undefined
      readonly byCalls?: boolean
    }
  | { readonly type: "BalanceFailed" }
  | { readonly type: "Funded"; readonly balance: Balance }
  | { readonly type: "FundingFailed"; readonly refusal: ServiceRefusal }
  | { readonly type: "FundingDeclined"; readonly failure: WalletFailure }
  | { readonly type: "AccountsChanged"; readonly account: string | undefined; readonly identified: boolean }
  | { readonly type: "ChainChanged"; readonly chainId: number }
  | { readonly type: "Signed"; readonly signed: SignedTerms }
  /** The wallet returned no signature. Nothing can have been sent. */
  | { readonly type: "SignFailed"; readonly failure: WalletFailure; readonly chainId: number | undefined }
  /** The service currently relays nothing for the account. */
  | { readonly type: "NotRelayed" }
  | { readonly type: "RelayRefused"; readonly refusal: ServiceRefusal }
  | { readonly type: "Asking"; readonly step: "identity" | "transfer" }
  | { readonly type: "Elsewhere" }
  | { readonly type: "LockFreed"; readonly attempt: Attempt | undefined }
  | { readonly type: "AttemptSeen"; readonly attempt: Attempt }
  | { readonly type: "Superseded"; readonly payment: CheckoutPayment }
  /** Attempts known to the service: `own` is the same account in another browser. */
  | {
      readonly type: "AttemptsRead"
      readonly account: string | undefined
      readonly payment: CheckoutPayment
      readonly own: OtherAttempt | undefined
      /** True if `own` is this browser's attempt, which pays nothing according to its wallet. */
      readonly ownIsLost?: boolean
      readonly others: ReadonlyArray<OtherAttempt>
      /** The transaction that pays the payment, wherever it was sent from, until the chain confirms it. */
      readonly confirming?: string | undefined
    }
  | { readonly type: "AttemptsUnread" }
  | { readonly type: "AddressRead"; readonly address: PaymentAddress }
  | { readonly type: "AddressUnread"; readonly notice?: MessageKey }
  | { readonly type: "ReceiptRead"; readonly url: string }
  /** The service has an open attempt of the account. The wallet was not prompted. */
  | { readonly type: "AttemptOpen" }
  /** Certainly nothing was sent. */
  | { readonly type: "NotSent"; readonly notice: MessageKey; readonly chainId: number | undefined }
  /** The wallet gave no hash and no clear refusal. */
  | { readonly type: "Unclear"; readonly attempt: Attempt }
  | { readonly type: "Sent"; readonly attempt: Attempt }
  | { readonly type: "Proven"; readonly attempt: Attempt }
  | { readonly type: "ProveFailed"; readonly failure: WalletFailure }
  | { readonly type: "TransferFound"; readonly hash: Hex }
  | { readonly type: "NoTransfer"; readonly mined: boolean; readonly pending: boolean }
  | { readonly type: "ChainSilent" }
  | { readonly type: "Reported"; readonly payment: CheckoutPayment }
  | {
      readonly type: "StillPending"
      readonly payment: CheckoutPayment
      readonly retryAfter: number | undefined
    }
  | { readonly type: "ReportRefused"; readonly refusal: ServiceRefusal }
  | { readonly type: "Lost" }

export type Message = Action | ExternalEvent

/** Dispatches a result, which is dropped if the buyer or the wallet has changed course since. */
export type Dispatch = (message: Message) => void

export type MessageOf<T extends Message["type"]> = Extract<Message, { readonly type: T }>
