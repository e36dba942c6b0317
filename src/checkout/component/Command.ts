// Commands of the checkout's state machine. Its driver executes them.
import type { Attempt } from "./attempt.ts"
import type { Model } from "./Model.ts"
import type { SignedTerms } from "./signed.ts"

export type Command =
  | { readonly run: "load" }
  /** Reads the remembered wallet's accounts, without a prompt. */
  | { readonly run: "restore" }
  | { readonly run: "connect"; readonly walletId: string }
  | { readonly run: "switchChain" }
  | { readonly run: "readBalance" }
  /** Reads who is paying. */
  | { readonly run: "readAttempts" }
  | { readonly run: "fund" }
  | { readonly run: "readAddress" }
  /** Requests the signature that pays from the wallet. */
  | { readonly run: "sign" }
  /** Submits the signature. */
  | { readonly run: "relay"; readonly signed: SignedTerms }
  | { readonly run: "forgetSigned" }
  /** `again`: the buyer wants to send although an earlier request is unresolved. */
  | { readonly run: "pay"; readonly again: boolean }
  /** Releases the lock of a forgotten wallet prompt. */
  | { readonly run: "release" }
  /** Waits until no other tab prompts its wallet. */
  | { readonly run: "awaitLock" }
  /** Looks on the chain for the attempt's transfer. */
  | { readonly run: "inquire"; readonly attempt: Attempt }
  /** Checks whether the attempt's transaction was replaced. */
  | { readonly run: "follow"; readonly attempt: Attempt }
  | { readonly run: "prove"; readonly attempt: Attempt }
  /** Reports, or reads the payment if there is nothing to report. */
  | { readonly run: "poll" }
  | { readonly run: "save"; readonly attempt: Attempt }
  | { readonly run: "forget"; readonly attempt: Attempt }
  /** Forgets an attempt whose transaction pays nothing, before another attempt. */
  | { readonly run: "giveUp"; readonly attempt: Attempt }
  | { readonly run: "wait"; readonly millis: number; readonly next: Command }

/** The result of a message: the new model and the commands to run. */
export type Next = readonly [Model, ReadonlyArray<Command>]
