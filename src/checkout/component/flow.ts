// The checkout as a pure state machine: a model, what happened, and what is to be
// done next. It knows neither the page nor the network; tests walk it without either.

import type { Attempt } from "./attempt.ts"
import { atomicOf } from "./erc20.ts"
import type { MessageKey } from "./messages/en.ts"
import {
  type CheckoutContext,
  type CheckoutPayment,
  isBecause,
  type KnownAttempt,
  type PaymentAddress,
  type Refusal,
  type SigningTerms,
  type TestBalance
} from "./service.ts"
import type { SignedTerms } from "./signed.ts"
import type { Hex, WalletFailure } from "./wallets.ts"
import { isOnPage } from "./wallets.ts"

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
 * What the wallet is asked for in `awaiting-signature`: a signature that pays
 * (`authorization`), or the buyer's identity and the transfer; or another tab asks (`elsewhere`), or it is not known whether the transfer
 * of an earlier request went out (`unsure`), or the identity is wanted once more (`prove`).
 * In `confirming`: the same wallet pays from another browser (`announced`).
 */
export type Step = "authorization" | "identity" | "transfer" | "elsewhere" | "unsure" | "prove" | "announced"

/** What is under way within a state. */
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
  /** Why the payment failed or was cancelled. */
  readonly reason: MessageKey | undefined
  /** The service's code behind `reason`. */
  readonly code: string | undefined
  readonly context: CheckoutContext | undefined
  readonly payment: CheckoutPayment | undefined
  readonly wallets: ReadonlyArray<WalletChoice>
  readonly walletId: string | undefined
  readonly account: string | undefined
  readonly chainId: number | undefined
  readonly balance: TestBalance | undefined
  readonly attempt: Attempt | undefined
  /** What the account would sign; undefined where the service has not said. */
  readonly terms: SigningTerms | undefined
  /** What was signed and is handed in. */
  readonly signed: SignedTerms | undefined
  /** The buyer prefers a transfer of their own, or a signature cannot pay. */
  readonly byTransfer: boolean
  /** The account is a contract that takes calls on the payment's chain (EIP-5792). */
  readonly byCalls: boolean
  /** The wallet signs for the chain that it is on alone. */
  readonly wantsChain: boolean
  /** What `connect` shows beside the browser's wallets: the address to send to, or a code for a phone. */
  readonly panel: Panel | undefined
  /** What a wallet scans to be connected, while it is being connected. */
  readonly pairingUri: string | undefined
  readonly address: PaymentAddress | undefined
  /** The receipt's page, once it has settled. */
  readonly receipt: string | undefined
  /** Whether a buyer's token for the account is at hand. */
  readonly identified: boolean
  readonly loads: number
  readonly polls: number
  /** Looks in a row that found the nonce used up and no transfer. */
  readonly missed: number
  /** The account's attempt of another browser. */
  readonly known: KnownAttempt | undefined
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
  receipt: undefined,
  identified: false,
  loads: 0,
  polls: 0,
  missed: 0,
  known: undefined,
  others: []
}

/** What the buyer does. */
export type Action =
  | { readonly type: "Retry" }
  | { readonly type: "ChooseWallet"; readonly walletId: string }
  | { readonly type: "ChangeWallet" }
  | { readonly type: "SwitchNetwork" }
  | { readonly type: "GetFunds" }
  | { readonly type: "CheckBalance" }
  | { readonly type: "ContinueAnyway" }
  | { readonly type: "Pay" }
  /** Shows another way to pay; none leads back to the wallets. */
  | { readonly type: "ShowPanel"; readonly panel: Panel | undefined }
  /** Chooses who pays the network fee. */
  | { readonly type: "ChooseWay"; readonly byTransfer: boolean }
  | { readonly type: "SendAgain" }
  | { readonly type: "CheckChain" }
  | { readonly type: "Prove" }
  | { readonly type: "StopWaiting" }
  | { readonly type: "Cancel" }
  | { readonly type: "StartAgain" }

