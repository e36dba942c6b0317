// The surroundings of the state machine in a walk: wallet, storage, service and chain, each of which answers a command
// with any possible answer.
import type { Attempt } from "../../../src/checkout/component/attempt.ts"
import type { Command } from "../../../src/checkout/component/Command.ts"
import type { Message } from "../../../src/checkout/component/Message.ts"
import type { CheckoutPayment, SigningTerms } from "../../../src/checkout/component/service.ts"
import type { SignedTerms } from "../../../src/checkout/component/signed.ts"
import type { Hex } from "../../../src/checkout/component/wallets.ts"
import { account, asked, context, payment, refusal, rich } from "./tenDollars.ts"

export type Chance = () => number

/** A running command, with the epoch and the account at its start. */
export interface UnderWay {
  readonly command: Command
  readonly epoch: number
  readonly account: string | undefined
  /** The progress of the wallet's requests for a transfer. */
  readonly asked: "nothing" | "identity" | "transfer"
}

const otherAccount = `0x${"b2".repeat(20)}`
const settled: CheckoutPayment = { ...payment, status: "settled" }
const expired: CheckoutPayment = { ...payment, status: "failed", failureReason: "expired" }
const broke = { usdcAtomic: 0n, gasWei: 1n }
const terms = (relayed: boolean): SigningTerms => ({
  relayed,
  validAfter: "0",
  validBefore: "9",
  receiver: account,
  atomic: 10_000_000n,
  token: { address: context.token.address, chainId: context.chain.id },
  json: "{}",
  readAt: 0
})
const network = refusal("NETWORK", { retryable: true })

