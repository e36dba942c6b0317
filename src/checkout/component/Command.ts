// Commands of the checkout's state machine, carried out by its driver.
import type { Attempt } from "./attempt.ts"
import type { Model } from "./Model.ts"
import type { SignedTerms } from "./signed.ts"

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

/** The result of a message: the new model and the commands to run. */
export type Next = readonly [Model, ReadonlyArray<Command>]