/** What happened outside. Results carry the epoch of their command; the driver drops stale ones. */
export type Happening =
  | {
      readonly type: "Loaded"
      readonly context: CheckoutContext
      readonly payment: CheckoutPayment
      readonly attempt: Attempt | undefined
      readonly signed?: SignedTerms | undefined
      /** Another tab is asking its wallet right now. */
      readonly elsewhere: boolean
    }
  | { readonly type: "LoadFailed"; readonly refusal: Refusal }
  /** The payment waits no longer for its money. */
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
      readonly balance: TestBalance
      readonly terms?: SigningTerms | undefined
      readonly byCalls?: boolean
    }
  | { readonly type: "BalanceFailed" }
  | { readonly type: "Funded"; readonly balance: TestBalance }
  | { readonly type: "FundingFailed"; readonly refusal: Refusal }
  | { readonly type: "FundingDeclined"; readonly failure: WalletFailure }
  | { readonly type: "AccountsChanged"; readonly account: string | undefined; readonly identified: boolean }
  | { readonly type: "ChainChanged"; readonly chainId: number }
  | { readonly type: "Signed"; readonly signed: SignedTerms }
  /** The wallet gave no signature. Nothing can have been sent. */
  | { readonly type: "SignFailed"; readonly failure: WalletFailure; readonly chainId: number | undefined }
  /** The service relays nothing for the account now. */
  | { readonly type: "NotRelayed" }
  | { readonly type: "RelayRefused"; readonly refusal: Refusal }
  | { readonly type: "Asking"; readonly step: "identity" | "transfer" }
  | { readonly type: "Elsewhere" }
  | { readonly type: "LockFreed"; readonly attempt: Attempt | undefined }
  | { readonly type: "AttemptSeen"; readonly attempt: Attempt }
  | { readonly type: "Superseded"; readonly payment: CheckoutPayment }
  /** What the service knows of attempts: `own` of the account in another browser. */
  | {
      readonly type: "AttemptsRead"
      readonly account: string | undefined
      readonly payment: CheckoutPayment
      readonly own: KnownAttempt | undefined
      readonly others: ReadonlyArray<KnownAttempt>
    }
  | { readonly type: "AttemptsUnread" }
  | { readonly type: "AddressRead"; readonly address: PaymentAddress }
  | { readonly type: "AddressUnread" }
  | { readonly type: "ReceiptRead"; readonly url: string }
  /** The service has an attempt of the account open. The wallet was not asked. */
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
  | { readonly type: "ReportRefused"; readonly refusal: Refusal }
  | { readonly type: "Lost" }

export type Message = Action | Happening

export type Command =
  | { readonly run: "load" }
  /** Asks the remembered wallet for its accounts, without a prompt. */
  | { readonly run: "restore" }
  | { readonly run: "connect"; readonly walletId: string }
  | { readonly run: "switchChain" }
  | { readonly run: "readBalance" }
  /** Asks the service who is paying. */
  | { readonly run: "readAttempts" }
  | { readonly run: "fund" }
  | { readonly run: "readAddress" }
  /** Asks the wallet for the signature that pays. */
  | { readonly run: "sign" }
  /** Hands in what was signed. */
  | { readonly run: "relay"; readonly signed: SignedTerms }
  | { readonly run: "forgetSigned" }
  /** `again`: the buyer wants it sent although an earlier request is not accounted for. */
  | { readonly run: "pay"; readonly again: boolean }
  /** Lets go of the lock that a forgotten wallet prompt holds. */
  | { readonly run: "release" }
  /** Waits until no other tab asks its wallet. */
  | { readonly run: "awaitLock" }
  /** Looks on the chain for the attempt's transfer. */
  | { readonly run: "inquire"; readonly attempt: Attempt }
  /** Looks whether the attempt's transaction was replaced. */
  | { readonly run: "follow"; readonly attempt: Attempt }
  | { readonly run: "prove"; readonly attempt: Attempt }
  /** Reports, or reads the payment where there is nothing to report. */
  | { readonly run: "poll" }
  | { readonly run: "save"; readonly attempt: Attempt }
  | { readonly run: "forget"; readonly attempt: Attempt }
  /** Forgets an attempt whose transaction pays nothing, before another one. */
  | { readonly run: "giveUp"; readonly attempt: Attempt }
  | { readonly run: "wait"; readonly millis: number; readonly next: Command }

export type Next = readonly [Model, ReadonlyArray<Command>]

const inquiryMillis = 3_000
/** Milliseconds until the n-th poll: from one second to ten. */
export const pollDelay = (polls: number): number => Math.min(1_000 * 1.4 ** polls, 10_000)
const longestDelay = 60_000

const finals: ReadonlySet<CheckoutState> = new Set(["settled", "failed", "expired"])
/** States in which no money has been asked for. */
export const beforePayment: ReadonlySet<CheckoutState> = new Set([
  "connect",
  "wrong-network",
  "needs-funds",
  "review"
])