export const outsideWorld = (chance: Chance) => {
  let made = 0
  let stored: Attempt | undefined
  let signed: SignedTerms | undefined
  let walletAccount: string | undefined = account
  let walletChain = context.chain.id

  const often = (part: number) => chance() < part
  const oneOf = <A>(...all: readonly [A, ...ReadonlyArray<A>]): A =>
    all[Math.floor(chance() * all.length)] ?? all[0]
  const hash = (): Hex => `0x${String(made++).padStart(64, "0")}`
  const attempt = (of: Partial<Attempt> = {}): Attempt => ({ ...asked, id: String(made++), ...of })
  const paymentNow = () => (often(0.05) ? oneOf(settled, expired) : payment)
  const sent = (one: Attempt): Message =>
    one.hash === null ? { type: "Unclear", attempt: one } : { type: "Sent", attempt: one }
  const connection = (): Message => ({
    type: "Connected",
    walletId: "w",
    account: walletAccount ?? account,
    chainId: walletChain,
    identified: false
  })

  const signing = (): Message => {
    if (stored !== undefined) return sent(stored)
    if (often(0.5)) {
      signed = { payer: account, validAfter: "0", validBefore: "9", signature: "0x" }
      return { type: "Signed", signed }
    }
    return oneOf<Message>(
      { type: "Elsewhere" },
      { type: "Superseded", payment: paymentNow() },
      { type: "NotRelayed" },
      { type: "NotSent", notice: "noticeUnreachable", chainId: undefined },
      {
        type: "SignFailed",
        failure: oneOf("rejected", "busy", "unclear"),
        chainId: oneOf(undefined, context.chain.id, 1)
      }
    )
  }

  const transferring = (way: UnderWay, again: boolean): Message | undefined => {
    switch (way.asked) {
      case "nothing":
        if (way.account === undefined) return undefined
        if (often(0.05)) return { type: "Elsewhere" }
        if (stored !== undefined && (!again || stored.hash !== null)) return sent(stored)
        return often(0.05)
          ? { type: "Superseded", payment: paymentNow() }
          : { type: "Asking", step: "identity" }
      case "identity":
        if (often(0.2)) {
          const notice = oneOf("noticeDeclined", "noticeWrongNetwork", "fundsTitle", "noticeUnauthorized")
          return { type: "NotSent", notice, chainId: oneOf(undefined, 1) }
        }
        return often(0.15) ? { type: "AttemptOpen" } : { type: "Asking", step: "transfer" }
      case "transfer":
        if (often(0.2)) return { type: "NotSent", notice: "noticeDeclined", chainId: undefined }
        stored = attempt(often(0.3) ? {} : { hash: hash() })
        return sent(stored)
    }
  }

  return {
    /** The contents of the browser's storage. */
    keep: (command: Command) => {
      if (command.run === "save") stored = command.attempt
      if ((command.run === "forget" || command.run === "giveUp") && stored?.id === command.attempt.id)
        stored = undefined
      if (command.run === "forgetSigned") signed = undefined
    },
    /** None if the command ends without an answer. `known` is the chain that the page believes the wallet to be on. */
    answer: (way: UnderWay, known: number | undefined): Message | undefined => {
      const { command } = way
      switch (command.run) {
        case "load":
          return often(0.1)
            ? { type: "LoadFailed", refusal: network }
            : {
                type: "Loaded",
                context,
                payment: paymentNow(),
                attempt: stored,
                signed,
                elsewhere: often(0.1)
              }
        case "restore":
          return often(0.5) ? { type: "NotConnected" } : connection()
        case "connect":
          return often(0.2)
            ? { type: "ConnectFailed", failure: oneOf("rejected", "unclear", "unreachable") }
            : connection()
        case "switchChain":
          if (often(0.2)) return { type: "SwitchFailed", failure: "rejected" }
          walletChain = context.chain.id
          return { type: "Switched", chainId: walletChain }
        case "readBalance":
          if (way.account === undefined) return undefined
          return often(0.1)
            ? { type: "BalanceFailed" }
            : {
                type: "BalanceRead",
                balance: oneOf(rich, broke, { ...rich, gasWei: 0n }),
                terms: oneOf(undefined, terms(true), terms(false)),
                byCalls: often(0.1)
              }
        case "readAttempts":
          return often(0.15)
            ? { type: "AttemptsUnread" }
            : {
                type: "AttemptsRead",
                account: way.account,
                payment: paymentNow(),
                own: often(0.3) ? { payer: "0xa1a1…a1a1", since: "2026-11-21T12:04:00.000Z" } : undefined,
                others: [],
                confirming: often(0.2) ? `0x${"ab".repeat(32)}` : undefined
              }
        case "fund":
          return oneOf<Message>(
            { type: "Funded", balance: rich },
            { type: "FundingFailed", refusal: refusal("FAUCET_LIMIT_REACHED") },
            { type: "FundingDeclined", failure: "rejected" }
          )
        case "readAddress":
          return often(0.2)
            ? { type: "AddressUnread" }
            : { type: "AddressRead", address: { address: account, uri: "ethereum:" } }
        case "sign":
          return signing()
        case "relay":
          return oneOf<Message>(
            { type: "StillPending", payment: paymentNow(), retryAfter: undefined },
            { type: "Reported", payment: settled },
            {
              type: "RelayRefused",
              refusal: oneOf(
                refusal("RELAY_UNAVAILABLE"),
                refusal("PAYMENT_ATTEMPT_OPEN"),
                refusal("PAYMENT_FAILED"),
                refusal("AUTHORIZATION_REFUSED", {
                  reason: oneOf("already_used", "balance", "expired", "signature")
                }),
                network,
                refusal("INVALID_API_KEY")
              )
            }
          )
        case "pay":
          return transferring(way, command.again)
        case "awaitLock":
          return { type: "LockFreed", attempt: stored }
        case "inquire":
          return oneOf<Message>(
            { type: "TransferFound", hash: hash() },
            { type: "ChainSilent" },
            // A wallet that has changed its chain without an event.
            known === 1 ? { type: "ChainSilent" } : { type: "ChainChanged", chainId: 1 },
            { type: "NoTransfer", mined: often(0.5), pending: often(0.5) }
          )
        case "follow":
          return oneOf<Message | undefined>(
            undefined,
            undefined,
            { type: "TransferFound", hash: hash() },
            { type: "Lost" }
          )
        case "prove":
          return often(0.5)
            ? { type: "Proven", attempt: command.attempt }
            : { type: "ProveFailed", failure: "rejected" }
        case "poll":
          return oneOf<Message>(
            { type: "StillPending", payment, retryAfter: undefined },
            { type: "Reported", payment: settled },
            {
              type: "ReportRefused",
              refusal: oneOf(
                refusal("INVALID_BUYER_TOKEN"),
                refusal("TEST_SETTLEMENT_MISMATCH", {
                  reason: oneOf("reverted", "already_used", "payer", "amount"),
                  actual: otherAccount
                }),
                refusal("PAYMENT_REPORT_CONFLICT"),
                network,
                refusal("PAYMENT_FAILED")
              )
            }
          )
        default:
          return undefined
      }
    },
    /** An event without a command: at a connected wallet, or in another tab. */
    happening: (isConnected: boolean): Message => {
      if (isConnected && often(0.6)) {
        walletAccount = oneOf(account, account, otherAccount, undefined)
        walletChain = oneOf(context.chain.id, context.chain.id, 1)
        return oneOf<Message>(
          { type: "AccountsChanged", account: walletAccount, identified: false },
          { type: "ChainChanged", chainId: walletChain }
        )
      }
      if (stored === undefined && often(0.4)) {
        stored = attempt(often(0.5) ? {} : { hash: hash() })
        return { type: "AttemptSeen", attempt: stored }
      }
      return { type: "WalletsFound", wallets: [{ id: "w", rdns: "", name: "Wallet", icon: "" }] }
    }
  }
}
