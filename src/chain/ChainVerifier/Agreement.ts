// The nodes' majority about a transaction, and the verdicts that follow. The RPC verifier and the in-memory verifier
// share this.
import type { Env } from "../../domain/Chain.ts"
import { BlockStatus, type Expectation, type SettledTransfer, Verification } from "../Verification.ts"
import { type FinalityRule, judgeBlock } from "./judgeBlock.ts"
import { judgeTransfer, type RequiredFinality, type TransactionFacts } from "./judgeTransfer.ts"

export type Agreement =
  /** A majority shows it in a block. */
  | { readonly _tag: "Included"; readonly facts: TransactionFacts }
  /** A majority shows it in no block up to `head`. */
  | { readonly _tag: "Absent"; readonly head: bigint }
  /** Some nodes see it and some do not yet: there is no majority for either. */
  | { readonly _tag: "Spreading" }
  | { readonly _tag: "Undecided"; readonly reason: "disagreement" | "rpc_unavailable" }

export const verificationOf = (
  agreement: Agreement,
  expectation: Expectation,
  required: RequiredFinality
): Verification => {
  switch (agreement._tag) {
    case "Included":
      return judgeTransfer(agreement.facts, expectation, required)
    case "Undecided":
      return Verification.Pending({ reason: agreement.reason })
    case "Spreading":
      return Verification.Pending({ reason: "spreading" })
    case "Absent":
      return Verification.Pending({ reason: "not_found" })
  }
}

/** Dropped only if nodes that have passed the block's height do not have the transaction. */
export const statusOf = (
  env: Env,
  agreement: Agreement,
  settled: SettledTransfer,
  finalityRule: FinalityRule
): BlockStatus => {
  switch (agreement._tag) {
    case "Included":
      return judgeBlock(env, settled, agreement.facts, finalityRule)
    case "Absent":
      return agreement.head >= settled.blockNumber
        ? BlockStatus.Dropped({ reason: "not_included" })
        : BlockStatus.Unknown({ reason: "lagging" })
    case "Spreading":
      return BlockStatus.Unknown({ reason: "lagging" })
    case "Undecided":
      return BlockStatus.Unknown({ reason: agreement.reason })
  }
}