/** Nothing is under way that may move money. */
const mayPay = (model: Model): boolean => beforePayment.has(model.state) && model.attempt === undefined

/** Whether the account pays by a signature, at the service's cost. */
export const pays = ({ byTransfer, terms }: Model): "by signature" | "by transfer" =>
  terms?.relayed === true && !byTransfer ? "by signature" : "by transfer"

/** The chain is asked about an attempt, which takes the buyer's wallet. */
const looking = ({ attempt, busy, step }: Model): boolean =>
  attempt?.hash === null && (busy === "checking" || step === "unsure")

const enter = (model: Model, state: CheckoutState, changes: Partial<Model> = {}): Model => ({
  ...model,
  step: undefined,
  busy: undefined,
  notice: undefined,
  reason: undefined,
  code: undefined,
  ...changes,
  state
})

/** As `enter`, dropping what is under way. */
const leave = (model: Model, state: CheckoutState, changes: Partial<Model> = {}): Model =>
  enter(model, state, { epoch: model.epoch + 1, ...changes })

/** The wallet has sent it, and another transaction took its place, or it was mined and pays nothing. */
const paysNothing: ReadonlySet<MessageKey> = new Set(["cancelledReplaced", "cancelledReverted"])

const forgetting = (
  { attempt, signed }: Model,
  run: "forget" | "giveUp" = "forget"
): ReadonlyArray<Command> => [
  ...(attempt === undefined ? [] : [{ run, attempt } as const]),
  ...(signed === undefined ? [] : [{ run: "forgetSigned" } as const])
]

/** The state of a payment that is not pending any more; undefined where it is. */
const decided = (model: Model, payment: CheckoutPayment): Next | undefined => {
  if (payment.status === "settled")
    return [leave(model, "settled", { payment, attempt: undefined, signed: undefined }), forgetting(model)]
  if (payment.status === "failed") {
    // Money may have been sent for it all the same: the buyer is told whom to ask.
    return payment.failureReason === "expired" && model.attempt === undefined && model.signed === undefined
      ? [leave(model, "expired", { payment }), []]
      : [leave(model, "failed", { payment, reason: "failedUnverified", code: "PAYMENT_FAILED" }), []]
  }
  return undefined
}

const checking = (model: Model, attempt: Attempt, changes: Partial<Model> = {}): Next => [
  enter(model, "submitted", { busy: "checking", attempt, ...changes }),
  [{ run: "inquire", attempt }]
]

/** Where a payment that is still pending stands, by what is known of wallet, chain and attempt. */
const proceed = (model: Model, notice?: Notice): Next => {
  const { attempt, account, context } = model
  if (attempt !== undefined && attempt.hash !== null)
    return [enter(model, "submitted", { notice, polls: 0 }), [{ run: "poll" }]]
  const asks: ReadonlyArray<Command> = attempt === undefined ? [{ run: "readAttempts" }] : []
  if (account === undefined) {
    const reconnect: Notice = { key: "noticeReconnect", tone: "info" }
    return [
      enter(model, "connect", { notice: notice ?? (attempt === undefined ? undefined : reconnect) }),
      asks
    ]
  }
  // A signature may do without the chain, which is known once the service has said.
  const needsChain =
    attempt === undefined
      ? (model.byTransfer && !model.byCalls) || model.wantsChain
      : attempt.calls === undefined
  if (needsChain && model.chainId !== context?.chain.id)
    return [enter(model, "wrong-network", { notice }), asks]
  if (attempt !== undefined) return checking(model, attempt, { missed: 0 })
  const state = model.state === "loading" ? "connect" : model.state
  return [
    enter(model, beforePayment.has(state) ? state : "review", {
      notice,
      busy: "balance",
      balance: undefined
    }),
    [{ run: "readBalance" }, ...asks]
  ]
}

const longestWatch = 3_000

/** While the buyer pays elsewhere, by a phone or from an exchange, the page follows the payment. */
const watching = (model: Model): Next =>
  model.state === "connect" && (model.panel !== undefined || !model.wallets.some(isOnPage))
    ? [
        { ...model, polls: model.polls + 1 },
        [after(Math.min(pollDelay(model.polls), longestWatch), { run: "readAttempts" })]
      ]
    : [model, []]

/** Another account may pay in another way. */
const freshWay = { terms: undefined, byTransfer: false, byCalls: false, wantsChain: false } as const

const isOnChain = ({ chainId, context }: Model): boolean => chainId === context?.chain.id
/** Calls name their chain. */
const maySend = (model: Model): boolean => isOnChain(model) || model.byCalls

const judgeBalance = (model: Model, balance: TestBalance, notice?: Notice): Next => {
  const enough = balance.usdcAtomic >= atomicOf(model.payment?.amount ?? "0.00")
  const signs = pays(model) === "by signature"
  const changes = { balance, notice: notice ?? model.notice }
  // What a contract wallet pays its fee with is its own affair.
  if (!enough || !(signs || model.byCalls || balance.gasWei > 0n))
    return [enter(model, "needs-funds", changes), []]
  return [enter(model, signs || maySend(model) ? "review" : "wrong-network", changes), []]
}

const walletNotice: { readonly [F in WalletFailure]: MessageKey } = {
  rejected: "noticeDeclined",
  busy: "noticeWalletBusy",
  unknown_chain: "noticeUnknownChain",
  unauthorized: "noticeUnauthorized",
  unknown_calls: "noticeWalletError",
  unreachable: "noticeWalletUnreachable",
  funds: "noticeNoGas",
  unclear: "noticeWalletError"
}

const warned = (model: Model, key: MessageKey, values?: Readonly<Record<string, string>>): Model => ({
  ...model,
  busy: undefined,
  notice: values === undefined ? { key, tone: "warning" } : { key, tone: "warning", values }
})

const after = (millis: number, next: Command): Command => ({ run: "wait", millis, next })

/** Looks at a payment that the service calls open although no attempt is listed: for a quarter of a minute. */
const unlistedPolls = 6

/** Waits for what the account's other browser does. */
const announced = (model: Model, known: KnownAttempt | undefined): Next => {
  if (model.step !== "announced") {
    return [
      leave(model, "confirming", { step: "announced", known, polls: 0 }),
      [after(pollDelay(0), { run: "readAttempts" })]
    ]
  }
  const polls = model.polls + 1
  return [
    { ...model, known: known ?? model.known, polls },
    [after(pollDelay(polls), { run: "readAttempts" })]
  ]
}

const nextPoll = (model: Model, retryAfter: number | undefined): ReadonlyArray<Command> => [
  after(
    Math.min(Math.max(pollDelay(model.polls), (retryAfter ?? 0) * 1_000), longestDelay),
    model.signed === undefined ? { run: "poll" } : { run: "relay", signed: model.signed }
  )
]

const handedIn = (model: Model): Next => [
  model,
  model.signed === undefined ? [] : [{ run: "relay", signed: model.signed }]
]

/** The signature pays nothing: what is left is a transfer of the buyer's own. */
const byTransfer = (model: Model, key: MessageKey): Next => {
  const next = {
    ...model,
    byTransfer: true,
    signed: undefined,
    state: "review",
    epoch: model.epoch + 1
  } as const
  const [shown, commands] = proceed(next, { key, tone: "warning" })
  return [shown, [...forgetting({ ...model, attempt: undefined }), ...commands]]
}

const relayRefused = (model: Model, refusal: Refusal): Next => {
  const again = (key: MessageKey): Next => {
    const next = { ...model, signed: undefined, state: "review", epoch: model.epoch + 1 } as const
    const [shown, commands] = proceed(next, { key, tone: "warning" })
    return [shown, [{ run: "forgetSigned" }, ...commands]]
  }
  switch (refusal.code) {
    case "RELAY_UNAVAILABLE":
      return byTransfer(model, "noticeRelayDown")
    case "PAYMENT_ATTEMPT_OPEN": {
      const [waiting, commands] = announced({ ...model, signed: undefined }, undefined)
      return [waiting, [{ run: "forgetSigned" }, ...commands]]
    }
    case "PAYMENT_FAILED":
      return [leave(model, "failed", { reason: "failedUnverified", code: refusal.code }), forgetting(model)]
    case "AUTHORIZATION_REFUSED":
      if (isBecause(refusal, "balance")) return again("fundsTitle")
      if (isBecause(refusal, "expired", "not_yet_valid")) return again("noticeSignAgain")
      return byTransfer(model, "noticeCannotSign")
    default:
      if (!refusal.retryable) return byTransfer(model, "noticeCannotSign")
      return [
        {
          ...model,
          polls: model.polls + 1,
          notice: { key: refusal.code === "NETWORK" ? "noticeOffline" : "noticeChainDown", tone: "warning" }
        },
        nextPoll(model, refusal.retryAfter)
      ]
  }
}

const loadRefused = (model: Model, refusal: Refusal): Next => {
  if (refusal.code === "LIVE_MODE_GATED") {
    return [leave(model, "failed", { reason: "gatedText", code: refusal.code }), []]
  }
  if (refusal.code === "INTENT_TOKEN_EXPIRED") return [leave(model, "expired", { code: refusal.code }), []]
  if (!refusal.retryable) {
    const reason = /KEY/.test(refusal.code) ? "failedKey" : "failedInvalid"
    return [leave(model, "failed", { reason, code: refusal.code }), []]
  }
  const loads = model.loads + 1
  return loads < 4
    ? [
        { ...model, loads, notice: { key: "noticeUnreachable", tone: "warning" } },
        [after(Math.max(pollDelay(loads), (refusal.retryAfter ?? 0) * 1_000), { run: "load" })]
      ]
    : [leave(model, "failed", { reason: "failedUnreachable", code: refusal.code, loads: 0 }), []]
}

const reportRefused = (model: Model, refusal: Refusal): Next => {
  const { attempt } = model
  switch (refusal.code) {
    case "INVALID_BUYER_TOKEN":
      return [leave(model, "awaiting-signature", { step: "prove", identified: false }), []]
    case "PAYMENT_REPORT_CONFLICT":
      // Settled by other evidence: reading the payment shows it.
      return [{ ...model, busy: "checking" }, [{ run: "load" }]]
    case "PAYMENT_FAILED":
      return [leave(model, "failed", { reason: "failedUnverified", code: refusal.code }), []]
    case "TEST_SETTLEMENT_MISMATCH":
      break
    default:
      if (!refusal.retryable)
        return [leave(model, "failed", { reason: "failedMismatch", code: refusal.code }), []]
      return [
        {
          ...model,
          polls: model.polls + 1,
          notice: { key: refusal.code === "NETWORK" ? "noticeOffline" : "noticeChainDown", tone: "warning" }
        },
        nextPoll(model, refusal.retryAfter)
      ]
  }
  if (isBecause(refusal, "reverted")) return [leave(model, "cancelled", { reason: "cancelledReverted" }), []]
  if (isBecause(refusal, "already_used") && attempt?.hash != null) {
    const without: Attempt = {
      ...attempt,
      hash: null,
      nonceSeen: false,
      refused: [...attempt.refused, attempt.hash]
    }
    const [next, commands] = checking({ ...model, epoch: model.epoch + 1 }, without, { missed: 0 })
    return [next, [{ run: "save", attempt: without }, ...commands]]
  }
  if (isBecause(refusal, "payer") && refusal.actual !== undefined) {
    return [
      leave(model, "awaiting-signature", {
        step: "prove",
        identified: false,
        notice: { key: "noticeOtherPayer", tone: "warning", values: { account: refusal.actual } }
      }),
      []
    ]
  }
  return [leave(model, "failed", { reason: "failedMismatch", code: refusal.reason ?? refusal.code }), []]
}

const found = (model: Model, hash: Hex): Next => {
  const { attempt } = model
  if (attempt === undefined || attempt.hash === hash) return [model, []]
  const named: Attempt = { ...attempt, hash, nonceSeen: false }
  const replaced: Notice | undefined =
    attempt.hash === null ? undefined : { key: "noticeReplaced", tone: "info" }
  const [next, commands] = proceed({ ...model, epoch: model.epoch + 1, attempt: named, missed: 0 }, replaced)
  return [next, [{ run: "save", attempt: named }, ...commands]]
}

/** The next model and what is to be done, for anything that happens. */
export const transition = (model: Model, message: Message): Next => {
  switch (message.type) {
    case "Loaded": {
      const { context, payment, attempt } = message
      const loaded = { ...model, context, payment, attempt, loads: 0 }
      const done = decided(loaded, payment)
      if (done !== undefined) return done
      if (message.elsewhere && attempt?.hash == null) {
        return [enter(loaded, "awaiting-signature", { step: "elsewhere" }), [{ run: "awaitLock" }]]
      }
      if (message.signed !== undefined && attempt === undefined) {
        const [next, commands] = handedIn(enter(loaded, "submitted", { signed: message.signed, polls: 0 }))
        return [next, [...commands, { run: "restore" }]]
      }
      const [next, commands] = proceed(loaded)
      return [next, [...commands, { run: "restore" }]]
    }
    case "LoadFailed":
      return loadRefused(model, message.refusal)
    case "TimeOver":
      // What was sent from elsewhere may still be found.
      if (!mayPay(model) || model.panel !== undefined) return [model, []]
      return [leave(model, "expired"), []]
    case "Retry":
      return [leave(model, "loading"), [{ run: "load" }]]

    case "WalletsFound":
      return [
        { ...model, wallets: message.wallets },
        // A wallet that announces itself late may be the one of before the reload.
        model.account === undefined && model.busy === undefined && model.context !== undefined
          ? [{ run: "restore" }]
          : []
      ]
    case "ChooseWallet":
      return [
        leave(model, "connect", {
          busy: "connecting",
          walletId: message.walletId,
          pairingUri: undefined
        }),
        [{ run: "connect", walletId: message.walletId }]
      ]
    case "Connected": {
      const { account, chainId, walletId, identified } = message
      const connected = {
        ...model,
        account,
        chainId,
        walletId,
        identified,
        panel: undefined,
        pairingUri: undefined
      }
      // A payment that is under way does not wait for its wallet.
      if (!beforePayment.has(model.state)) return [connected, []]
      return proceed(connected)
    }
    case "NotConnected":
      return [model, []]
    case "PairingOffered":
      return [model.busy === "connecting" ? { ...model, pairingUri: message.uri } : model, []]
    case "ConnectFailed":
      if (model.busy !== "connecting") return [model, []]
      return [warned(model, walletNotice[message.failure]), []]
    case "ChangeWallet":
      return [
        leave(model, "connect", { account: undefined, walletId: undefined, ...freshWay }),
        [{ run: "readAttempts" }]
      ]

    case "SwitchNetwork":
      return [{ ...model, busy: "switching", notice: undefined }, [{ run: "switchChain" }]]
    case "Switched":
      return model.state === "wrong-network"
        ? proceed({ ...model, chainId: message.chainId })
        : [{ ...model, chainId: message.chainId }, []]
    case "SwitchFailed":
      return [warned(model, walletNotice[message.failure]), []]

    case "CheckBalance":
      return [{ ...model, busy: "balance", notice: undefined }, [{ run: "readBalance" }]]
    case "BalanceRead":
      if (!mayPay(model)) return [model, []]
      return judgeBalance(
        { ...model, terms: message.terms, byCalls: message.byCalls === true },
        message.balance
      )
    case "BalanceFailed":
      if (!mayPay(model)) return [model, []]
      return [
        enter(model, maySend(model) ? "review" : "wrong-network", {
          notice: { key: "noticeNoBalance", tone: "warning" }
        }),
        []
      ]
    case "ContinueAnyway":
      if (!mayPay(model)) return [model, []]
      return [enter(model, maySend(model) ? "review" : "wrong-network"), []]
    case "GetFunds":
      return [{ ...model, busy: "funding", notice: undefined }, [{ run: "fund" }]]
    case "Funded":
      if (!mayPay(model)) return [model, []]
      return judgeBalance({ ...model, identified: true }, message.balance, {
        key: "noticeFunded",
        tone: "info"
      })
    case "FundingFailed": {
      const { code, retryAfter } = message.refusal
      return code === "FAUCET_LIMIT_REACHED"
        ? [warned(model, "noticeFaucetLimit", { minutes: String(Math.ceil((retryAfter ?? 60) / 60)) }), []]
        : [warned(model, code === "INVALID_BUYER_TOKEN" ? "noticeOtherSigner" : "noticeFaucetDown"), []]
    }
    case "FundingDeclined":
      return [warned(model, walletNotice[message.failure]), []]

    case "AccountsChanged": {
      const { account, identified } = message
      if (account === model.account) return [model, []]
      const changed = { ...model, account, identified, ...freshWay }
      if (model.step === "announced") {
        return proceed({ ...changed, state: "review", epoch: model.epoch + 1 })
      }
      const interrupted = model.state === "awaiting-signature" && model.step === "identity"
      if (looking(model)) return proceed({ ...changed, epoch: model.epoch + 1 })
      if (!interrupted && !beforePayment.has(model.state)) return [changed, []]
      const key = account === undefined ? "noticeDisconnected" : "noticeAccountChanged"
      const [next, commands] = proceed(
        { ...changed, epoch: model.epoch + 1, state: interrupted ? "review" : model.state },
        { key, tone: "warning" }
      )
      return [next, [{ run: "release" }, ...commands]]
    }
    case "ChainChanged":
      if (message.chainId === model.chainId) return [model, []]
      if (looking(model)) return proceed({ ...model, chainId: message.chainId, epoch: model.epoch + 1 })
      if (!beforePayment.has(model.state) || model.account === undefined)
        return [{ ...model, chainId: message.chainId }, []]
      return proceed({ ...model, chainId: message.chainId, epoch: model.epoch + 1 })

    case "Pay":
      if (!mayPay(model)) return [model, []]
      if (pays(model) === "by signature")
        return [leave(model, "awaiting-signature", { step: "authorization" }), [{ run: "sign" }]]
      if (!maySend(model)) return [enter(model, "wrong-network"), []]
      return [
        leave(model, "awaiting-signature", { step: model.identified ? "transfer" : "identity" }),
        [{ run: "pay", again: false }]
      ]
    case "ShowPanel": {
      if (!beforePayment.has(model.state) || model.attempt !== undefined) return [model, []]
      const { panel } = message
      return [
        leave(model, "connect", { panel, account: undefined, walletId: undefined, polls: 0, ...freshWay }),
        [{ run: "readAttempts" }, ...(panel === "address" ? [{ run: "readAddress" } as const] : [])]
      ]
    }
    case "AddressRead":
      return [{ ...model, address: message.address }, []]
    case "ReceiptRead":
      return [{ ...model, receipt: message.url }, []]
    case "AddressUnread":
      return [warned(model, "noticeUnreachable"), [after(pollDelay(2), { run: "readAddress" })]]
    case "ChooseWay":
      if (!mayPay(model)) return [model, []]
      return proceed({ ...model, byTransfer: message.byTransfer, epoch: model.epoch + 1, state: "review" })
    case "Signed":
      return handedIn(leave(model, "submitted", { signed: message.signed, polls: 0 }))
    case "SignFailed": {
      const { chainId = model.chainId, failure } = message
      if (failure === "rejected" || failure === "busy" || failure === "unreachable") {
        const notice: Notice = { key: walletNotice[failure], tone: "warning" }
        return [leave(model, "review", { notice }), []]
      }
      const known = { ...model, chainId }
      if (!isOnChain(known)) return [leave(known, "wrong-network", { wantsChain: true }), []]
      return byTransfer(known, "noticeCannotSign")
    }
    case "NotRelayed":
      return byTransfer(model, "noticeRelayDown")
    case "RelayRefused":
      return relayRefused(model, message.refusal)
    case "SendAgain":
      return [
        leave(model, "awaiting-signature", { step: model.identified ? "transfer" : "identity" }),
        [{ run: "release" }, { run: "pay", again: true }]
      ]
    case "Asking":
      return [{ ...model, step: message.step, identified: message.step === "transfer" }, []]
    case "StopWaiting": {
      if (model.state === "connect") return [leave(model, "connect"), []]
      if (model.busy === "switching" || model.busy === "funding")
        return [{ ...model, epoch: model.epoch + 1, busy: undefined }, []]
      if (model.state !== "awaiting-signature") return [model, []]
      // The driver looks whether the wallet had been asked for money already.
      return [leave(model, "review", { busy: "checking" }), [{ run: "release" }, { run: "load" }]]
    }
    case "Elsewhere":
      return [leave(model, "awaiting-signature", { step: "elsewhere" }), [{ run: "awaitLock" }]]
    case "LockFreed":
      if (model.step !== "elsewhere") return [model, []]
      // The other tab may have settled it by now: read the payment anew.
      return [leave(model, "submitted", { busy: "checking" }), [{ run: "load" }]]
    case "AttemptSeen": {
      const { attempt } = message
      if (finals.has(model.state) || model.payment === undefined) return [model, []]
      if (attempt.hash !== null) {
        return attempt.hash === model.attempt?.hash
          ? [model, []]
          : proceed({ ...model, attempt, epoch: model.epoch + 1 })
      }
      return model.state === "submitted" || model.state === "confirming"
        ? [model, []]
        : [
            leave(model, "awaiting-signature", { step: "elsewhere", attempt }),
            [{ run: "release" }, { run: "awaitLock" }]
          ]
    }
    case "Superseded": {
      const done = decided(model, message.payment)
      return done ?? proceed({ ...model, payment: message.payment })
    }
    case "AttemptsRead": {
      if (finals.has(model.state) || model.attempt !== undefined || model.signed !== undefined)
        return [model, []]
      const { account, own, others, payment } = message
      const done = decided(model, payment)
      if (done !== undefined) return done
      const read = { ...model, payment, others }
      if (account !== model.account) return [read, []]
      if (account === undefined) return watching(read)
      const waits = model.step === "announced"
      if (own !== undefined) {
        return waits || beforePayment.has(model.state) ? announced(read, own) : [read, []]
      }
      if (!waits) return [read, []]
      // A signature on its way is in no list: the payment itself says when it is over.
      if (model.known === undefined && model.polls < unlistedPolls) return announced(read, undefined)
      return proceed({ ...read, state: "review", epoch: model.epoch + 1 })
    }
    case "AttemptsUnread":
      if (model.step !== "announced") return watching(model)
      return announced({ ...model, notice: { key: "noticeUnreachable", tone: "warning" } }, undefined)
    case "AttemptOpen":
      return announced({ ...model, attempt: undefined }, undefined)
    case "NotSent": {
      // An older request's refusal does not undo what a newer one sent.
      if (finals.has(model.state) || model.attempt?.hash != null) return [model, []]
      const next = {
        ...model,
        attempt: undefined,
        chainId: message.chainId ?? model.chainId,
        // A wallet that refuses calls is asked for a transaction.
        byCalls: model.byCalls && message.notice !== "noticeUnauthorized"
      }
      const notice: Notice = { key: message.notice, tone: "warning" }
      if (next.account !== undefined && maySend(next)) return [leave(next, "review", { notice }), []]
      return proceed({ ...next, state: "review", epoch: model.epoch + 1 }, notice)
    }
    case "Unclear":
      return checking({ ...model, epoch: model.epoch + 1 }, message.attempt, { missed: 0 })
    case "Sent":
      if (finals.has(model.state)) return [model, []]
      return proceed({ ...model, attempt: message.attempt, identified: true, epoch: model.epoch + 1 })

    case "CheckChain":
      return model.attempt === undefined
        ? [model, []]
        : checking({ ...model, epoch: model.epoch + 1 }, model.attempt)
    case "TransferFound":
      return found(model, message.hash)
    case "NoTransfer": {
      const { attempt } = model
      if (attempt === undefined) return [model, []]
      const again = after(inquiryMillis, { run: "inquire", attempt })
      if (message.mined) {
        const missed = model.missed + 1
        return missed < 2
          ? [{ ...model, missed }, [again]]
          : [leave(model, "cancelled", { reason: "cancelledNotSent", missed: 0 }), []]
      }
      if (message.pending) {
        const next = model.state === "submitted" && model.busy === "checking" ? model : undefined
        return [next ?? enter(model, "submitted", { busy: "checking" }), [again]]
      }
      return model.step === "unsure" && model.notice === undefined
        ? [model, [again]]
        : [enter(model, "awaiting-signature", { step: "unsure" }), [again]]
    }
    case "ChainSilent": {
      const { attempt } = model
      if (attempt === undefined) return [model, []]
      const silent: Notice = { key: "noticeChainDown", tone: "warning" }
      return [{ ...model, notice: silent }, [after(inquiryMillis, { run: "inquire", attempt })]]
    }

    case "Reported":
      return decided(model, message.payment) ?? [model, nextPoll(model, undefined)]
    case "StillPending": {
      const { payment } = message
      const kept = model.notice?.key === "noticeReplaced" ? model.notice : undefined
      const next = enter(model, "confirming", { payment, notice: kept, polls: model.polls + 1 })
      const { attempt } = model
      return [
        next,
        [
          ...(attempt?.hash == null ? [] : [{ run: "follow", attempt } as const]),
          ...nextPoll(model, message.retryAfter)
        ]
      ]
    }
    case "ReportRefused":
      return reportRefused(model, message.refusal)
    case "Lost": {
      const missed = model.missed + 1
      return missed < 2
        ? [{ ...model, missed }, []]
        : [leave(model, "cancelled", { reason: "cancelledReplaced", missed: 0 }), []]
    }

    case "Prove":
      return model.attempt === undefined
        ? [model, []]
        : [{ ...model, busy: "signing", notice: undefined }, [{ run: "prove", attempt: model.attempt }]]
    case "Proven":
      return proceed({ ...model, attempt: message.attempt, identified: true, epoch: model.epoch + 1 })
    case "ProveFailed":
      return [warned(model, walletNotice[message.failure]), []]

    case "Cancel":
      return [leave(model, "cancelled", { reason: "cancelledByBuyer" }), []]
    case "StartAgain": {
      const isLost = model.reason !== undefined && paysNothing.has(model.reason)
      const [next, commands] = proceed({
        ...model,
        attempt: undefined,
        state: "connect",
        epoch: model.epoch + 1
      })
      return [next, [...forgetting(model, isLost ? "giveUp" : "forget"), ...commands]]
    }
  }
}
